import type { StepKind } from '../pipeline/pipeline.ts';
import { type JobError, type JobRecord, type JobSpec, jobStatuses } from './job.ts';
import type { TextRequest } from './job-request.ts';

/** A slot is in its job's status, or in one that only slots have. */
export const slotStatuses = [...jobStatuses, 'skipped', 'blocked'] as const;

export type SlotStatus = (typeof slotStatuses)[number];

/** One step × one cell × one branch: what is planned, and at least one row of the manifest. */
export interface Slot {
  readonly cell: number;
  readonly step: string;
  /** Kind of the step, or `click` for what a path presses. */
  readonly kind: StepKind;
  /** The buttons that lead to it, as the file says them. */
  readonly branch: readonly string[];
  /** Index of its place in the plan, the same in every cell; what a wildcard found shares its place. */
  readonly place?: number;
  /** What it comes from: places of slots, and names of steps. */
  readonly needs?: ReadonlySet<number | string>;
  /** Operations before it on the longest way from a root; 0 for a root. Deeper jobs run first. */
  readonly depth: number;
  /** Its files are wanted: by its own step, unless that says `keep: false`, or by a step that shows its images. */
  readonly keep: boolean;
  /** Where it is a grid, its frames are wanted. */
  readonly split?: true;
  /** Identity of the slot, independent of its request; see `JobOrigin.slot`. */
  readonly id: string;
  /** Absent while the request is not known (it waits for a result), or never will be. */
  readonly job?: JobSpec;
  /** Of a text step without a job: what decides which model it asks. Absent while that waits for a result too. */
  readonly asks?: Pick<TextRequest, 'kind' | 'fields'>;
  /** What the state knows of the job. */
  readonly record?: JobRecord;
  readonly status: SlotStatus;
  /** Pending or {@link outdated}, and all it waits for is done: its job may be started. */
  readonly ready: boolean;
  /**
   * Its job is settled, and a job that it came from has been redone since (`--redo`): this job is to be redone too. Until
   * then its result stands.
   */
  readonly outdated?: true;
  /** A job that it comes from is being redone, or is to be: nothing is begun here before that is settled. */
  readonly waitsForRedo?: true;
  /**
   * Its job is done and paid, but its files were not downloaded or written, because no slot wanted them until now. The
   * status is `saving`; nothing is to be submitted.
   */
  readonly unsaved?: true;
  /** Its job is done and its file is there, a grid whose frames are wanted and are not cut yet. The status is `saving`. */
  readonly uncut?: true;
  /** For failed and in-doubt; for blocked: what it is blocked by; for skipped: why. */
  readonly error?: JobError;
  /** The nearest prompt, exactly as sent, where known. */
  readonly prompt?: string;
}

/** How the plan asks the state for a job. */
export type RecordLookup = (key: string) => JobRecord | undefined;
