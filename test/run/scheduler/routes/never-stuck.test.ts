import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../../../src/run/events.ts';
import type { Job } from '../../../../src/run/machine/job.ts';
import { RouteLanes } from '../../../../src/run/scheduler/routes/lanes.ts';
import type { RouteSignal } from '../../../../src/run/scheduler/routes/outcome.ts';
import type { ToldLimit } from '../../../../src/service/http/told.ts';
import { epoch, imagineRecord, job, textRecord } from '../../../rig/jobs.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';

const { retry } = virtualSettings();
const noKnown = { atOnce: 32, rate: undefined, shared: undefined, before: undefined };
const models = ['a', 'b'] as const;

/** What becomes of a request: what its route notes, or nothing. A slice may be lost, and a job take another place. */
const result: fc.Arbitrary<RouteSignal | 'nothing'> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'served' } as const) },
  { weight: 4, arbitrary: fc.constant({ kind: 'throttled', reason: '429' } as const) },
  fc
    .integer({ min: 0, max: 200_000 })
    .map((retryAfterMs) => ({ kind: 'throttled', reason: '429', retryAfterMs }) as const),
  { weight: 2, arbitrary: fc.constant({ kind: 'trouble', reason: '502' } as const) },
  fc.constant({ kind: 'trouble', reason: 'code 5', isUnclear: true } as const),
  fc.constant({ kind: 'unreachable', reason: 'refused' } as const),
  fc.constant({ kind: 'full' } as const),
  fc.constant({ kind: 'quota', reason: 'empty' } as const),
  fc.constant({ kind: 'refused', words: '400' } as const),
  { weight: 2, arbitrary: fc.constant('nothing' as const) },
);

const told: fc.Arbitrary<readonly ToldLimit[]> = fc.oneof(
  { weight: 9, arbitrary: fc.constant([]) },
  fc
    .record({
      limit: fc.integer({ min: 1, max: 20 }),
      remaining: fc.integer({ min: 0, max: 20 }),
      resetMs: fc.integer({ min: 0, max: 120_000 }),
    })
    .map((one) => [{ of: 'requests' as const, ...one }]),
);

/** A step of a history: requests leave, as many as may; time passes; one of those under way has its result, or its task ends. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ leave: fc.integer({ min: 1, max: 40 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      passMs: fc.oneof(fc.integer({ max: 300, min: 0 }), fc.integer({ max: 60_000, min: 0 })),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ which: fc.nat(1000), result, told, times: fc.integer({ min: 1, max: 12 }) }),
  },
  { weight: 2, arbitrary: fc.record({ ends: fc.nat(1000) }) },
);

type Step =
  | { leave: number }
  | { passMs: number }
  | { which: number; result: RouteSignal | 'nothing'; told: readonly ToldLimit[]; times: number }
  | { ends: number };

/** The lanes of a route with more jobs in each than ever leave. */
class History {
  now = epoch;
  readonly #jobs = new Map<string, Job>();
  readonly lanes: RouteLanes;
  readonly underWay: string[] = [];
  readonly tasks: string[] = [];
  readonly #isSubmit: boolean;

  constructor(name: Route, found: { readonly atOnce?: number; readonly perMinute?: number }) {
    this.#isSubmit = name === 'submit';
    this.lanes = new RouteLanes(name, noKnown, retry, this.#jobs, () => found);
    for (let n = 0; n < 600; n += 1) {
      const key = `k${n}`;
      const one =
        name === 'text'
          ? job(textRecord({ key, request: { kind: 'generate', fields: { model: models[n % 2] ?? '' } } }), {
              nextRequest: { kind: 'ask' },
            })
          : job(imagineRecord({ key }), { nextRequest: { kind: 'submit' } });
      this.#jobs.set(key, one);
      this.lanes.join(one);
    }
  }

  do(step: Step): void {
    if ('leave' in step) for (let n = 0; n < step.leave && this.leave(); n += 1);
    else if ('passMs' in step) this.now += step.passMs;
    else if ('ends' in step) this.end(step.ends);
    else for (let n = 0; n < step.times; n += 1) this.answer(step.which, step.result, step.told);
  }

  leave(): boolean {
    const queue = this.lanes.next(this.now)?.queue;
    const key = queue?.front()?.record.key;
    if (queue === undefined || key === undefined) return false;
    queue.leave();
    this.lanes.onSent(this.#jobs.get(key), key, this.now);
    this.underWay.push(key);
    return true;
  }

  answer(which: number, result: RouteSignal | 'nothing', told: readonly ToldLimit[]): void {
    const [key] = this.underWay.splice(which % Math.max(1, this.underWay.length), 1);
    if (key === undefined) return;
    const isThrottled = result !== 'nothing' && result.kind === 'throttled';
    const { lane } = this.lanes.onResult(key, this.now, told, isThrottled);
    if (result !== 'nothing') this.lanes.note(lane, result, this.now, key);
    if (this.#isSubmit && result !== 'nothing' && result.kind === 'served') this.tasks.push(key);
    else lane.pace.withdraw(key, this.now);
  }

  end(which: number): void {
    const [key] = this.tasks.splice(which % Math.max(1, this.tasks.length), 1);
    if (key !== undefined) this.lanes.lane().pace.ended(key, this.now);
  }
}

describe('a route', () => {
  it.each(['submit', 'text', 'poll', 'download'] as const)(
    'of %s requests sends again at some time once nothing is under way, whatever became of those before',
    (name) => {
      fc.assert(
        fc.property(
          fc.record(
            { atOnce: fc.integer({ min: 1, max: 3 }), perMinute: fc.integer({ min: 1, max: 900 }) },
            { requiredKeys: [] },
          ),
          fc.array(step, { maxLength: 60 }),
          fc.oneof(fc.constant('nothing' as const), result),
          (found, steps, last) => {
            const history = new History(name, found);
            for (const one of steps) history.do(one);
            while (history.underWay.length > 0) history.answer(0, last, []);
            while (history.tasks.length > 0) history.end(0);
            const { lanes } = history;
            for (const lane of lanes.all()) {
              // A moment may only show that a rest begins.
              let at = history.now;
              for (let looks = 0; looks < 5 && !lane.maySend(at); looks += 1) {
                const next = lane.nextAt(at);
                expect(next).toBeGreaterThan(at);
                expect(next - at).toBeLessThanOrEqual(3_600_000);
                at = next;
              }
              expect(lane.maySend(at)).toBe(true);
            }
            const hasNext = lanes.next(history.now) !== undefined;
            expect(hasNext || lanes.nextAfter(history.now) < Infinity).toBe(true);
          },
        ),
        { numRuns: 100 },
      );
    },
  );
});
