import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Deferrals,
  type Job,
  type NextRequest,
  takesTaskSlot,
} from '../../../../src/run/machine/job.ts';
import { ActiveJobs } from '../../../../src/run/scheduler/state/active-jobs.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../../rig/jobs.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';

const answer: NextRequest = { kind: 'answer' };
const rest = (next: NextRequest): NextRequest => ({ kind: 'wait', until: epoch + 5000, next });
const tally = { served: 0, firsts: 0, firstsServed: 0 };
const once: Deferrals = { times: 1, own: 0, since: epoch, before: tally, served: 0 };

/** Any job that a state can hold. */
const anyJob = fc
  .record({
    record: fc.constantFrom(imagineRecord, clickRecord, textRecord),
    status: fc.constantFrom('pending', 'submitting', 'running', 'modal', 'saving', 'in-doubt'),
    nextRequest: fc.constantFrom<NextRequest>(
      answer,
      { kind: 'task-slot' },
      { kind: 'submit' },
      { kind: 'ask' },
      rest({ kind: 'task-slot' }),
      rest({ kind: 'submit' }),
      { kind: 'wait', until: Number.POSITIVE_INFINITY, next: { kind: 'task-slot' } },
    ),
    tries: fc.nat(1),
    route: fc.constantFrom(undefined, 'submit', 'text', 'poll', 'download'),
    lost: fc.constantFrom(undefined, undefined, undefined, 'held', 'gone'),
    hasModal: fc.boolean(),
  } as const)
  .map(({ record, status, tries, hasModal, nextRequest, route, lost }): Job => {
    const changes = { status, tries, ...(hasModal && { modal: { taskId: 'M', sent: 0 } }) } as const;
    return job(record(changes), {
      nextRequest: { ...nextRequest },
      ...(route && { deferrals: { [route]: once } }),
      ...(lost && { lost }),
    });
  });

const limits = { tasks: 2, requests: 2 };
const activeJobs = (): ActiveJobs => new ActiveJobs(virtualSettings({ limits }), () => 1);
const figures = (jobs: ActiveJobs) => ({
  inFlight: jobs.inFlight,
  tasksInFlight: jobs.tasksInFlight,
  tasksOnService: jobs.tasksOnService,
  backlog: jobs.backlog,
  isActive: jobs.isActive,
  hasFreeSlot: jobs.hasFreeSlot,
  mayOpenCell: jobs.mayOpenCell(epoch),
});

/** The same, counted from the jobs. */
function counted(all: readonly Job[], isForgetting: boolean): ReturnType<typeof figures> {
  const of = (...conditions: readonly ((one: Job) => boolean)[]): number =>
    all.filter((one) => conditions.every((is) => is(one))).length;
  const isText = ({ record }: Job): boolean => record.kind === 'generate';
  const is =
    (...statuses: readonly string[]) =>
    ({ record }: Job): boolean =>
      statuses.includes(record.status);
  const goesOn = ({ nextRequest: next }: Job): boolean => next.kind !== 'wait' || Number.isFinite(next.until);
  const slots = [goesOn, takesTaskSlot];
  const isUnsent = (one: Job): boolean => is('pending', 'submitting')(one) && one.record.modal === undefined;
  const isDeferred = (one: Job): boolean =>
    isUnsent(one) && ['submit', 'text', 'poll'].some((route) => route in (one.deferrals ?? {}));
  const isTried = (one: Job): boolean => isUnsent(one) && !isText(one) && one.record.tries > 0;
  const isNew = (one: Job): boolean => !isDeferred(one) && !isTried(one);
  const isOutside = (one: Job): boolean =>
    !isNew(one) || (one.nextRequest.kind === 'wait' && one.nextRequest.next.kind === 'task-slot');
  const wantsSlot = ({ nextRequest }: Job): boolean => nextRequest.kind === 'task-slot';
  const saving = of(is('saving'));
  const hasPlace = saving < 32;
  const tasksInFlight = of(...slots);
  const lost = of(...slots, (one) => one.lost !== undefined);
  const beginning = of(...slots, isNew, (one) => one.lost === undefined) + of(goesOn, wantsSlot, isNew);
  const texts = of(goesOn, isText, (one) => !isOutside(one));
  return {
    inFlight: { tasks: of(is('running', 'modal')), requests: of(is('submitting')) },
    tasksInFlight,
    tasksOnService: of(...slots, is('running', 'modal')),
    backlog: saving / 32,
    isActive: of(goesOn, (one) => !isText(one) && one.record.status !== 'saving') > 0,
    hasFreeSlot: hasPlace && (isForgetting ? tasksInFlight - lost < 1 : tasksInFlight < limits.tasks),
    mayOpenCell: hasPlace && beginning < limits.tasks && of(goesOn, isOutside) < 8 && texts < limits.requests,
  };
}

describe('the figures of the active jobs', () => {
  const keyed = (all: readonly Job[]): readonly Job[] =>
    all.map((one, at) => ({ ...one, record: { ...one.record, key: `k${at}` } }));

  it('are those that are counted from the jobs', () => {
    fc.assert(
      fc.property(fc.array(anyJob, { maxLength: 5 }), fc.boolean(), (some, isForgetting) => {
        const jobs = activeJobs();
        jobs.isForgetting = isForgetting;
        const all = keyed(some);
        for (const one of all) {
          jobs.put(one);
          jobs.enqueue(one);
        }
        expect(figures(jobs)).toEqual(counted(all, isForgetting));
      }),
      { numRuns: 500 },
    );
  });

  it('depend only on the jobs that are left, however these have changed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(3), fc.option(anyJob, { freq: 4 })), { maxLength: 12 }),
        fc.boolean(),
        (steps, isForgetting) => {
          const jobs = activeJobs();
          jobs.isForgetting = isForgetting;
          for (const [at, one] of steps) {
            const key = `k${at}`;
            if (one === null) jobs.drop(key);
            else jobs.put({ ...one, record: { ...one.record, key } });
          }
          const anew = activeJobs();
          for (const one of jobs.all()) anew.put(one);
          anew.isForgetting = isForgetting;
          expect(figures(jobs)).toEqual(figures(anew));
        },
      ),
      { numRuns: 300 },
    );
  });
});
