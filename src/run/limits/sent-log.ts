import type { Limits } from '../../pipeline/pipeline.ts';
import type { Route } from '../events.ts';
import type { Sent } from './even-send-times.ts';

/** Number of parts of a window. Requests of one part are counted together. */
const parts = 64;
const routes = ['submit', 'text', 'poll', 'download'] as const satisfies readonly Route[];

/** Longest delay between the decision and the sending of a request, ms, except on a machine that slept. */
const latestMs = 600_000;

/** Requests sent on one route within the window. */
interface RouteLog {
  readonly perMs: number;
  readonly left: { until: number; count: number }[];
  /** Number of requests that were decided and not yet reported as sent. */
  pending: number;
  /** Time of the last decision, Unix ms. */
  decidedAt: number;
}

/**
 * Counts the requests recently sent on routes with a rate, so that a run that starts right afterwards keeps the rate. The counts are saved
 * with the commit of the intents, before the requests are sent. Pending requests may be sent until the process ends, so the next run counts
 * them as sent at its start.
 */
export class SentLog {
  readonly #routes: ReadonlyMap<Route, RouteLog>;
  #countsLeaving = false;

  /** @param kept counts saved by earlier runs */
  constructor(limits: Limits, kept: Readonly<Partial<Record<Route, readonly Sent[]>>>) {
    this.#routes = new Map(
      routes.flatMap((route) => {
        const perMs = limits[route]?.perMs;
        const left = (kept[route] ?? []).map((sent) => ({ ...sent }));
        return perMs === undefined ? [] : [[route, { perMs, left, pending: 0, decidedAt: 0 }]];
      }),
    );
  }

  /** From now on requests count when they are reported as sent. Without this call they count when they are decided. */
  countLeaving(): void {
    this.#countsLeaving = true;
  }

  /** Notes that a request is decided. */
  decide(route: Route, now: number): void {
    const log = this.#routes.get(route);
    if (log === undefined) return;
    if (!this.#countsLeaving) return note(log, now);
    log.pending += 1;
    log.decidedAt = now;
  }

  /** Notes that a request is sent. */
  leave(route: Route, now: number): void {
    const log = this.#routes.get(route);
    if (log === undefined || !this.#countsLeaving) return;
    log.pending = Math.max(0, log.pending - 1);
    note(log, now);
  }

  /** Notes that a request has ended. @param inFlight number of requests of the route that have not ended */
  settle(route: Route, inFlight: number): void {
    const log = this.#routes.get(route);
    if (log !== undefined) log.pending = Math.min(log.pending, inFlight);
  }

  /** The counts as a text; undefined where no route has a rate. */
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

/** Requests of one part of the window are counted together and expire together. */
function note({ perMs, left }: RouteLog, now: number): void {
  const part = perMs / parts;
  const until = Math.ceil((now + perMs) / part) * part;
  const last = left.at(-1);
  if (last !== undefined && last.until >= until) last.count += 1;
  else left.push({ until, count: 1 });
  while (left[0] !== undefined && left[0].until <= now) left.shift();
}

/**
 * Reads the counts saved by an earlier run. Anybody may have changed the file, so malformed entries are ignored.
 *
 * @param now times later than the route's window after it are ignored; requests still pending count as sent at this time
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
