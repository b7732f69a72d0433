import type { StepKind } from '../pipeline/pipeline.ts';
import type { Cell } from './cell.ts';
import { type JobError, type JobRecord, type JobSpec, jobStatuses } from './job.ts';
import type { TextRequest } from './job-request.ts';

/** Code of the warning at a row whose list has more items than are used; see `Slot.error`. */
export const droppedItemsCode = 'each.dropped';

/** The statuses of a slot: that of its job, or one that only slots have. */
export const slotStatuses = [...jobStatuses, 'skipped', 'blocked'] as const;

export type SlotStatus = (typeof slotStatuses)[number];

/** The status that a slot is counted under: accepted failures, and what they block, are counted apart. */
export type CountedStatus = SlotStatus | 'accepted';

/** A step × a cell × a branch: the unit of planning, with at least one row in the manifest. */
export interface Slot {
  readonly cell: number;
  readonly step: string;
  /** Kind of the step, or `click` for a button of a path. */
  readonly kind: StepKind;
  /** Buttons that lead to the slot, as in the file. */
  readonly branch: readonly string[];
  /** Set if it stands for a group of cells, of which `cell` is the last: what is equal in all of them. */
  readonly group?: Pick<Cell, 'vars' | 'repeat'>;
  /** Index of its place in the plan, the same in every cell; the slots that a wildcard found share its place. */
  readonly place?: number;
  /** Places of slots and names of steps that the slot depends on. */
  readonly needs?: ReadonlySet<number | string>;
  /** Number of operations before it on the longest way from a root; 0 for a root. Deeper jobs run first. */
  readonly depth: number;
  /** Whether its files are wanted: by its own step, unless that has `keep: false`, or by a step that shows its images. */
  readonly keep: boolean;
  /** Set if its frames are wanted, should it be a grid. */
  readonly split?: true;
  /** Set if its seed is wanted, should it be a grid. */
  readonly seed?: true;
  /** Identity of the slot, independent of its request; see `JobOrigin.slot`. */
  readonly id: string;
  /** Absent while the request is unknown (it waits for a result), or can never be made. */
  readonly job?: JobSpec;
  /** For a text step without a job: the data that determines its model. Absent while that waits for a result too. */
  readonly asks?: Pick<TextRequest, 'kind' | 'fields'>;
  /** The job's record in the state. */
  readonly record?: JobRecord;
  readonly status: SlotStatus;
  /** Whether its job may be started: it is pending or {@link outdated}, and everything it waits for is done. */
  readonly ready: boolean;
  /**
   * Set if its job is settled, and a job that it depends on has been redone since (`--redo`): this job must be redone too. Until then its
   * result stays.
   */
  readonly outdated?: true;
  /** Set if a job that it depends on is being redone, or will be: nothing is started here before that is settled. */
  readonly waitsForRedo?: true;
  /**
   * Set if its job is done and paid, but its files were not downloaded or written, because no slot wanted them until now. The status is
   * `saving`; nothing will be submitted.
   */
  readonly unsaved?: true;
  /** Set if its job is a finished grid with a file, whose frames are wanted and not cut yet. The status is `saving`. */
  readonly uncut?: true;
  /** Set if its job is a finished grid, whose seed is wanted and was never asked for. The status is `saving`. */
  readonly unseeded?: true;
  /** Set if its job is done, and the list or the pick that it follows from is being made anew: another job may take its place. */
  readonly held?: true;
  /** Set if it failed with a code that the pipeline accepts (`failures.accept`), or is blocked by a failure with such a code. */
  readonly accepted?: true;
  /** Upper bound of the slots that this one stands for, if more than 1: how many items a list has is not known yet. */
  readonly bound?: number;
  /**
   * For failed and in-doubt: the error; for blocked: what blocks it; for skipped: the reason. {@link droppedItemsCode}: a warning, whatever
   * the status.
   */
  readonly error?: JobError;
  /** The nearest prompt, exactly as sent, if known. */
  readonly prompt?: string;
}

/** Looks up a job's record in the state. */
export type RecordLookup = (key: string) => JobRecord | undefined;
