import type { Rate, RetrySettings } from '../../src/pipeline/pipeline.ts';
import { EvenMoments, graceMs } from '../../src/run/limits/even-moments.ts';
import { RouteTraffic } from '../../src/run/limits/route.ts';
import type { Limiter } from './limiters.ts';
import { seededRandom, virtualSettings } from './virtual-run.ts';

/** How a service says in a 429 when the next request may come. */
export type Hint = 'none' | 'whole seconds' | 'exact';

export interface LimitedRoute {
  readonly limiter: Limiter;
  readonly hint?: Hint;
  /** `limits.submit`. */
  readonly rate?: Rate;
  /** Sends at even moments of this rate, whatever is refused, in place of the route's own pace. */
  readonly fixed?: Rate;
  /** What an earlier run found, requests a minute. */
  readonly learned?: number;
  /** How long the answer to an accepted and to a refused request takes, ms. */
  readonly servedMs?: number;
  readonly refusedMs?: number;
  /** How many requests may be under way. */
  readonly width?: number;
  /** How late timers are at most, and how unequal the ways to the service, ms. */
  readonly lateMs?: number;
  readonly jitterMs?: number;
  readonly seed?: number;
}

export interface Sent {
  readonly at: number;
  readonly isAccepted: boolean;
}

interface Sender extends Pick<RouteTraffic, 'nextAt' | 'note'> {
  readonly take: (now: number, key: string) => void;
}

/** A route under a rate that is known, as the scheduler lets its requests leave. */
export function routeSender(rate: Rate | undefined, retry: RetrySettings, learned?: number): Sender {
  const route = new RouteTraffic('text', retry, learned === undefined ? {} : { perMinute: learned });
  const known = rate && new EvenMoments(rate, [], Math.max(250, graceMs(rate)));
  return {
    nextAt: (now) => Math.max(route.nextAt(now), known?.nextAt() ?? Number.NEGATIVE_INFINITY),
    take(now, key) {
      route.pace.take(key, now);
      known?.take(now);
    },
    note: (...result) => route.note(...result),
  };
}

function fixedSender(rate: Rate): Sender {
  const moments = new EvenMoments(rate);
  return {
    nextAt: () => moments.nextAt(),
    take: (now) => void moments.take(now),
    note: () => undefined,
  };
}

/** A route that always has something to send, against a limiter, in virtual time. @returns what left, by the time at which it left */
export function sendAgainst(options: LimitedRoute, untilMs: number): readonly Sent[] {
  const { limiter, hint = 'none', rate, fixed, learned, servedMs = 300, refusedMs = 100 } = options;
  const { width = 32, lateMs = 5, jitterMs = 2, seed = 1 } = options;
  const random = seededRandom(seed);
  const sender: Sender =
    fixed === undefined ? routeSender(rate, virtualSettings().retry, learned) : fixedSender(fixed);
  const underWay: { readonly at: number; readonly key: string; readonly waitMs: number | undefined }[] = [];
  const sent: Sent[] = [];
  const asked = (waitMs: number): object =>
    hint === 'none' ? {} : { retryAfterMs: hint === 'exact' ? waitMs : 1000 * Math.ceil(waitMs / 1000) };
  let now = 0;
  while (now < untilMs) {
    const mayLeave = underWay.length < width ? sender.nextAt(now) : Number.POSITIVE_INFINITY;
    if (mayLeave <= now) {
      const key = String(sent.length);
      sender.take(now, key);
      const waitMs = limiter(now + jitterMs * random());
      const isAccepted = waitMs === undefined;
      sent.push({ at: now, isAccepted });
      const at = now + (isAccepted ? servedMs : refusedMs) * (0.8 + 0.4 * random());
      const place = underWay.findIndex((other) => other.at > at);
      underWay.splice(place === -1 ? underWay.length : place, 0, { at, key, waitMs });
      continue;
    }
    const leavesAt = mayLeave + lateMs * random();
    const next = underWay[0];
    if (next === undefined || leavesAt < next.at) {
      now = leavesAt;
      continue;
    }
    now = Math.max(now, next.at);
    underWay.shift();
    const stop = sender.note(
      next.waitMs === undefined
        ? { kind: 'served' }
        : { kind: 'throttled', reason: '429', ...asked(next.waitMs) },
      now,
      next.key,
    );
    if (stop !== undefined) throw new Error(stop.message);
  }
  return sent;
}

/** What was refused, as a part of all, and how many were accepted a ms, from one moment to another. */
export function sharesOf(
  sent: readonly Sent[],
  from: number,
  to: number,
): { readonly refused: number; readonly perMs: number } {
  const counted = sent.filter(({ at }) => at >= from && at < to);
  const accepted = counted.filter(({ isAccepted }) => isAccepted).length;
  return { refused: 1 - accepted / counted.length, perMs: accepted / (to - from) };
}
