import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenLimiter } from '../../../src/run/limits/token-rate.ts';

const perMs = 60_000;

interface Call {
  readonly key: string;
  readonly estimate: number;
  readonly took: number;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** Lets calls go as soon as they may, each answered after its own time. @returns them in the order in which they left */
function play(
  limit: number,
  needs: readonly { readonly estimate: number; readonly took: number; readonly lasts: number }[],
): readonly Call[] {
  const limiter = new TokenLimiter({ count: limit, perMs });
  const calls: Call[] = [];
  const underWay = new Set<Call>();
  let now = 1_700_000_000_000;
  const settle = (): void => {
    for (const call of underWay)
      if (call.answeredAt <= now) {
        underWay.delete(call);
        limiter.settle(call.key, call.took, now);
      }
  };
  for (const [number, { estimate, took, lasts }] of needs.entries()) {
    for (;;) {
      settle();
      const at = limiter.nextAt(estimate);
      if (at <= now) break;
      now = Math.min(at, ...[...underWay].map(({ answeredAt }) => answeredAt));
      if (now === Number.POSITIVE_INFINITY) throw new Error('It waits for an answer, and none is under way.');
    }
    const call: Call = { key: `k${number}`, estimate, took, sentAt: now, answeredAt: now + lasts };
    limiter.take(call.key, estimate, now);
    calls.push(call);
    underWay.add(call);
  }
  return calls;
}

const wish = fc.record({
  estimate: fc.integer({ min: 1, max: 1200 }),
  took: fc.integer({ min: 0, max: 2500 }),
  lasts: fc.integer({ min: 0, max: 150_000 }),
});

describe('the limit on tokens', () => {
  it('allows every call where no limit is set', () => {
    const limiter = new TokenLimiter(undefined);
    expect(limiter.isLimited).toBe(false);
    expect(new TokenLimiter({ count: 1, perMs }).isLimited).toBe(true);
    expect(new TokenLimiter(undefined, limiter).isLimited).toBe(true);
    limiter.take('a', 1e9, 0);
    expect(limiter.nextAt(1e9)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('counts a call with its estimate until its reply, and then with its actual tokens for one window', () => {
    const limiter = new TokenLimiter({ count: 1000, perMs });
    limiter.take('a', 600, 0);
    expect([limiter.nextAt(400), limiter.nextAt(401)]).toEqual([
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
    limiter.settle('a', 900, 10_000);
    expect(limiter.nextAt(100)).toBe(Number.NEGATIVE_INFINITY);
    const at = limiter.nextAt(101);
    expect(at).toBeGreaterThanOrEqual(70_000);
    expect(at).toBeLessThanOrEqual(70_000 + perMs / 256);
  });

  it('keeps the estimate of a call without a token count, and frees the tokens of a call that took none', () => {
    const limiter = new TokenLimiter({ count: 1000, perMs });
    limiter.take('a', 600, 0);
    limiter.settle('a', undefined, 0);
    expect(limiter.nextAt(401)).toBeGreaterThanOrEqual(perMs);
    limiter.take('b', 400, 0);
    limiter.settle('b', 0, 0);
    expect(limiter.nextAt(400)).toBeLessThanOrEqual(0);
    const fresh = new TokenLimiter({ count: 1000, perMs });
    fresh.take('a', 400, 0);
    fresh.settle('a', 0, 0);
    expect(fresh.nextAt(5000)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('allows a call larger than the limit, alone', () => {
    const limiter = new TokenLimiter({ count: 1000, perMs });
    expect(limiter.nextAt(5000)).toBe(Number.NEGATIVE_INFINITY);
    limiter.take('a', 1, 0);
    expect(limiter.nextAt(5000)).toBe(Number.POSITIVE_INFINITY);
    limiter.settle('a', 1, 0);
    expect(limiter.nextAt(5000)).toBeGreaterThanOrEqual(perMs);
  });

  it('frees the tokens of a call when its window ends, not before', () => {
    const limiter = new TokenLimiter({ count: 1000, perMs: 100 });
    limiter.take('a', 600, 0);
    limiter.settle('a', 600, 10);
    limiter.take('b', 300, 20);
    limiter.settle('b', 300, 30);
    expect([limiter.nextAt(100), limiter.nextAt(101), limiter.nextAt(700), limiter.nextAt(701)]).toEqual([
      Number.NEGATIVE_INFINITY,
      110,
      110,
      130,
    ]);
    limiter.take('c', 1, 109);
    expect(limiter.nextAt(1000)).toBe(Number.POSITIVE_INFINITY);
    expect(limiter.nextAt(99)).toBe(Number.NEGATIVE_INFINITY);
    limiter.take('d', 0, 110);
    expect(limiter.nextAt(699)).toBe(Number.NEGATIVE_INFINITY);
    expect(limiter.nextAt(700)).toBe(130);
    limiter.settle('c', 1, 130);
    expect(limiter.nextAt(999)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('counts calls answered at about the same time together, until the last of them is freed', () => {
    const limiter = new TokenLimiter({ count: 1000, perMs });
    const grain = perMs / 256;
    for (const [key, at] of [
      ['a', 1],
      ['b', 2],
      ['c', grain + 1],
    ] as const) {
      limiter.take(key, 300, at);
      limiter.settle(key, 300, at);
    }
    expect(limiter.nextAt(101)).toBe(perMs + grain);
    expect(limiter.nextAt(700)).toBe(perMs + grain);
    expect(limiter.nextAt(701)).toBe(perMs + 2 * grain);
  });

  it('adds the tokens of a call that it did not reserve', () => {
    const limiter = new TokenLimiter({ count: 1000, perMs: 100 });
    limiter.settle('unknown', 900, 0);
    expect([limiter.nextAt(100), limiter.nextAt(101)]).toEqual([Number.NEGATIVE_INFINITY, 100]);
    limiter.settle('other', undefined, 0);
    expect(limiter.nextAt(100)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('stores nothing where there is no limit', () => {
    const limiter = new TokenLimiter(undefined);
    limiter.take('a', 1e9, 0);
    limiter.settle('a', 1e9, 0);
    expect(limiter.nextAt(1)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('holds whenever the service counts a call, except for tokens beyond the estimates of calls in flight', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 500, max: 5000 }),
        fc.array(wish, { minLength: 1, maxLength: 40 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 40, maxLength: 40 }),
        (limit, needs, when) => {
          const calls = play(limit, needs);
          const counted = calls.map(
            ({ sentAt, answeredAt }, n) => sentAt + (answeredAt - sentAt) * (when[n] ?? 0),
          );
          for (const end of counted) {
            const within = calls.filter(
              (_, n) => (counted[n] as number) > end - perMs && (counted[n] as number) <= end,
            );
            const last = within.at(-1) as Call;
            // As it was known when the last of them left.
            const known = (call: Call): number =>
              call !== last && call.answeredAt <= last.sentAt ? call.took : call.estimate;
            const sum = within.reduce((total, call) => total + known(call), 0);
            // A call that is larger than the limit goes when nothing else counts.
            expect(sum === last.estimate || sum <= limit).toBe(true);
          }
        },
      ),
      { seed: 20_261_121, numRuns: 300 },
    );
  });

  it('is never exceeded where every estimate is exact', () => {
    const right = wish.map(({ estimate, lasts }) => ({ estimate, took: estimate, lasts }));
    fc.assert(
      fc.property(fc.array(right, { minLength: 1, maxLength: 40 }), (needs) => {
        const calls = play(2000, needs);
        for (const { sentAt } of calls) {
          const sum = calls
            .filter((other) => other.sentAt > sentAt - perMs && other.sentAt <= sentAt)
            .reduce((total, { took }) => total + took, 0);
          expect(sum).toBeLessThanOrEqual(2000);
        }
      }),
      { seed: 20_261_121, numRuns: 200 },
    );
  });
});

it('also asks a shared limit, and reports sent calls and their tokens to it', () => {
  const told: unknown[] = [];
  const shared = {
    nextAt: (tokens: number) => 10_000 + tokens,
    take: (...call: unknown[]) => void told.push(call),
    settle: (...call: unknown[]) => void told.push(call),
  };
  const free = new TokenLimiter(undefined, shared);
  expect(free.nextAt(5)).toBe(10_005);
  free.take('a', 5, 1);
  free.settle('a', 7, 2);
  expect(told).toEqual([
    ['a', 5, 1],
    ['a', 7, 2],
  ]);
  const own = new TokenLimiter({ count: 10, perMs: 60_000 }, shared);
  own.take('b', 10, 0);
  own.settle('b', 10, 1000);
  expect(own.nextAt(5)).toBeGreaterThan(60_000);
});
