import { type IsOptional, missingCode } from '../../plan/graph/optional.ts';
import { isSettled, type JobStatus } from '../../plan/job.ts';
import { type SlotStatus, slotStatuses } from '../../plan/slot.ts';
import type { RunEvent } from '../../run/events.ts';
import type { Sample } from './exposition.ts';

/** A step before the run begins; counts are jobs, those that are skipped or blocked are slots. */
export interface StepCounts {
  readonly name: string;
  /** Its requests are text calls. */
  readonly isText: boolean;
  readonly done: number;
  readonly failed: number;
  readonly inDoubt: number;
  readonly skipped: number;
  readonly blocked: number;
  /** Absent while it is not known. */
  readonly total?: number;
}

type JobChange = Extract<RunEvent, { type: 'job:status' }>;
type SlotChange = Extract<RunEvent, { type: 'slot:status' }>;

/** What a job or a slot counts as. */
type Counted = Exclude<SlotStatus, 'pending'>;

const counted = slotStatuses.filter((status) => status !== 'pending');

interface Step {
  readonly isText: boolean;
  readonly total: number | undefined;
  readonly counts: Record<Counted, number>;
}

/** Counts the jobs of a run by step and status. It remembers the jobs that are not settled, which are as many as are worked on. */
export class JobCounts {
  readonly #steps: Map<string, Step>;
  readonly #isOptional: IsOptional;
  /** What each job counts as that is not settled. */
  readonly #open = new Map<string, Counted>();

  constructor(steps: readonly StepCounts[], isOptional: IsOptional) {
    this.#isOptional = isOptional;
    this.#steps = new Map(steps.map((step) => [step.name, stepOf(step)]));
  }

  /** A job has another status. */
  move(event: JobChange): void {
    const { key, from, to, error } = event;
    const step = this.#steps.get(event.step);
    if (step === undefined) return;
    // A job that an earlier run left unsettled was counted nowhere.
    const before =
      this.#open.get(key) ?? (from !== undefined && isSettled(from) ? countedAs(from) : undefined);
    this.#open.delete(key);
    const isMissing = to === 'failed' && error?.code === missingCode && this.#isOptional(event);
    const after = isMissing ? 'skipped' : countedAs(to);
    if (before !== undefined) step.counts[before] = Math.max(0, step.counts[before] - 1);
    if (after === undefined) return;
    step.counts[after] += 1;
    if (!isSettled(to)) this.#open.set(key, after);
  }

  /** A slot will get no job, or none that can be made. */
  ruleOut({ step, status }: SlotChange): void {
    const counts = this.#steps.get(step)?.counts;
    if (counts !== undefined && status !== 'pending') counts[status] += 1;
  }

  /** Submissions that the service works on, or calls that are under way. */
  inFlight(isText: boolean): number {
    let sum = 0;
    for (const step of this.#steps.values()) {
      if (step.isText !== isText) continue;
      const { submitting, running, modal } = step.counts;
      sum += submitting + running + modal;
    }
    return sum;
  }

  /** One for each step and status; `pending` where it is known how many jobs there will be. */
  samples(): readonly Sample[] {
    return [...this.#steps].flatMap(([step, { counts, total }]) => {
      const sum = counted.reduce((all, status) => all + counts[status], 0);
      return [
        ...(total === undefined
          ? []
          : [{ labels: { step, status: 'pending' }, value: Math.max(0, total - sum) }]),
        ...counted.map((status) => ({ labels: { step, status }, value: counts[status] })),
      ];
    });
  }
}

const countedAs = (status: JobStatus): Counted | undefined => (status === 'pending' ? undefined : status);

const stepOf = ({ isText, total, done, failed, inDoubt, skipped, blocked }: StepCounts): Step => ({
  isText,
  total,
  counts: {
    submitting: 0,
    running: 0,
    modal: 0,
    saving: 0,
    done,
    failed,
    'in-doubt': inDoubt,
    skipped,
    blocked,
  },
});
