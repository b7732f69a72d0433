import { describe, expect, it } from 'vitest';
import { SubmissionCounter } from '../../../../src/app/engine/worker/submission-counter.ts';

/** A counter whose time the test turns on. */
function counting(start = 0) {
  let now = 0;
  let alarm: { readonly at: number; readonly ring: () => void } | undefined;
  const known = {
    total: start,
    raised: [] as number[],
    said: [] as (string | undefined)[],
    adds: 0,
    onAdd: (): void => undefined,
    results: (_why?: string): void => undefined,
  };
  const broken = { engine: false, place: false };
  const counter = new SubmissionCounter({
    clock: {
      now: () => now,
      at: (at, ring) => {
        alarm = { at, ring };
        return () => {
          alarm = undefined;
        };
      },
    },
    add: (count) => {
      known.adds += 1;
      known.onAdd();
      if (broken.engine) return Promise.reject(new Error('away'));
      known.total += count;
      return Promise.resolve(known.total);
    },
    raise: (total) => {
      if (broken.place) return Promise.reject(new Error('read-only'));
      known.raised.push(total);
      return Promise.resolve();
    },
    results: {
      onAway: (listener) => {
        known.results = listener;
        return () => undefined;
      },
    },
  });
  counter.onAway((why) => known.said.push(why));
  const pass = async (ms: number): Promise<void> => {
    const until = now + ms;
    while (alarm !== undefined && alarm.at <= until) {
      const { at, ring } = alarm;
      now = at;
      alarm = undefined;
      ring();
      for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    now = until;
  };
  return { counter, known, broken, pass };
}

describe('the submission counter of a worker', () => {
  it('writes once a second, however many submissions there are', async () => {
    const { counter, known, pass } = counting(40);
    for (let sent = 0; sent < 100; sent += 1) {
      counter.note();
      await pass(50);
    }
    expect(known.raised.length).toBeLessThanOrEqual(5);
    expect(known.raised[0]).toBe(60);
    await pass(1000);
    expect(known.raised.at(-1)).toBe(140);
    const { adds } = known;
    await pass(60_000);
    expect(known.adds).toBe(adds);
    counter.note();
    await counter.stop();
    expect(known.raised.at(-1)).toBe(141);
  });

  it('counts every submission, also those during a write', async () => {
    const { counter, known, pass } = counting();
    known.onAdd = () => {
      if (known.adds < 4) counter.note();
    };
    counter.note();
    await pass(10_000);
    expect([known.total, known.raised]).toEqual([4, [1, 2, 3, 4]]);
  });

  it('waits for an unavailable engine, and writes nothing beside the results before that', async () => {
    const { counter, known, broken, pass } = counting();
    broken.engine = true;
    counter.note();
    await pass(3500);
    expect([known.adds, known.raised, known.said]).toEqual([3, [], []]);
    broken.engine = false;
    await pass(1000);
    expect(known.raised).toEqual([1]);
  });

  it('stops new submissions while the place of the results cannot be written, and says so once', async () => {
    const { counter, known, broken, pass } = counting();
    broken.place = true;
    counter.note();
    await pass(3500);
    expect([known.adds, known.raised, known.said]).toEqual([1, [], [expect.stringContaining('read-only')]]);
    expect(counter.isAway).toBe(true);
    broken.place = false;
    await pass(1000);
    expect([known.raised, known.said.length, known.said[1], counter.isAway]).toEqual([
      [1],
      2,
      undefined,
      false,
    ]);
    broken.place = true;
    counter.note();
    await counter.stop();
    expect(known.said).toHaveLength(3);
  });

  it('does not end another trouble of the place', async () => {
    const { counter, known, broken, pass } = counting();
    broken.place = true;
    counter.note();
    await pass(1000);
    known.results('the bucket is away');
    broken.place = false;
    await pass(1000);
    expect(known.said.slice(1)).toEqual(['the bucket is away', 'the bucket is away']);
    known.results();
    expect([known.said.at(-1), counter.isAway]).toEqual([undefined, false]);
  });
});
