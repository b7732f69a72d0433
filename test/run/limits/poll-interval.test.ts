import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { PollPace, paceOf } from '../../../src/run/limits/poll-interval.ts';
import { clickRecord, imagineRecord } from '../../rig/jobs.ts';

const bounds = { minMs: 1000, maxMs: 15_000 };

/** Looks until the task of that duration is seen finished. */
function looks(
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

  it('asks less often once it knows how long such tasks take, and is not much later for it', () => {
    const novice = looks(new PollPace(bounds), 'imagine', 60_000);
    const pace = new PollPace(bounds);
    for (let n = 0; n < 50; n++) pace.learn('imagine', 60_000 + (n % 5) * 500);
    const expert = looks(pace, 'imagine', 60_000);
    expect(expert.count).toBeLessThan(novice.count);
    expect(expert.lateMs).toBeLessThanOrEqual(3000);
  });

  it('learns each kind of task for itself', () => {
    const pace = new PollPace(bounds);
    for (let n = 0; n < 50; n++) pace.learn('imagine', 600_000);
    expect(pace.nextMs('click U', 0)).toBe(bounds.minMs);
    expect(pace.nextMs('imagine', 0)).toBe(bounds.maxMs);
  });
});

describe('paceOf', () => {
  type Press = Extract<JobRecord['request'], { readonly kind: 'click' }>['press'];
  const of = (press: Press): string => paceOf(clickRecord({ request: { kind: 'click', press, fields: {} } }));

  it('tells kinds of work apart by what is pressed first, its numbers aside', () => {
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
  });
});
