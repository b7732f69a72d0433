import type { JobRecord } from '../../../plan/job.ts';
import type { RunEnd } from '../../events.ts';
import type { Job } from '../../machine/job.ts';

/**
 * How a run ends: of itself once all is done, or early, by the first cause there is. An early end drains: nothing new begins,
 * what is in flight is settled. Only what makes every further request pointless halts: nothing is sent any more at all.
 */
export class RunLifecycle {
  #cause: RunEnd | undefined;
  #halted = false;

  /** It ends early; nothing new begins. */
  get isEnding(): boolean {
    return this.#cause !== undefined;
  }

  get isHalted(): boolean {
    return this.#halted;
  }

  /** @returns false where an earlier cause holds */
  drain(cause: RunEnd): boolean {
    if (this.#cause !== undefined) return false;
    this.#cause = cause;
    return true;
  }

  /** Takes the place of a cause that only drains. @returns false where it halted before */
  halt(cause: RunEnd): boolean {
    if (this.#halted) return false;
    this.#cause = cause;
    this.#halted = true;
    return true;
  }

  /** How the run ended, once it has. @param left what is still to be settled, and whether all cells are done */
  reached(left: {
    readonly requests: number;
    readonly jobs: number;
    readonly isDone: boolean;
    /** Nothing that could be begun was left out. */
    readonly isWhole: boolean;
  }): RunEnd | undefined {
    if (this.#halted) return left.requests === 0 ? this.#cause : undefined;
    if (left.jobs > 0) return undefined;
    // Its time was up, and all was begun by then: nothing is left for another run.
    if (this.#cause === lasted && left.isWhole) return { kind: 'complete' };
    return this.#cause ?? (left.isDone ? { kind: 'complete' } : undefined);
  }
}

/** It has lasted as long as it may. */
export const lasted: RunEnd = {
  kind: 'budget',
  code: 'run.max-duration',
  message: 'The run has lasted as long as it may (--max-duration).',
};

/** A job failed, and the first failure is to be the last. What the failure says, the failure says. */
export const failedFast = ({ origin, error }: JobRecord): RunEnd => ({
  kind: 'fail-fast',
  code: error?.code ?? 'task.failed',
  message: `${origin.step} in cell ${origin.cell} failed with ${error?.code ?? 'task.failed'}, and --fail-fast ends the run at the first failure.`,
});

/**
 * Nothing of it is under way on the service that this run began to watch: a later run takes it up from its record. The first
 * answer to a modal is part of what is in flight; another one would be a new attempt.
 */
export const mayBeLeft = ({ record: { status, modal }, want }: Job): boolean =>
  status === 'pending' ||
  want.kind === 'room' ||
  (status === 'modal' && modal !== undefined && modal.sent > 0);
