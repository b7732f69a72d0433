import type { NoticeCode } from '../../pipeline/diagnostics/run-codes.ts';
import type { StepKind } from '../../pipeline/pipeline.ts';
import type { TokenEstimate } from '../request/tokens.ts';

/**
 * Counts of jobs, by what a run would do about them, and of slots without a job to count. A job shared by several slots is counted once,
 * at its first slot, so that
 * `slots = jobs + shared + skipped + blocked + accepted + waiting + invalid`
 * and `jobs = submits + held + running + unsaved + done + inDoubt + failed`.
 */
export interface PlanCounts {
  readonly slots: number;
  /** Distinct requests. */
  readonly jobs: number;
  /** Slots whose job is already counted at another slot; it is paid once. */
  readonly shared: number;
  /** Jobs to submit, once each if nothing fails. */
  readonly submits: number;
  /**
   * Submissions by reason. `new`: the slot had no job before. `changed`: the slot had another job. `retry`: the flags retry a job that
   * failed or is in doubt, or a text call was killed before its answer came. `anew`: a finished job is redone (`--redo`), or a job that
   * it came from is.
   */
  readonly why: {
    readonly new: number;
    readonly changed: number;
    readonly retry: number;
    readonly anew: number;
  };
  /** Jobs to submit that depend on a job in doubt: they wait until it is settled. */
  readonly held: number;
  /** Jobs that an earlier run left in progress; they are followed, not submitted again. */
  readonly running: number;
  /** Jobs done whose file is still to be downloaded, cut into frames, or written. */
  readonly unsaved: number;
  readonly done: number;
  readonly inDoubt: number;
  /** Jobs that failed before; only `--retry-failed` submits them again. */
  readonly failed: number;
  /** Slots that are skipped. */
  readonly skipped: number;
  /** Slots that depend on a failed job. */
  readonly blocked: number;
  /** Slots that failed or are blocked, as the pipeline accepts (`failures: accept`). */
  readonly accepted: number;
  /** Slots whose request waits for a result: a wildcard, a template that names a step, or a group of which the selection leaves out cells. */
  readonly waiting: number;
  /**
   * Slots that fail before anything is sent: a template cannot be rendered for their cell, a wildcard finds no button, an image or a mask
   * is missing, there are too many images.
   */
  readonly invalid: number;
  /**
   * Jobs among `submits`, `running` and `unsaved` whose result is cut into frames (`grid: split`), as far as the names of buttons show.
   * Absent if no step cuts frames.
   */
  readonly cuts?: number;
  /** Estimated tokens of the text calls among the submissions, see `estimateTokens`. */
  readonly tokens: TokenEstimate;
  /** Cost of submissions with a known price, in the unit of `prices`; an estimate if a price is by tokens. */
  readonly cost: number;
  /** Submissions without a known price. */
  readonly unpriced: number;
  /** Estimated additional cost if each waiting slot becomes a job, with placeholders for the results. */
  readonly later: Pick<PlanCounts, 'tokens' | 'cost' | 'unpriced'>;
}

export interface StepReport extends PlanCounts {
  readonly step: string;
  readonly kind: StepKind;
  /** Whether the step's path presses buttons: the slots of the path are clicks. */
  readonly path: boolean;
  /** Whether a wildcard is among its slots or above them, so that it may have more slots than counted. */
  readonly open: boolean;
  /** Set if the number of items of a list is not known yet: as many slots are counted as the list may have at most. */
  readonly atMost?: true;
}

/** A prompt to submit, as it would be sent. */
export interface PromptExample {
  readonly cell: number;
  readonly step: string;
  readonly prompt: string;
}

/** A warning about something unexpected in a plan; the file itself is valid. */
export interface PlanWarning {
  readonly code: NoticeCode;
  readonly message: string;
}

/** A report of what a run would do, and why. `plan --json` prints it; its schema is schemas/plan.schema.json. */
export interface PlanReport {
  readonly pipeline: string;
  /** Path of the file as the user gave it. */
  readonly file: string;
  readonly service: string;
  readonly cells: { readonly total: number; readonly chosen: number };
  /** Slots of every cell, over all steps; a list of `each` counts with the most items that it may have. */
  readonly slotsPerCell: number;
  /**
   * True if every chosen slot was examined. False if counts are multiplied: then `jobs`, `submits`, `tokens` and `cost` are upper bounds,
   * because shared, skipped and finished jobs are unknown.
   */
  readonly exact: boolean;
  readonly total: PlanCounts;
  /** Upper bound of the remaining cost: of all submissions, and of all slots that wait for results. */
  readonly atMost: number;
  /** Whether the pipeline gives prices. */
  readonly priced: boolean;
  /** Names of submissions without a price (buttons, models, kinds), without duplicates, in plan order; at most 20. */
  readonly unpricedNames: readonly string[];
  /**
   * Jobs of open orders (`--redo`, `--redo-jobs`), including those of the flags: not begun, begun but not settled, and made. Absent if no
   * order is open.
   */
  readonly redo?: { readonly waiting: number; readonly begun: number; readonly made: number };
  /**
   * Jobs that the run takes over from other run directories (`--reuse`), and what submitting them would take. Absent without the flag, and
   * if counts are multiplied.
   */
  readonly reuse?: { readonly jobs: number } & Pick<PlanCounts, 'tokens' | 'cost' | 'unpriced'>;
  /** The chosen steps, in file order. */
  readonly steps: readonly StepReport[];
  /** Sums of the run directory, including jobs of other plans; absent without one. */
  readonly state?: {
    readonly jobs: Readonly<Record<string, number>>;
    readonly attempts: number;
    /** Tokens as budgets count them: estimates replace missing token counts of replies. */
    readonly tokens: number;
    readonly cost: number;
    /** Possible additional cost of submissions without a response. */
    readonly possibleCost: number;
  };
  readonly examples: readonly PromptExample[];
  readonly warnings: readonly PlanWarning[];
}
