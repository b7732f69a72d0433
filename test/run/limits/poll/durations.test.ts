import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  binOf,
  bins,
  DurationHistogram,
  edge,
  logMiddle,
  spreadOver,
} from '../../../../src/run/limits/poll/durations.ts';

const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((all, one) => all + one, 0);
const interval = fc.tuple(
  fc.double({ min: 0, max: 4e7, noNaN: true }),
  fc.double({ min: 0, max: 4e7, noNaN: true }),
);

describe('the bins of durations', () => {
  it('hold each duration between their edges', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: edge(bins) - 1, noNaN: true }), (ms) => {
        const bin = binOf(ms);
        expect(edge(bin)).toBeLessThanOrEqual(ms * (1 + 1e-9) + 1e-9);
        expect(edge(bin + 1)).toBeGreaterThanOrEqual(ms * (1 - 1e-9));
      }),
    );
    expect([binOf(0), binOf(-1), binOf(1e12)]).toEqual([0, 0, bins - 1]);
    expect(binOf(Math.exp(logMiddle(100)))).toBe(100);
  });

  it('distribute an end among them without a loss', () => {
    fc.assert(
      fc.property(interval, ([a, b]) => {
        const parts: number[] = [];
        spreadOver(Math.min(a, b), Math.max(a, b), (_, part) => parts.push(part));
        expect(sum(parts)).toBeCloseTo(1, 6);
        expect(Math.min(...parts)).toBeGreaterThanOrEqual(-1e-9);
      }),
    );
  });
});

describe('DurationHistogram', () => {
  it('has as many numbers after a million ends as after one', () => {
    const histogram = new DurationHistogram(80);
    for (let n = 0; n < 20_000; n++) histogram.add(n, 2 * n);
    expect(histogram.counts.length).toBeLessThanOrEqual(bins);
    expect(sum(histogram.counts.map(([, weight]) => weight))).toBeCloseTo(80, 0);
  });

  it('is a distribution once smoothed, whatever its input', () => {
    fc.assert(
      fc.property(fc.array(interval, { minLength: 1, maxLength: 40 }), (ends) => {
        const histogram = new DurationHistogram(20);
        for (const [a, b] of ends) histogram.add(Math.min(a, b), Math.max(a, b));
        const smooth = histogram.smoothed();
        expect(sum(smooth)).toBeCloseTo(1, 4);
        expect(Math.min(...smooth)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('forgets old ends: its median follows a change', () => {
    const histogram = new DurationHistogram(20);
    for (let n = 0; n < 200; n++) histogram.add(59_000, 61_000);
    expect(histogram.quantile(0.5)).toBeGreaterThan(59_000);
    for (let n = 0; n < 40; n++) histogram.add(119_000, 121_000);
    expect(histogram.quantile(0.5)).toBeGreaterThan(118_000);
    expect(histogram.typicalMs).toBeGreaterThan(100_000);
  });

  it('has quantiles in order', () => {
    fc.assert(
      fc.property(fc.array(interval, { minLength: 1, maxLength: 20 }), (ends) => {
        const histogram = new DurationHistogram(20);
        for (const [a, b] of ends) histogram.add(Math.min(a, b), Math.max(a, b));
        const found = [0.1, 0.25, 0.5, 0.75, 0.9].map((share) => histogram.quantile(share));
        expect(found).toEqual(found.toSorted((a, b) => a - b));
      }),
    );
  });

  it('continues from the saved counts of another one', () => {
    const first = new DurationHistogram(80);
    for (let n = 0; n < 30; n++) first.add(50_000 + n * 500, 52_000 + n * 500);
    const second = new DurationHistogram(80);
    second.restore(first.counts, 30);
    expect(second.quantile(0.5)).toBeCloseTo(first.quantile(0.5), 3);
    expect(sum(second.counts.map(([, weight]) => weight))).toBeCloseTo(30, 6);
    const none = new DurationHistogram(80);
    none.restore([], 30);
    expect(none.isEmpty).toBe(true);
  });
});
