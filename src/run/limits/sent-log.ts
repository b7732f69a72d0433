import type { Limits, Rate } from '../../pipeline/pipeline.ts';
import type { Route } from '../events.ts';
import type { Sent } from './even-moments.ts';

/** Requests of this part of a window are counted together. */
const parts = 64;
const routes = ['submit', 'text', 'poll', 'download'] as const satisfies readonly Route[];

/**
 * Counts the requests that left lately on the routes that have a rate, so that a run that follows at once keeps within it. The counts
 * are part of the commit that holds the intents.
 */
export class SentLog {
  readonly #rates: readonly (readonly [Route, Rate])[];
  readonly #sent: ReadonlyMap<Route, { until: number; count: number }[]>;

  /** @param kept of earlier runs, which a restart must not forget */
  constructor(limits: Limits, kept: Readonly<Partial<Record<Route, readonly Sent[]>>>) {
    this.#rates = routes.flatMap((route) => {
      const rate = limits[route];
      return rate === undefined ? [] : [[route, rate] as const];
    });
    this.#sent = new Map(
      this.#rates.map(([route]) => [route, (kept[route] ?? []).map((sent) => ({ ...sent }))]),
    );
  }

  note(route: Route, now: number): void {
    const rate = this.#rates.find(([name]) => name === route)?.[1];
    const sent = this.#sent.get(route);
    if (rate === undefined || sent === undefined) return;
    const part = rate.perMs / parts;
    const until = Math.ceil((now + rate.perMs) / part) * part;
    const last = sent.at(-1);
    if (last !== undefined && last.until >= until) last.count += 1;
    else sent.push({ until, count: 1 });
    while (sent[0] !== undefined && sent[0].until <= now) sent.shift();
  }

  /** The counts as a text; undefined: no route has a rate. */
  get text(): string | undefined {
    if (this.#rates.length === 0) return undefined;
    return JSON.stringify(
      Object.fromEntries(
        this.#rates.map(([route]) => [
          route,
          (this.#sent.get(route) ?? []).map(({ until, count }) => [Math.ceil(until), count]),
        ]),
      ),
    );
  }
}

/**
 * Reads what an earlier run kept. The text comes from a file that anybody may have changed: what is not as it is written counts for
 * nothing.
 *
 * @param now moments further ahead than the window of the route are none
 */
export function readSent(
  text: string | undefined,
  limits: Limits,
  now: number,
): Partial<Record<Route, readonly Sent[]>> {
  const content = parsed(text);
  const found: Partial<Record<Route, readonly Sent[]>> = {};
  for (const route of routes) {
    const rate = limits[route];
    const entries = content?.[route];
    if (rate === undefined || !Array.isArray(entries)) continue;
    const latest = now + rate.perMs * (1 + 1 / parts) + 1;
    found[route] = entries.slice(-2 * parts).flatMap((entry: unknown) => {
      if (!Array.isArray(entry)) return [];
      const [until, count] = entry as readonly unknown[];
      if (!Number.isFinite(until) || !Number.isSafeInteger(count)) return [];
      const sent = { until: Math.min(until as number, latest), count: count as number };
      return sent.until > now && sent.count > 0 ? [sent] : [];
    });
  }
  return found;
}

function parsed(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
