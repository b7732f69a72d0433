import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { binOf } from '../../../../src/run/limits/poll/durations.ts';
import { ProgressMap } from '../../../../src/run/limits/poll/progress-map.ts';
import type { Sightings } from '../../../../src/run/machine/job.ts';
import { levels, watchedOn } from '../../../../src/run/machine/poll/watch.ts';

const minute = 60_000;
const steps: Sightings = [1, 2, 3, 4, 5].map((step) => [step * 3, step * 9000, step * 9000 + 5000] as const);

describe('ProgressMap', () => {
  it('considers a progress most likely at the share of the time at which it was seen', () => {
    const map = new ProgressMap();
    for (let n = 0; n < 30; n++) map.learn(steps, minute);
    // 45 % is seen at 45 % of the time.
    const at = (durationMs: number): number => map.likelihood(9, binOf(27_000), binOf(durationMs));
    expect(at(minute)).toBeGreaterThan(5 * at(35_000));
    expect(at(minute)).toBeGreaterThan(5 * at(120_000));
  });

  it('learns that a constant progress predicts nothing', () => {
    const map = new ProgressMap();
    for (let n = 0; n < 100; n++)
      for (const part of [0.1, 0.3, 0.5, 0.7, 0.9]) map.learn([[9, part * minute, part * minute]], minute);
    const likely = [65_000, 90_000, 180_000].map((durationMs) =>
      map.likelihood(9, binOf(54_000), binOf(durationMs)),
    );
    expect(Math.max(...likely) / Math.min(...likely)).toBeLessThan(1.5);
  });

  it('is a distribution over the levels for each duration, whatever it has learned', () => {
    const sighting = fc.record({
      level: fc.integer({ min: 0, max: levels - 1 }),
      first: fc.nat(1e6),
      more: fc.nat(1e5),
      durationMs: fc.nat(2e6),
    });
    fc.assert(
      fc.property(fc.array(sighting, { maxLength: 30 }), fc.nat(1e6), fc.nat(1e6), (all, ageMs, more) => {
        const map = new ProgressMap();
        for (const { level, first, more: later, durationMs } of all)
          map.learn([[level, first, first + later]], durationMs);
        let sum = 0;
        for (let level = 0; level < levels; level++)
          sum += map.likelihood(level, binOf(ageMs), binOf(ageMs + more));
        expect(sum).toBeCloseTo(1, 6);
      }),
    );
  });

  it('continues from the saved counts of another one', () => {
    const first = new ProgressMap();
    for (let n = 0; n < 10; n++) first.learn(steps, minute);
    const second = new ProgressMap();
    second.restore(first.counts);
    expect(second.likelihood(9, binOf(27_000), binOf(minute))).toBeCloseTo(
      first.likelihood(9, binOf(27_000), binOf(minute)),
      2,
    );
    expect(second.counts).toEqual(first.counts);
  });
});

describe('the progress shown by polls of a task', () => {
  it('is one sighting for each level, at most', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.double({ min: 0, max: 999, noNaN: true }))), (all) => {
        let watch = watchedOn(undefined, 0, undefined);
        for (const [at, progress] of all.entries())
          watch = watchedOn(watch, at * 1000, progress ?? undefined);
        expect(watch.seen.length).toBeLessThanOrEqual(levels);
        const seen = watch.seen.map(([level]) => level);
        expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
      }),
    );
  });

  it('keeps the first and the last sighting of a level, and ignores a progress that falls back', () => {
    let watch = watchedOn(undefined, 1000, 15);
    watch = watchedOn(watch, 2000, 17);
    watch = watchedOn(watch, 3000, 31);
    watch = watchedOn(watch, 4000, 15);
    watch = watchedOn(watch, 5000, undefined);
    expect(watch).toEqual({
      ageMs: 5000,
      seen: [
        [3, 1000, 2000],
        [6, 3000, 3000],
      ],
    });
  });
});
