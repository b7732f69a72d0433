import type { Cell } from '../plan/cell.ts';
import type { Artifact } from '../plan/job.ts';
import type { Slot } from '../plan/slot.ts';

/** One row of the manifest before it becomes text: a slot, one of its artifacts, and its place among the others. */
export interface ManifestRow {
  readonly cell: Cell;
  readonly slot: Slot;
  /** The flags of the run chose this slot; false: it is here because it has a result. */
  readonly chosen: boolean;
  /** Absent when the slot has no file. */
  readonly artifact?: Artifact;
  /** A slot with several artifacts has several rows. */
  readonly firstOfSlot: boolean;
  /** The first row of this job in the whole manifest: the only one that shows its tokens and its cost. */
  readonly firstOfJob: boolean;
  /** The service's task whose button was pressed. */
  readonly parentTaskId?: string;
}
