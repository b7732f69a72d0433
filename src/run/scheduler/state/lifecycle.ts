import type { JobRecord } from '../../../plan/job.ts';
import { maxDurationCode, maxFailuresCode, type RunEnd } from '../../events.ts';
import type { Job } from '../../machine/job.ts';

/**
 * Decides how a run ends: by itself once everything is done, or early, by the first cause. An early end drains: nothing new begins, and
 * jobs in flight are settled. Only a cause that makes every further request pointless halts: nothing more is sent.
 */
export class RunLifecycle {
  #cause: RunEnd | undefined;
  #halted = false;

  /** True once the run ends early; nothing new begins. */
  get isEnding(): boolean {
    return this.#cause !== undefined;
  }

  get isHalted(): boolean {
    return this.#halted;
  }

  /** Begins an early end. @returns false where an earlier cause applies */
  drain(cause: RunEnd): boolean {
    if (this.#cause !== undefined) return false;
    this.#cause = cause;
    return true;
  }

  /** Halts the run, and replaces a cause that only drains. @returns false where the run halted before */
  halt(cause: RunEnd): boolean {
    if (this.#halted) return false;
    this.#cause = cause;
    this.#halted = true;
    return true;
  }

  /** Returns the end of the run, if it has ended. @param left unsettled requests and jobs, and whether all cells are done */
  reached(left: {
    readonly requests: number;
    readonly jobs: number;
    readonly isDone: boolean;
    /** True where no job was left out that could have begun. */
    readonly isWhole: boolean;
  }): RunEnd | undefined {
    if (this.#halted) return left.requests === 0 ? this.#cause : undefined;
    if (left.jobs > 0) return undefined;
    // All jobs had begun when the maximum duration was reached: nothing is left for another run.
    if (this.#cause === lasted && left.isWhole) return { kind: 'complete' };
    return this.#cause ?? (left.isDone ? { kind: 'complete' } : undefined);
  }
}

/** The end of a run at its maximum duration. */
export const lasted = {
  kind: 'budget',
  code: maxDurationCode,
  message: 'The run has lasted as long as it may (--max-duration).',
} as const satisfies RunEnd;

/** Returns the end of a run at its first failure (`--fail-fast`). The job itself has the failure's message. */
export const failedFast = ({ origin, error }: JobRecord): RunEnd => ({
  kind: 'fail-fast',
  code: error?.code ?? 'task.failed',
  message: `${origin.step} in cell ${origin.cell} failed with ${error?.code ?? 'task.failed'}, and --fail-fast ends the run at the first failure.`,
});

/** Returns the end of a run at the number of failures that the user allows (`--max-failures`). */
export const tooManyFailures = (most: number, { origin, error }: JobRecord): RunEnd => ({
  kind: 'fail-fast',
  code: maxFailuresCode,
  message: `${most === 1 ? 'A job has' : `${most} jobs have`} failed in this run (--max-failures). The last one: ${origin.step} in cell ${origin.cell} with ${error?.code ?? 'task.failed'}.`,
});

/**
 * Whether this run may leave a job without a task, because a later run takes it up from its record or searches for its task. The first
 * confirm of a modal belongs to the task in flight; another one would be a new attempt. A failed download may be left too: its task is paid
 * and its record durable, and an ending run does not wait for an image host.
 */
export const mayBeLeft = ({ record: { status, modal }, nextRequest, misses }: Job): boolean =>
  status === 'pending' ||
  status === 'in-doubt' ||
  nextRequest.kind === 'task-slot' ||
  (status === 'saving' && (nextRequest.kind === 'wait' || (nextRequest.kind !== 'answer' && misses > 0))) ||
  (status === 'modal' && modal !== undefined && modal.sent > 0);
