import type { Cell } from '../../../src/plan/cell.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { RunEvent } from '../../../src/run/events.ts';
import { serviceText } from '../../../src/run/limits/learned-limits.ts';
import { become, type Job, type RecordChanges } from '../../../src/run/machine/job.ts';
import type { RunSettings } from '../../../src/run/ports.ts';
import { visitDueCells } from '../../../src/run/scheduler/cell-admission.ts';
import { isPaid, type RunCommit } from '../../../src/run/scheduler/commit.ts';
import { placeJob } from '../../../src/run/scheduler/place-job.ts';
import {
  initialState,
  type SchedulerOptions,
  type SchedulerState,
} from '../../../src/run/scheduler/state/state.ts';
import { gridButtons } from '../../rig/fake-task.ts';
import { epoch } from '../../rig/jobs.ts';
import { planOf } from '../../rig/plan.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';

/** A pipeline of one text call in each cell. */
export const captions = (cells: number): string => `name: t
matrix: { n: { from: 1, to: ${cells} } }
steps: { caption: { generate: { prompt: "Say {{ n }}", model: text-pro } } }
`;

/** The state of a run of a pipeline of which nothing was begun, and that was given all its cells. */
export interface SchedulerRig {
  readonly state: SchedulerState;
  readonly cells: readonly Cell[];
  /** Key of the job of a cell that is pressed on such a branch; of the root without one; of the first such step without a name. */
  readonly keyOf: (cell: number, branch?: string, step?: string) => string;
}

/** The options of a scheduler of a pipeline, and the pipeline's cells. */
export async function optionsOf(
  text: string,
  settings: Partial<RunSettings> = {},
  /** What is durable of the jobs when the run begins, by their keys. */
  durable: (key: string) => JobRecord | undefined = () => undefined,
  changes: Partial<SchedulerOptions> = {},
): Promise<{ readonly options: SchedulerOptions; readonly cells: readonly Cell[] }> {
  const { plan, cells } = await planOf(text);
  const options: SchedulerOptions = {
    settings: virtualSettings(settings),
    startedAt: epoch,
    invocation: 2,
    random: () => 0.5,
    resolve: (cell, lookup) => plan.resolve(cell, lookup),
    lookup: durable,
    redo: () => undefined,
    price: () => undefined,
    spent: { attempts: 0, cost: 0, possibleCost: 0, tokens: 0, assumedTokens: 0 },
    // An earlier run was served: nothing goes one at a time.
    learned: {
      service: serviceText({
        address: '',
        served: ['submit/imagine', 'text/text-pro'],
        hasAnswered: true,
        showsButtons: false,
      }),
    },
    ...changes,
  };
  return { options, cells };
}

/** The state of a run that was given all its cells and has begun nothing. */
export async function schedulerRig(...given: Parameters<typeof optionsOf>): Promise<SchedulerRig> {
  const { options, cells } = await optionsOf(...given);
  const state = initialState(options);
  state.cells.incoming.push(...cells);
  state.cells.areAllGiven = true;
  const keyOf = (number: number, branch = '', step?: string): string => {
    const cell = cells[number - 1];
    if (cell === undefined) throw new Error(`no cell ${number}`);
    const slot = options
      .resolve(cell, state.lookup)
      .filter((one) => step === undefined || one.step === step)
      .find((one) => one.branch.join('/') === branch && one.job !== undefined);
    if (slot?.job === undefined) throw new Error(`no job at "${branch}"`);
    return slot.job.key;
  };
  return { state, cells, keyOf };
}

/** The active job of a key. */
export function jobOf({ jobs }: SchedulerState, key: string): Job {
  const job = jobs.get(key);
  if (job === undefined) throw new Error(`no active job ${key}`);
  return job;
}

/** Settles an active job, with the buttons of a grid where it is done. */
export function settleJob(
  state: SchedulerState,
  key: string,
  status: 'done' | 'failed' = 'done',
  changes: RecordChanges = {},
): void {
  const job = jobOf(state, key);
  const record = become(job.record, status, {
    ...(status === 'done' && { taskId: '7', result: { buttons: gridButtons(7) } }),
    invocation: 2,
    ...changes,
  });
  placeJob(state, job, { ...job, record, nextRequest: { kind: 'nothing' } });
  visitDueCells(state);
}

/** Events of some types, as far as they were decided since the last call of `take`. */
export const eventsOf = <T extends RunEvent['type']>(
  { events }: RunCommit,
  ...types: readonly T[]
): Extract<RunEvent, { type: T }>[] =>
  events.filter((event): event is Extract<RunEvent, { type: T }> =>
    (types as readonly string[]).includes(event.type),
  );

/** Keys of the submissions and text calls of a commit, in the order in which they leave. */
export const paidKeys = ({ effects }: RunCommit): readonly string[] =>
  effects.filter(isPaid).map(({ job }) => job.record.key);
