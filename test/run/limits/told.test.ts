import { describe, expect, test } from 'vitest';
import type { Rate } from '../../../src/pipeline/pipeline.ts';
import { type LeftRequest, ToldPace } from '../../../src/run/limits/told.ts';
import type { ToldLimit } from '../../../src/service/http/told.ts';
import { countingRefused, type Limiter, limiters } from '../../rig/limiters.ts';
import { pacedRun, servedIn } from '../../rig/paced-run.ts';
import { limited, tellsRate } from '../../rig/paced-server.ts';
import { seededRandom } from '../../rig/virtual-run.ts';

const second = 1000;
const minute = 60_000;
const requests = (limit: number, remaining: number, resetMs: number): ToldLimit => ({
  of: 'requests',
  limit,
  remaining,
  resetMs,
});

/** What a service tells with a request that it has served at these moments, the last one now. */
type Teller = (served: readonly number[], at: number, rate: Rate) => ToldLimit;
const wholeSeconds = (ms: number): number => Math.ceil(ms / second) * second;

const tellers = {
  'until the oldest leaves the window': (served, at, { count, perMs }) => {
    const counted = served.slice(-count).filter((one) => one > at - perMs);
    return requests(count, count - counted.length, wholeSeconds((counted[0] ?? at) + perMs - at));
  },
  'until the window is over': (served, at, { count, perMs }) => {
    const from = Math.floor(at / perMs) * perMs;
    const counted = served.slice(-count).filter((one) => one >= from);
    return requests(count, count - counted.length, from + perMs - at);
  },
  'until all is there again': (served, at, { count, perMs }) => {
    let [tokens, last] = [count, 0];
    for (const one of served) {
      tokens = Math.min(count, tokens + ((one - last) * count) / perMs) - 1;
      last = one;
    }
    tokens = Math.min(count, tokens + ((at - last) * count) / perMs);
    return requests(count, Math.floor(tokens), ((count - tokens) * perMs) / count);
  },
} as const satisfies Record<string, Teller>;

interface Served {
  /** Of the limit, from the first hundred requests on. */
  readonly used: number;
  readonly refusals: number;
}

/** A server that tells its limit, asked by 32 at once; the first request goes alone. */
function asked(limiter: Limiter, rate: Rate, tell: Teller): Served {
  const [pace, random] = [new ToldPace(), seededRandom(7)];
  const spacing = rate.perMs / rate.count;
  const from = Math.max(100 * spacing, 2 * minute);
  const untilMs = from + Math.max(200 * spacing, 5 * minute);
  const served: number[] = [];
  let refusals = 0;
  let underWay: { at: number; by: LeftRequest; told: ToldLimit; isRefused: boolean }[] = [];
  for (let now = 0; now < untilMs; ) {
    const due = underWay.filter(({ at }) => at <= now);
    underWay = underWay.filter(({ at }) => at > now);
    for (const { by, told, isRefused } of due) pace.onReply(by, [told], isRefused, now);
    while (underWay.length < (pace.isTold ? 32 : 1) && pace.nextAt(now) <= now) {
      const isRefused = limiter(now) !== undefined;
      if (isRefused) refusals += 1;
      else served.push(now);
      const takesMs = Math.round((isRefused ? 100 : second) * (0.8 + 0.4 * random()));
      underWay.push({ at: now + takesMs, by: pace.take(now), told: tell(served, now, rate), isRefused });
    }
    const next = Math.min(
      ...underWay.map(({ at }) => at),
      underWay.length < 32 ? pace.nextAt(now) : Infinity,
    );
    now = Math.max(now + 1, Math.ceil(next));
  }
  const counted = served.filter((at) => at >= from).length;
  return { used: (counted * spacing) / (untilMs - from), refusals };
}

const rates: readonly Rate[] = [
  { count: 10, perMs: minute },
  { count: 60, perMs: minute },
  { count: 600, perMs: minute },
  { count: 20, perMs: second },
];
const cases = rates.flatMap((rate) =>
  (
    [
      ['fixed window', 'until the oldest leaves the window'],
      ['sliding window', 'until the oldest leaves the window'],
      ['bucket, burst of a window', 'until the oldest leaves the window'],
      ['counts refused', 'until the oldest leaves the window'],
      ['fixed window', 'until the window is over'],
      ['bucket, burst of a window', 'until all is there again'],
    ] as const
  ).map(([kind, reset]) => ({ rate: `${rate.count} in ${rate.perMs / second} s`, kind, reset, of: rate })),
);

describe('a limit that is told', () => {
  test.each(cases)('$rate ($kind, reset $reset) is used, and no request refused', ({ kind, reset, of }) => {
    const limiter = kind === 'counts refused' ? countingRefused(of) : limiters[kind](of);
    const { used, refusals } = asked(limiter, of, tellers[reset]);
    expect(refusals).toBe(0);
    expect(used).toBeGreaterThanOrEqual(0.95);
  });
});

test.each(rates)('a limit of tokens that is told is used, and no call refused (%o)', async (rate) => {
  const spacing = rate.perMs / rate.count;
  const from = 2 * Math.max(minute, rate.perMs);
  const untilMs = from + Math.max(40 * spacing, 3 * rate.perMs);
  const server = await pacedRun({
    work: 'texts',
    jobs: Math.ceil((1.2 * untilMs) / spacing + rate.count),
    rules: () => [limited(limiters['sliding window'](rate))],
    server: { tells: tellsRate(rate, 'tokens') },
    limits: { requests: 32 },
    untilMs,
  });
  expect(server.log.filter(({ refusal }) => refusal !== undefined)).toEqual([]);
  expect((servedIn(server, from, untilMs) * spacing) / (untilMs - from)).toBeGreaterThanOrEqual(0.95);
});

test.each([1400, 9000])(
  'a limit that counts 100 tokens of a call is no limit of the %i that the call is thought to take',
  (thought) => {
    const pace = new ToldPace();
    const limit = 8000;
    let [rest, sent] = [limit, 0];
    for (let now = 0; now < 10 * minute; now += second) {
      rest = Math.min(limit, rest + (limit * second) / minute);
      if (pace.nextAt(now, thought) > now) continue;
      rest -= 100;
      sent += 1;
      const told = {
        of: 'tokens',
        limit,
        remaining: rest,
        resetMs: ((limit - rest) * minute) / limit,
      } as const;
      pace.onReply(pace.take(now, thought), [told], false, now);
    }
    expect(sent).toBe(600);
  },
);

/** A pace whose first request left at 0 and was told this at 100. */
function told(...limits: readonly ToldLimit[]): ToldPace {
  const pace = new ToldPace();
  pace.onReply(pace.take(0), limits, false, 100);
  return pace;
}

/** Requests that leave one after the other at this moment. @returns how many may, at most a thousand */
function leaving(pace: ToldPace, now: number, tokens = 0): readonly LeftRequest[] {
  const left: LeftRequest[] = [];
  while (left.length < 1000 && pace.nextAt(now, tokens) <= now) left.push(pace.take(now, tokens));
  return left;
}

describe('until the reset', () => {
  test('as many leave as remain, less those that left since the reply was asked for', () => {
    const pace = new ToldPace();
    const [first] = [pace.take(0), pace.take(50), pace.take(60)];
    pace.onReply(first, [requests(60, 10, 30_000)], false, 1000);
    expect(leaving(pace, 1000)).toHaveLength(8);
    expect(pace.nextAt(1000)).toBe(30_000);
  });

  test('the reply to the request that left last counts, whichever comes last', () => {
    const pace = new ToldPace();
    const [first, second_] = [pace.take(0), pace.take(10)] as const;
    pace.onReply(second_, [requests(60, 3, 30_000)], false, 500);
    pace.onReply(first, [requests(60, 50, 30_000)], false, 600);
    expect(leaving(pace, 1000)).toHaveLength(3);
  });

  test('tokens that remain bound the calls that are estimated to take them', () => {
    const pace = told(requests(100, 99, 60_000), {
      of: 'tokens',
      limit: 1000,
      remaining: 900,
      resetMs: 5000,
    });
    expect(leaving(pace, 200, 400)).toHaveLength(2);
    expect(pace.nextAt(200, 400)).toBe(5000);
    expect(pace.nextAt(200, 100)).toBe(200);
    // More than the limit is no more than all of it.
    expect(told({ of: 'tokens', limit: 1000, remaining: 1000, resetMs: 5000 }).nextAt(200, 5000)).toBe(200);
  });

  test('a limit without a reset, or without what remains, bounds nothing', () => {
    const pace = told(
      { of: 'requests', limit: 5, remaining: 0 },
      { of: 'requests', limit: 5, resetMs: 9000 },
    );
    expect(pace.isTold).toBe(false);
    expect(leaving(pace, 200)).toHaveLength(1000);
  });
});

test('where others draw on the limit, one request at a time asks what is left behind the reset', () => {
  const pace = told(requests(60, 5, 20_000));
  expect(leaving(pace, 1000)).toHaveLength(5);
  const [probe, ...more] = leaving(pace, 20_000);
  expect(more).toEqual([]);
  expect(pace.nextAt(20_000)).toBe(Number.POSITIVE_INFINITY);
  pace.onReply(probe as LeftRequest, [requests(60, 40, 60_000)], false, 20_100);
  expect(leaving(pace, 20_100)).toHaveLength(40);
});

test('what remained before the reset may be used behind it', () => {
  const pace = told(requests(60, 5, 20_000));
  for (const at of [1000, 2000]) pace.take(at);
  expect(leaving(pace, 20_000)).toHaveLength(3);
  expect(pace.nextAt(20_000)).toBe(Number.POSITIVE_INFINITY);
});

test('a limit that changes is followed', () => {
  const pace = told(requests(60, 59, 60_000));
  pace.onReply(pace.take(200), [requests(30, 2, 60_000)], false, 300);
  expect(leaving(pace, 300)).toHaveLength(2);
});

describe('what is told is not believed for ten minutes', () => {
  /** Whether it is so from this moment on. */
  const isIgnored = (pace: ToldPace, now: number): boolean => {
    const isFree = leaving(pace, now).length === 1000;
    const later = now + 10 * minute;
    pace.onReply(pace.take(later - 1), [requests(5, 0, minute)], true, later - 1);
    const isDeaf = !pace.isTold;
    pace.onReply(pace.take(later), [requests(5, 0, minute)], true, later + 100);
    return isFree && isDeaf && pace.nextAt(later + 200) === later + minute;
  };

  test('where a request is refused alone that what remained had room for', () => {
    const pace = told(requests(5, 4, 60_000));
    pace.onReply(pace.take(200), [], true, 300);
    expect(isIgnored(pace, 300)).toBe(true);
  });

  test('but not where another request was under way, or nothing remained', () => {
    const pace = told(requests(5, 4, 60_000));
    const [, other] = [pace.take(200), pace.take(210)];
    pace.onReply(other, [requests(5, 0, 60_000)], true, 300);
    expect(pace.isTold).toBe(true);
  });

  test('but not where others may have used what remained', () => {
    const pace = told(requests(60, 20, 60_000));
    pace.onReply(pace.take(30_000), [requests(60, 0, 30_000)], true, 30_100);
    expect(pace.isTold).toBe(true);
  });

  test('where a refusal itself says that there is room', () => {
    const pace = told(requests(5, 0, 60_000));
    pace.onReply(pace.take(61_000), [requests(5, 3, 60_000)], true, 61_100);
    expect(isIgnored(pace, 61_100)).toBe(true);
  });

  test('but not where it says so of requests, and too few tokens remain for the call', () => {
    const pace = new ToldPace();
    const both = [
      requests(5, 3, 60_000),
      { of: 'tokens', limit: 1000, remaining: 50, resetMs: 60_000 },
    ] as const;
    pace.onReply(pace.take(0, 100), both, true, 100);
    expect(pace.isTold).toBe(true);
  });

  test('but not where no tokens remain, and their reset is not believed', () => {
    const pace = new ToldPace();
    const both = [requests(5, 3, 60_000), { of: 'tokens', limit: 1000, remaining: 0 }] as const;
    pace.onReply(pace.take(0, 100), both, true, 100);
    expect(pace.isTold).toBe(true);
  });

  test('but not where one of two limits has no reset for once', () => {
    const pace = new ToldPace();
    const input: ToldLimit = { of: 'tokens', limit: 50_000, remaining: 1000, resetMs: minute };
    const output: ToldLimit = { of: 'tokens', limit: 8000, remaining: 7000, resetMs: minute };
    const usedUp: ToldLimit = { of: 'tokens', limit: 50_000, remaining: 0 };
    pace.onReply(pace.take(0, 900), [input, output], false, 100);
    pace.onReply(pace.take(200, 900), [usedUp, output], true, 300);
    pace.onReply(pace.take(20_000, 900), [input, output], false, 20_100);
    expect(pace.isTold).toBe(true);
  });

  test.each([
    ['twice as many remain', 500, 1000],
    ['a tenth of the limit remains', 10, 400],
  ])('of tokens only where %s: each service counts them its own way', (_what, tokens, enough) => {
    const isBelieved = (remaining: number): boolean => {
      const pace = new ToldPace();
      pace.onReply(
        pace.take(0, tokens),
        [{ of: 'tokens', limit: 4000, remaining, resetMs: minute }],
        true,
        100,
      );
      return pace.isTold;
    };
    expect([isBelieved(enough - 1), isBelieved(enough)]).toEqual([true, false]);
  });

  test('where more remains than the time has brought back', () => {
    const pace = told(requests(60, 5, 60_000));
    pace.onReply(pace.take(1000), [requests(60, 50, 59_000)], false, 1100);
    expect(isIgnored(pace, 1100)).toBe(true);
  });

  test('but not where the reset, or a bucket that fills evenly, explains it', () => {
    const pace = told(requests(60, 5, 60_000));
    pace.onReply(pace.take(30_000), [requests(60, 32, 28_000)], false, 30_100);
    pace.onReply(pace.take(58_500), [requests(60, 59, 1000)], false, 58_600);
    expect(pace.isTold).toBe(true);
  });

  test('where the limits of several take turns', () => {
    const pace = told(requests(60, 50, 60_000));
    pace.onReply(pace.take(1000), [requests(500, 400, 60_000)], false, 1100);
    expect(pace.isTold).toBe(true);
    pace.onReply(pace.take(2000), [requests(60, 49, 60_000)], false, 2100);
    expect(isIgnored(pace, 2100)).toBe(true);
  });

  test('where every reply tells another limit', () => {
    const pace = told(requests(60, 50, 60_000));
    for (let n = 1; n < 9; n += 1) pace.onReply(pace.take(n), [requests(60 + n, 50, 60_000)], false, 100 + n);
    expect(isIgnored(pace, 108)).toBe(true);
  });
});
