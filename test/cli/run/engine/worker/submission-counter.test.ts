import { describe, expect, it } from 'vitest';
import { SubmissionCounter } from '../../../../../src/cli/run/engine/worker/submission-counter.ts';

/** A counter whose time the test turns on. */
function counting(start = 0) {
  let now = 0;
  let alarm: { readonly at: number; readonly ring: () => void } | undefined;
  const known = { total: start, raised: [] as number[], faults: [] as unknown[], adds: 0 };
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
      if (broken.engine) return Promise.reject(new Error('away'));
      known.total += count;
      return Promise.resolve(known.total);
    },
    raise: (total) => {
      if (broken.place) return Promise.reject(new Error('read-only'));
      known.raised.push(total);
      return Promise.resolve();
    },
    onFault: (error) => known.faults.push(error),
  });
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

describe('the submissions of a worker', () => {
  it('are counted once a second, however many there are', async () => {
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

  it('wait for an engine that is away, and are said nowhere else before it has them', async () => {
    const { counter, known, broken, pass } = counting();
    broken.engine = true;
    counter.note();
    await pass(3500);
    expect([known.adds, known.raised, known.faults]).toEqual([3, [], []]);
    broken.engine = false;
    await pass(1000);
    expect(known.raised).toEqual([1]);
  });

  it('are said again where their place cannot be written, which is told once', async () => {
    const { counter, known, broken, pass } = counting();
    broken.place = true;
    counter.note();
    await pass(3500);
    expect([known.adds, known.raised, known.faults]).toEqual([1, [], [new Error('read-only')]]);
    broken.place = false;
    await pass(1000);
    expect(known.raised).toEqual([1]);
    broken.place = true;
    counter.note();
    await counter.stop();
    expect(known.faults).toHaveLength(2);
  });
});
