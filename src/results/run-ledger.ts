import { type IsOptional, missingCode, neverOptional } from '../plan/graph/optional.ts';
import { isSettled, type JobStatus, type TokenUsage } from '../plan/job.ts';
import { type CountedStatus, slotStatuses } from '../plan/slot.ts';
import { addUsage, usageSince } from '../plan/usage.ts';
import type { RunEvent } from '../run/events.ts';

/** The state of a run before it begins. */
export interface RunBefore {
  /** The steps, with jobs counted by their status in the state. */
  readonly steps: readonly StepNow[];
  /** Whether a button is optional; default: no button is. */
  readonly isOptional?: IsOptional;
  /** Keys of planned jobs that an earlier run left under way; other such jobs are followed but not planned. Absent: not known. */
  readonly followed?: ReadonlySet<string>;
}

/** The status that a job or slot is counted under; pending ones are not counted. */
export type Counted = Exclude<CountedStatus, 'pending'>;

export const countedStatuses: readonly Counted[] = [
  ...slotStatuses.filter((status) => status !== 'pending'),
  'accepted',
];

/** The progress of a step. */
export interface StepNow {
  readonly name: string;
  /** True if its requests are text calls, false if they are tasks. */
  readonly isText: boolean;
  /** Expected number of jobs, including slots without a job; absent while it is not known. */
  readonly total?: number;
  /** Number of jobs by status; for skipped, blocked, accepted and never sent failed ones, number of slots. */
  readonly counts: Readonly<Record<Counted, number>>;
}

/** The progress of a step before any run. */
export const noCounts = Object.fromEntries(countedStatuses.map((status) => [status, 0])) as StepNow['counts'];

/** Returns the number of image tasks, or of text calls, that the service works on. */
export const inFlight = (steps: readonly StepNow[], isText: boolean): number =>
  steps
    .filter((step) => step.isText === isText)
    .reduce((sum, { counts }) => sum + counts.submitting + counts.running + counts.modal, 0);

type JobChange = Extract<RunEvent, { type: 'job:status' }>;
type SlotChange = Extract<RunEvent, { type: 'slot:status' }>;

/** A job that is not settled, as of its last event. */
interface OpenJob {
  /** True for a job that is not planned, and is followed because an earlier run left it under way. */
  readonly isStray: boolean;
  readonly as: Counted | undefined;
  readonly cost: number;
  readonly usage: TokenUsage;
}

/** The counts and sums of one run, from its events: jobs by step and status, and spending. It keeps only the jobs that are not settled. */
export class RunLedger {
  readonly #steps: ReadonlyMap<
    string,
    Omit<StepNow, 'counts'> & { readonly counts: Record<Counted, number> }
  >;
  readonly #isOptional: IsOptional;
  readonly #followed: ReadonlySet<string> | undefined;
  readonly #open = new Map<string, OpenJob>();
  #cost: number | undefined;
  #tokens: TokenUsage | undefined;

  constructor({ steps, isOptional = neverOptional, followed }: RunBefore) {
    this.#isOptional = isOptional;
    this.#followed = followed;
    this.#steps = new Map(steps.map((step) => [step.name, { ...step, counts: { ...step.counts } }]));
  }

  /** Progress of the steps, in file order. */
  get steps(): readonly StepNow[] {
    return [...this.#steps.values()];
  }

  /** Cost of the run so far; undefined: no price is known. */
  get cost(): number | undefined {
    return this.#cost;
  }

  /** Tokens of the run so far; undefined: none was counted. */
  get tokens(): TokenUsage | undefined {
    return this.#tokens;
  }

  /** Records a new status of a job. @returns the status that it is counted under now */
  move(event: JobChange): Counted | undefined {
    const { key, from, to, error, cost, usage = {}, accepted } = event;
    const open = this.#open.get(key);
    this.#spend(open, cost, usage);
    const isMissing = to === 'failed' && error?.code === missingCode && this.#isOptional(event);
    const as = isMissing ? 'skipped' : accepted ? 'accepted' : to === 'pending' ? undefined : to;
    // A job that was killed during its submission counts as in doubt, unless flags have it made again.
    const isRecovered = open === undefined && from === 'submitting' && to === 'in-doubt';
    const isStray = open?.isStray ?? (isLeft(from ?? to) && this.#followed?.has(key) === false);
    if (isSettled(to) && !isRecovered) this.#open.delete(key);
    else this.#open.set(key, { as: isRecovered ? undefined : as, cost: cost ?? 0, usage, isStray });
    const counts = this.#steps.get(event.step)?.counts;
    if (counts === undefined || isRecovered) return as;
    // A job that an earlier run left under way is not counted before its first event.
    const was = open?.as ?? settledAs(from);
    if (was !== undefined) counts[was] = Math.max(0, counts[was] - 1);
    if (as !== undefined && !(isStray && isSettled(to))) counts[as] += 1;
    return as;
  }

  /** Records a slot that gets no job, or none that can be made. */
  ruleOut({ step, status, accepted }: SlotChange): void {
    const counts = this.#steps.get(step)?.counts;
    if (counts !== undefined && status !== 'pending') counts[accepted ? 'accepted' : status] += 1;
  }

  #spend(before: OpenJob | undefined, cost: number | undefined, usage: TokenUsage): void {
    // Earlier runs paid for the job as it was when this run took it up.
    if (before === undefined) return;
    const more = (cost ?? 0) - before.cost;
    // The price of a rejected submission is subtracted again.
    if (cost !== undefined || more !== 0) this.#cost = Math.max(0, (this.#cost ?? 0) + more);
    const added = usageSince(before.usage, usage);
    if (Object.keys(added).length > 0) this.#tokens = addUsage(this.#tokens, added);
  }
}

/** Whether a job has a task from an earlier run, which this run follows whether it is planned or not. */
const isLeft = (status: JobStatus | undefined): boolean =>
  status === 'running' || status === 'modal' || status === 'saving';

const settledAs = (status: JobStatus | undefined): Counted | undefined =>
  status === 'done' || status === 'failed' || status === 'in-doubt' ? status : undefined;
