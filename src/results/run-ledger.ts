import { type IsOptional, missingCode, neverOptional } from '../plan/graph/optional.ts';
import { isSettled, type JobStatus, type TokenUsage } from '../plan/job.ts';
import { type SlotStatus, slotStatuses } from '../plan/slot.ts';
import { addUsage, usageSince } from '../plan/usage.ts';
import type { RunEvent } from '../run/events.ts';

/** A run before it begins. */
export interface RunBefore {
  /** Jobs by what the state says of them. */
  readonly steps: readonly StepNow[];
  /** Default: no button is. */
  readonly isOptional?: IsOptional;
  /** Keys of the planned jobs that an earlier run has left under way: others are followed too, and are none of the plan. Absent: not known. */
  readonly followed?: ReadonlySet<string>;
}

/** What a job or a slot counts as once a run has it; a pending one is not counted. */
export type Counted = Exclude<SlotStatus, 'pending'>;

export const countedStatuses: readonly Counted[] = slotStatuses.filter((status) => status !== 'pending');

/** How far a step is. */
export interface StepNow {
  readonly name: string;
  /** Its requests are text calls; else tasks. */
  readonly isText: boolean;
  /** How many jobs there will be, with slots that get none; absent while that is not known. */
  readonly total?: number;
  /** Jobs, but for the slots among those that are skipped, blocked, or failed before anything was asked. */
  readonly counts: Readonly<Record<Counted, number>>;
}

/** How far a step is that no run has begun. */
export const noCounts = Object.fromEntries(countedStatuses.map((status) => [status, 0])) as StepNow['counts'];

/** Jobs of tasks, or of text calls, that the service works on. */
export const inFlight = (steps: readonly StepNow[], isText: boolean): number =>
  steps
    .filter((step) => step.isText === isText)
    .reduce((sum, { counts }) => sum + counts.submitting + counts.running + counts.modal, 0);

type JobChange = Extract<RunEvent, { type: 'job:status' }>;
type SlotChange = Extract<RunEvent, { type: 'slot:status' }>;

/** A job that is not settled, as its last event had it. */
interface OpenJob {
  /** Not planned: it is followed because an earlier run has left it under way. */
  readonly isStray: boolean;
  readonly as: Counted | undefined;
  readonly cost: number;
  readonly usage: TokenUsage;
}

/**
 * The counts and sums of one run, from its events: jobs by step and status, what it has spent. It remembers the jobs that are not settled,
 * which are as many as are worked on.
 */
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

  /** In file order. */
  get steps(): readonly StepNow[] {
    return [...this.#steps.values()];
  }

  /** What the run has spent; undefined: no price is known. */
  get cost(): number | undefined {
    return this.#cost;
  }

  /** What its answers have used; undefined: none was counted. */
  get tokens(): TokenUsage | undefined {
    return this.#tokens;
  }

  /** A job has another status. @returns what it counts as now */
  move(event: JobChange): Counted | undefined {
    const { key, from, to, error, cost, usage = {} } = event;
    const open = this.#open.get(key);
    this.#spend(open, cost, usage);
    const isMissing = to === 'failed' && error?.code === missingCode && this.#isOptional(event);
    const as = isMissing ? 'skipped' : to === 'pending' ? undefined : to;
    // What a killed run left while it was being submitted is counted as in doubt, unless flags have it made again.
    const isRecovered = open === undefined && from === 'submitting' && to === 'in-doubt';
    const isStray = open?.isStray ?? (isLeft(from ?? to) && this.#followed?.has(key) === false);
    if (isSettled(to) && !isRecovered) this.#open.delete(key);
    else this.#open.set(key, { as: isRecovered ? undefined : as, cost: cost ?? 0, usage, isStray });
    const counts = this.#steps.get(event.step)?.counts;
    if (counts === undefined || isRecovered) return as;
    // A job that an earlier run left under way is counted nowhere before its first event.
    const was = open?.as ?? settledAs(from);
    if (was !== undefined) counts[was] = Math.max(0, counts[was] - 1);
    if (as !== undefined && !(isStray && isSettled(to))) counts[as] += 1;
    return as;
  }

  /** A slot will get no job, or none that can be made. */
  ruleOut({ step, status }: SlotChange): void {
    const counts = this.#steps.get(step)?.counts;
    if (counts !== undefined && status !== 'pending') counts[status] += 1;
  }

  #spend(before: OpenJob | undefined, cost: number | undefined, usage: TokenUsage): void {
    // As it is when it is taken up, earlier runs paid for it.
    if (before === undefined) return;
    const more = (cost ?? 0) - before.cost;
    // A submission that was not accepted gives its price back.
    if (cost !== undefined || more !== 0) this.#cost = Math.max(0, (this.#cost ?? 0) + more);
    const added = usageSince(before.usage, usage);
    if (Object.keys(added).length > 0) this.#tokens = addUsage(this.#tokens, added);
  }
}

/** A task that an earlier run has left, which this run follows whether it is planned or not. */
const isLeft = (status: JobStatus | undefined): boolean =>
  status === 'running' || status === 'modal' || status === 'saving';

const settledAs = (status: JobStatus | undefined): Counted | undefined =>
  status === 'done' || status === 'failed' || status === 'in-doubt' ? status : undefined;
