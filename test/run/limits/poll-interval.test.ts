import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { PollPace, paceOf } from '../../../src/run/limits/poll-interval.ts';
import { clickRecord, imagineRecord } from '../../rig/jobs.ts';

const bounds = { minMs: 1000, maxMs: 15_000 };

/** Looks until the task of that duration is seen finished. */
function polls(
  pace: PollPace,
  kind: string,
  duration: number,
): { readonly count: number; readonly lateMs: number } {
  let elapsed = 0;
  let count = 0;
  while (elapsed < duration) {
    elapsed += pace.nextMs(kind, elapsed);
    count += 1;
  }
  return { count, lateMs: elapsed - duration };
}

describe('PollPace', () => {
  it('stays within its bounds whatever it has learnt', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2_000_000 }), { maxLength: 30 }),
        fc.integer({ min: 0, max: 5_000_000 }),
        (durations, elapsed) => {
          const pace = new PollPace(bounds);
          for (const duration of durations) pace.learn('imagine', duration);
          const ms = pace.nextMs('imagine', elapsed);
          expect(ms).toBeGreaterThanOrEqual(bounds.minMs);
          expect(ms).toBeLessThanOrEqual(bounds.maxMs);
        },
      ),
    );
  });

  it('polls less often once it knows the usual duration, and detects the end only a little later', () => {
    const novice = polls(new PollPace(bounds), 'imagine', 60_000);
    const pace = new PollPace(bounds);
    for (let n = 0; n < 50; n++) pace.learn('imagine', 60_000 + (n % 5) * 500);
    const expert = polls(pace, 'imagine', 60_000);
    expect(expert.count).toBeLessThan(novice.count);
    expect(expert.lateMs).toBeLessThanOrEqual(3000);
  });

  describe('of tasks that took 60 s', () => {
    const wide = { minMs: 1000, maxMs: 600_000 };
    const known = (...durations: readonly number[]): PollPace => {
      const pace = new PollPace(wide);
      for (const duration of durations) pace.learn('imagine', duration);
      return pace;
    };

    it.each([
      [0, 45_000],
      [30_000, 15_000],
      [36_000, 12_000],
      [45_001, 15_000],
      [90_000, 15_000],
      [90_001, 30_000],
      [120_001, 40_000],
      [9_000_000, 600_000],
    ])('polls a task of %i ms again after %i ms', (elapsed, ms) => {
      expect(known(60_000).nextMs('imagine', elapsed)).toBe(ms);
    });

    it('gives the newest duration a weight of a fifth', () => {
      expect(known(60_000, 70_000).nextMs('imagine', 0)).toBe(62_000 - 14_000);
      expect(known(60_000, 40_000).nextMs('imagine', 0)).toBe(56_000 - 16_000);
    });
  });

  it('polls tasks of an unknown kind after a third of their age', () => {
    const pace = new PollPace(bounds);
    expect([0, 3000, 3002, 30_000, 45_000, 45_003].map((age) => pace.nextMs('imagine', age))).toEqual([
      1000, 1000, 1001, 10_000, 15_000, 15_000,
    ]);
  });

  it('learns each kind of task separately', () => {
    const pace = new PollPace(bounds);
    for (let n = 0; n < 50; n++) pace.learn('imagine', 600_000);
    expect(pace.nextMs('click U', 0)).toBe(bounds.minMs);
    expect(pace.nextMs('imagine', 0)).toBe(bounds.maxMs);
  });
});

describe('paceOf', () => {
  type Press = Extract<JobRecord['request'], { readonly kind: 'click' }>['press'];
  const of = (press: Press): string => paceOf(clickRecord({ request: { kind: 'click', press, fields: {} } }));

  it('separates kinds of work by their first button, without its numbers', () => {
    expect(paceOf(imagineRecord())).toBe('imagine');
    expect(of([{ kind: 'text', text: 'U1' }])).toBe(of([{ kind: 'text', text: 'U4' }]));
    const kinds = [
      of([{ kind: 'text', text: 'U1' }]),
      of([{ kind: 'text', text: 'V1' }]),
      of([{ kind: 'word', word: 'reroll' }]),
      of([{ kind: 'pattern', source: 'upsample::2::' }]),
      of([]),
    ];
    expect(new Set(kinds).size).toBe(5);
    expect(of([{ kind: 'text', text: 'Upscale (2x)' }])).toBe(of([{ kind: 'text', text: 'Upscale (40x)' }]));
  });

  it('separates a click that opens a dialog from the work after the dialog', () => {
    const press = [{ kind: 'text', text: 'Vary' }] as const;
    const plain = of(press);
    const asking = clickRecord({ request: { kind: 'click', press, fields: { prompt: 'p' } } });
    const modal = {} as NonNullable<JobRecord['modal']>;
    expect(paceOf(asking)).not.toBe(plain);
    expect(paceOf({ ...asking, modal })).toBe(plain);
  });
});
