import type { Limits } from '../../pipeline/pipeline.ts';
import type { Route } from '../events.ts';
import type { Sent } from './even-send-times.ts';

/** Requests of this part of a window are counted together. */
const parts = 64;
const routes = ['submit', 'text', 'poll', 'download'] as const satisfies readonly Route[];

/** No request leaves later than this after it was decided, ms, but from a machine that slept. */
const latestMs = 600_000;

/** What left on one route within the window. */
interface RouteLog {
  readonly perMs: number;
  readonly left: { until: number; count: number }[];
  /** Requests that were decided and are not known to have left. */
  pending: number;
  /** When the last one was decided, Unix ms. */
  decidedAt: number;
}

/**
 * Counts the requests that left lately on the routes that have a rate, so that a run that follows at once keeps within it. The counts
 * are part of the commit that holds the intents, before their requests leave: those that are pending then may leave until the process
 * ends, and the run that follows counts them as leaving when it begins.
 */
export class SentLog {
  readonly #routes: ReadonlyMap<Route, RouteLog>;
  #countsLeaving = false;

  /** @param kept of earlier runs, which a restart must not forget */
  constructor(limits: Limits, kept: Readonly<Partial<Record<Route, readonly Sent[]>>>) {
    this.#routes = new Map(
      routes.flatMap((route) => {
        const perMs = limits[route]?.perMs;
        const left = (kept[route] ?? []).map((sent) => ({ ...sent }));
        return perMs === undefined ? [] : [[route, { perMs, left, pending: 0, decidedAt: 0 }]];
      }),
    );
  }

  /** Requests count when they are said to leave. Without this call they leave when they are decided. */
  countLeaving(): void {
    this.#countsLeaving = true;
  }

  /** A request is decided. */
  decide(route: Route, now: number): void {
    const log = this.#routes.get(route);
    if (log === undefined) return;
    if (!this.#countsLeaving) return note(log, now);
    log.pending += 1;
    log.decidedAt = now;
  }

  /** A request leaves. */
  leave(route: Route, now: number): void {
    const log = this.#routes.get(route);
    if (log === undefined || !this.#countsLeaving) return;
    log.pending = Math.max(0, log.pending - 1);
    note(log, now);
  }

  /** A request has ended. @param inFlight how many of its route have not */
  settle(route: Route, inFlight: number): void {
    const log = this.#routes.get(route);
    if (log !== undefined) log.pending = Math.min(log.pending, inFlight);
  }

  /** The counts as a text; undefined: no route has a rate. */
  get text(): string | undefined {
    if (this.#routes.size === 0) return undefined;
    return JSON.stringify(
      Object.fromEntries(
        [...this.#routes].map(([route, { perMs, left, pending, decidedAt }]) => [
          route,
          [
            ...left.map(({ until, count }) => [Math.ceil(until), count]),
            ...(pending === 0 ? [] : [[Math.ceil(decidedAt + latestMs + perMs), pending]]),
          ],
        ]),
      ),
    );
  }
}

/** Requests of one part of the window are counted together, and forgotten together. */
function note({ perMs, left }: RouteLog, now: number): void {
  const part = perMs / parts;
  const until = Math.ceil((now + perMs) / part) * part;
  const last = left.at(-1);
  if (last !== undefined && last.until >= until) last.count += 1;
  else left.push({ until, count: 1 });
  while (left[0] !== undefined && left[0].until <= now) left.shift();
}

/**
 * Reads what an earlier run kept. The text comes from a file that anybody may have changed: what is not as it is written counts for
 * nothing.
 *
 * @param now moments further ahead than the window of the route are none: what may still have left when this run began left then
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
