import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Timeline } from '../../../../src/report/results/counts/timeline.ts';

const start = Date.UTC(2026, 0, 1);
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

describe('a timeline', () => {
  it('has a point for each second of a short run, with the jobs then in flight', () => {
    const timeline = new Timeline();
    timeline.begin(start + 200);
    timeline.begin(start + 900);
    timeline.leave(start + 2_100);
    timeline.end(start + 2_100, false);
    timeline.spend(start + 2_100, 0.5);
    timeline.leave(start + 3_000);
    timeline.end(start + 3_000, true);
    expect(timeline.charts()).toEqual({
      secondsPerPoint: 1,
      from: start,
      finished: [0, 0, 1, 1],
      failed: [0, 0, 0, 1],
      inFlight: [2, 2, 1, 0],
      cost: [0, 0, 0.5, 0.5],
    });
  });

  it('is empty without events, and has no cost without prices', () => {
    expect(new Timeline().charts()).toEqual({
      secondsPerPoint: 1,
      finished: [],
      failed: [],
      inFlight: [],
      cost: [],
    });
    const timeline = new Timeline();
    timeline.end(start, false);
    expect(timeline.charts().cost).toEqual([]);
  });

  it('has at most 600 points for any duration and order, and loses no event', () => {
    const moment = fc.integer({ min: 0, max: 200 * 86_400_000 });
    fc.assert(
      fc.property(
        fc.array(fc.record({ at: moment, takes: fc.nat({ max: 86_400_000 }), failed: fc.boolean() })),
        (jobs) => {
          const timeline = new Timeline();
          for (const { at, takes, failed } of jobs) {
            timeline.begin(start + at);
            timeline.leave(start + at + takes);
            timeline.end(start + at + takes, failed);
            timeline.spend(start + at + takes, 1);
          }
          const { finished, failed, inFlight, cost, from, secondsPerPoint } = timeline.charts();
          expect(finished.length).toBeLessThanOrEqual(600);
          expect([failed.length, inFlight.length, cost.length]).toEqual(Array(3).fill(finished.length));
          expect(sum(finished)).toBe(jobs.length);
          expect(sum(failed)).toBe(jobs.filter((job) => job.failed).length);
          expect(inFlight.at(-1) ?? 0).toBe(0);
          expect(Math.min(0, ...inFlight)).toBe(0);
          expect(cost.at(-1) ?? 0).toBe(jobs.length);
          const first = Math.min(...jobs.map(({ at }) => start + at));
          const width = secondsPerPoint * 1000;
          expect(from).toBe(jobs.length === 0 ? undefined : Math.floor(first / width) * width);
        },
      ),
    );
  });
});
