import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rate } from '../../../src/pipeline/pipeline.ts';
import { EvenSendTimes, graceMs, type Sent } from '../../../src/run/limits/even-send-times.ts';
import { readSent, SentLog } from '../../../src/run/limits/sent-log.ts';

const second = 1000;
const minute = 60_000;

/** The most in any window that begins with a request. */
function maxInWindow(times: readonly number[], perMs: number): number {
  let [most, from] = [0, 0];
  for (const [to, at] of times.entries()) {
    while ((times[from] ?? 0) <= at - perMs) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

/** A sender that always has something to send, and is late by what `late` draws. */
function sendAll(moments: EvenSendTimes, untilMs: number, late: () => number, from = 0): readonly number[] {
  const times: number[] = [];
  for (let now = from; ; ) {
    now = Math.max(now, moments.nextAt()) + late();
    if (now > untilMs) return times;
    moments.take(now);
    times.push(now);
  }
}

const rates = fc.record({
  count: fc.integer({ min: 1, max: 300 }),
  perMs: fc.constantFrom(second, minute, 60 * minute),
});

describe('evenly spaced send times', () => {
  it('let no more than the count be sent in any window, however late and bunched the requests are', () => {
    fc.assert(
      fc.property(
        rates,
        fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 60 }),
        (rate, gaps) => {
          let step = 0;
          const late = (): number => (gaps[(step += 1) % gaps.length] ?? 0) * (step % 7 === 0 ? 1 : 0.02);
          const times = sendAll(new EvenSendTimes(rate), Math.min(3 * rate.perMs, 600_000), late);
          expect(maxInWindow(times, rate.perMs)).toBeLessThanOrEqual(rate.count);
        },
      ),
    );
  });

  it.each<[Rate, number]>([
    [{ count: 100, perMs: second }, 0.98],
    [{ count: 7, perMs: second }, 0.97],
    [{ count: 60, perMs: minute }, 0.99],
    [{ count: 3000, perMs: minute }, 0.99],
  ])('of %o are used to %d by a sender that is late by up to 10 ms each time', (rate, least) => {
    let step = 0;
    const times = sendAll(new EvenSendTimes(rate), 20 * rate.perMs, () => ((step += 1) * 37) % 10);
    expect(times.length / (20 * rate.count)).toBeGreaterThanOrEqual(least);
  });

  it('count the requests of earlier runs, whatever the rate was then', () => {
    const rate = { count: 60, perMs: minute };
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 0, max: minute }), { maxLength: 200 }),
        fc.integer({ min: 0, max: 40_000 }),
        (factor, offsets, gapMs) => {
          const earlier = offsets.toSorted((a, b) => a - b);
          const limits = { tasks: 1, requests: 1, submit: rate };
          const log = new SentLog({ ...limits, submit: { ...rate, count: 60 * factor } }, {});
          for (const at of earlier) log.decide('submit', at);
          const start = minute + gapMs;
          const before = readSent(log.text, limits, start).submit;
          const times = sendAll(new EvenSendTimes(rate, before), start + 3 * minute, () => 0, start);
          for (const at of times)
            expect(
              [...earlier, ...times].filter((other) => other > at - minute && other <= at).length,
            ).toBeLessThanOrEqual(60);
          // Once the window is clear, all of it is used.
          expect(times.filter((at) => at > start + 2 * minute).length).toBeGreaterThanOrEqual(58);
        },
      ),
    );
  });

  it('leave as soon as there is room beside the requests of earlier runs, in whatever order these are kept', () => {
    const rate = { count: 60, perMs: minute };
    const next = (...before: readonly Sent[]): number => new EvenSendTimes(rate, before).nextAt();
    expect(next({ until: 1000, count: 59 })).toBe(Number.NEGATIVE_INFINITY);
    expect(next({ until: 1000, count: 60 })).toBe(1000);
    expect(next({ until: 50_000, count: 59 }, { until: 1000, count: 1 })).toBe(1000);
  });

  it('may be used up to a grace period late, and are lost after that', () => {
    const rate = { count: 10, perMs: second };
    expect([
      graceMs(rate),
      graceMs({ count: 1, perMs: minute }),
      graceMs({ count: 1, perMs: 60 * minute }),
    ]).toEqual([20, 300, 300]);
    const moments = new EvenSendTimes(rate);
    expect(moments.take(0)).toBe(0);
    expect(moments.take(1000)).toBe(980);
    expect(moments.nextAt()).toBeCloseTo(980 + 102);
    expect(moments.take(1090)).toBeCloseTo(1082);
  });
});

describe('the log of sent requests', () => {
  const limits = { tasks: 1, requests: 1, submit: { count: 60, perMs: minute } };

  it('keeps nothing where no route has a rate', () => {
    const log = new SentLog({ tasks: 1, requests: 1 }, {});
    log.decide('submit', 0);
    expect(log.text).toBeUndefined();
  });

  it('counts each request until its window has passed, in parts of the window, with those of earlier runs', () => {
    const log = new SentLog(limits, { submit: [{ until: 500, count: 4 }] });
    for (const at of [0, 1, 2, 930, 2000]) log.decide('submit', at);
    log.decide('text', 5);
    const sent = readSent(log.text, limits, 0).submit as readonly Sent[];
    expect(sent.reduce((sum, { count }) => sum + count, 0)).toBe(5);
    expect(sent.every(({ until }) => until >= minute && until <= 2000 + minute + minute / 64 + 1)).toBe(true);
  });

  it('counts requests as sent at the start of the next run, where it is unknown when they were sent', () => {
    const log = new SentLog(limits, {});
    log.countLeaving();
    for (const at of [0, 10, 20, 30]) log.decide('submit', at);
    log.leave('submit', 900);
    // One ended without leaving: two may still leave when this is kept.
    log.settle('submit', 2);
    const kept = log.text;
    const start = 50_000;
    const sent = readSent(kept, limits, start).submit as readonly Sent[];
    expect(sent.map(({ count }) => count)).toEqual([1, 2]);
    expect(sent[0]?.until).toBeGreaterThanOrEqual(900 + minute);
    expect(sent[1]?.until).toBeGreaterThanOrEqual(start + minute);
    // Nothing that was decided long ago leaves then.
    expect(readSent(kept, limits, 30 + 11 * minute).submit).toEqual([]);
    log.leave('submit', 1000);
    log.leave('submit', 2000);
    const settled = readSent(log.text, limits, start).submit as readonly Sent[];
    expect(settled.reduce((sum, { count }) => sum + count, 0)).toBe(3);
    expect(settled.every(({ until }) => until < 2000 + minute * 1.02)).toBe(true);
  });

  it.each(['', 'null', '[]', '{"submit":7}', '{"submit":[[1e99,-1],[null,2],["x"],[1e300,5,5]]}'])(
    'reads %s as nothing that delays a run for longer than the window',
    (text) => {
      const { submit = [] } = readSent(text, limits, 0);
      for (const { until } of submit) expect(until).toBeLessThanOrEqual(minute * 1.02);
    },
  );
});
