import type { Rate } from '../../src/pipeline/pipeline.ts';

/** What a limiter says of one request: undefined, it is accepted; else in how many ms the next one would be. */
export type Limiter = (at: number) => number | undefined;

/** So many in each window that begins at a whole multiple of its length. */
function fixedWindow({ count, perMs }: Rate): Limiter {
  let [window, accepted] = [-1, 0];
  return (at) => {
    const current = Math.floor(at / perMs);
    if (current !== window) [window, accepted] = [current, 0];
    if (accepted >= count) return (current + 1) * perMs - at;
    accepted += 1;
    return undefined;
  };
}

/** So many in any window. */
function slidingWindow({ count, perMs }: Rate): Limiter {
  const accepted: number[] = [];
  return (at) => {
    while (accepted[0] !== undefined && accepted[0] <= at - perMs) accepted.shift();
    if (accepted.length >= count) return (accepted[0] ?? at) + perMs - at;
    accepted.push(at);
    return undefined;
  };
}

/** A bucket of so many tokens, filled evenly; with a single one, requests must be as far apart as the rate says. */
function bucket({ count, perMs }: Rate, burst: number): Limiter {
  let [tokens, last] = [burst, 0];
  return (at) => {
    tokens = Math.min(burst, tokens + ((at - last) * count) / perMs);
    last = at;
    if (tokens < 1 - 1e-9) return ((1 - tokens) * perMs) / count;
    tokens -= 1;
    return undefined;
  };
}

/** How services count requests, each with a rate. A refused request counts for nothing. */
export const limiters = {
  'fixed window': fixedWindow,
  'sliding window': slidingWindow,
  'bucket, burst of a window': (rate) => bucket(rate, rate.count),
  'bucket, burst of 5': (rate) => bucket(rate, 6),
  'strict spacing': (rate) => bucket(rate, 1),
} as const satisfies Record<string, (rate: Rate) => Limiter>;

export type LimiterKind = keyof typeof limiters;

/** The limiter of one rate until some moment, and of another from then on. */
export function changing(kind: LimiterKind, before: Rate, at: number, after: Rate): Limiter {
  const [first, second] = [limiters[kind](before), limiters[kind](after)];
  return (now) => (now < at ? first : second)(now);
}

/** So many in any window, refused ones too: who asks on is never served. */
export function countingRefused({ count, perMs }: Rate): Limiter {
  const seen: number[] = [];
  return (at) => {
    while (seen[0] !== undefined && seen[0] <= at - perMs) seen.shift();
    seen.push(at);
    return seen.length > count ? (seen[seen.length - count] ?? at) + perMs - at : undefined;
  };
}
