import type { StepKind } from '../../pipeline/pipeline.ts';
import type { TokenEstimate } from '../request/tokens.ts';

/**
 * Jobs by what a run would do about them, and the slots that have no job to count. A job that several slots share is
 * counted once, at its first slot, so that
 * `slots = jobs + shared + skipped + blocked + waiting + invalid`
 * and `jobs = submits + held + running + unsaved + done + inDoubt + failed`.
 */
export interface PlanCounts {
  readonly slots: number;
  /** Different requests. */
  readonly jobs: number;
  /** Slots whose job is counted at another slot already: paid once. */
  readonly shared: number;
  /** Jobs that are to be submitted, once each if nothing fails. */
  readonly submits: number;
  /**
   * Why jobs are submitted. `new`: the slot had no job before. `changed`: the slot had another job. `retry`: the flags retry a
   * job that failed or is in doubt, or a text call was killed before its answer came. `anew`: a finished job is redone
   * (`--redo`), or a job that it came from is.
   */
  readonly why: {
    readonly new: number;
    readonly changed: number;
    readonly retry: number;
    readonly anew: number;
  };
  /** Would be submitted, but below a job in doubt: it waits until that is settled. */
  readonly held: number;
  /** An earlier run left them under way; they are followed, not submitted again. */
  readonly running: number;
  /** Done, but the file is still to be fetched, its frames to be cut, or the text to be written. */
  readonly unsaved: number;
  readonly done: number;
  readonly inDoubt: number;
  /** Failed before; only `--retry-failed` submits them again. */
  readonly failed: number;
  /** Slots. */
  readonly skipped: number;
  /** Slots below a failed job. */
  readonly blocked: number;
  /** Slots whose request waits for a result: a wildcard, or a template that names a step. */
  readonly waiting: number;
  /**
   * Slots that fail before anything is asked: a template cannot be rendered for their cell, a wildcard finds no button, an
   * image that is to be shown, or a mask, is not there, there are too many images.
   */
  readonly invalid: number;
  /**
   * Jobs among `submits`, `running` and `unsaved` whose result is cut into frames (`grid: split`), as far as the names of buttons tell which
   * make grids. Absent: no step says that.
   */
  readonly cuts?: number;
  /** About what the text calls among the submissions take; a guess, see `estimateTokens`. */
  readonly tokens: TokenEstimate;
  /** The cost of submissions with a known price, in the unit of `prices`. A price by tokens makes it an estimate. */
  readonly cost: number;
  /** Submissions without a known price. */
  readonly unpriced: number;
  /** What the slots that wait take besides, if each of them becomes a job: a guess, with stand-ins for the results. */
  readonly later: Pick<PlanCounts, 'tokens' | 'cost' | 'unpriced'>;
}

export interface StepReport extends PlanCounts {
  readonly step: string;
  readonly kind: StepKind;
  /** Its path presses buttons: the slots of the path are clicks. */
  readonly path: boolean;
  /** A wildcard is among its slots or above them: it may have more slots than counted. */
  readonly open: boolean;
}

/** A prompt that is to be submitted, as it would be sent. */
export interface PromptExample {
  readonly cell: number;
  readonly step: string;
  readonly prompt: string;
}

/** Something that the user may not expect; nothing is wrong with the file. */
export interface PlanWarning {
  /**
   * `plan.at-most` (too many slots to look at each) | `plan.open` (wildcards) | `plan.invalid` (templates that fail) |
   * `plan.shared` (slots that ask for the same thing) | `plan.not-kept` (replies whose images no slot wanted when they
   * came) | `redo.same` (buttons that are pressed again on the same
   * task, and give the same image) | `redo.made` (jobs that were made anew already, and stay) | `budget.submits` | `budget.tokens` | `budget.cost`
   */
  readonly code: string;
  readonly message: string;
}

/** What a run would do, and why. `plan --json` prints it; its schema is schemas/plan.schema.json. */
export interface PlanReport {
  readonly pipeline: string;
  /** The file as the user gave it. */
  readonly file: string;
  readonly service: string;
  readonly cells: { readonly total: number; readonly chosen: number };
  /** Of every cell, of all steps. */
  readonly slotsPerCell: number;
  /**
   * True: every chosen slot was examined. False: slots are counted by multiplication; `jobs`, `submits`, `tokens` and
   * `cost` are upper bounds, because shared, skipped and finished jobs are not known.
   */
  readonly exact: boolean;
  readonly total: PlanCounts;
  /** What is still to come at most: the cost of all submissions, and of all slots that wait for results. */
  readonly atMost: number;
  /** The pipeline gives prices. */
  readonly priced: boolean;
  /** What the submissions without a price are called (buttons, models, kinds), each once, in plan order; at most 20. */
  readonly unpricedNames: readonly string[];
  /**
   * The jobs of open orders (`--redo`, `--redo-jobs`), with what the flags add: to be begun, begun and not settled, and made.
   * Absent: there is no open one.
   */
  readonly redo?: { readonly waiting: number; readonly begun: number; readonly made: number };
  /** The steps that the selection chose, in file order. */
  readonly steps: readonly StepReport[];
  /** What the run directory holds, of this plan or not; absent without one. */
  readonly state?: {
    readonly jobs: Readonly<Record<string, number>>;
    readonly attempts: number;
    /** What budgets count: estimates stand for replies without a token count. */
    readonly tokens: number;
    readonly cost: number;
    /** Possible cost of submissions without a response, in addition. */
    readonly possibleCost: number;
  };
  readonly examples: readonly PromptExample[];
  readonly warnings: readonly PlanWarning[];
}
