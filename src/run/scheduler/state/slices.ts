import type { Cell } from '../../../plan/cell.ts';
import type { JobRecord } from '../../../plan/job.ts';
import type { LateFact } from '../../../state/store.ts';
import type { Submission } from '../../machine/search/late-fact.ts';
import type { Hold, LeftRecord, OtherRecords } from '../../ports.ts';
import type { Effect } from '../commit.ts';

/** A slice that this worker holds. */
export interface HeldSlice extends Hold {
  /** Its cells that are not closed, open or not. */
  cells: number;
  /** All its cells were given. */
  isWhole: boolean;
  /** Since when it only waits for others, Unix ms; absent: it does not. */
  waitsSince?: number;
  /** A cell of it was closed with jobs left below one in doubt. */
  belowDoubt?: true;
  /** It has ended here, which is not durable yet. */
  hasEnded?: true;
  /** A cell of it may have been closed because of what was not written: its cells are to be resolved once more. */
  looksAgain?: true;
  /**
   * What it was left with and is not taken up yet, by key: cells of another slice had begun it here. While this slice is held, nobody else
   * writes such a record.
   */
  readonly kept: Map<string, LeftRecord>;
}

/** The slices that this worker holds or has lost, and what is under way for them. All is empty on one machine. */
export class Slices {
  readonly #others: OtherRecords | undefined;
  readonly #held = new Map<number, HeldSlice>();
  /** Of the cells that are not open yet, by their numbers. */
  readonly #holds = new Map<number, Hold>();
  /** Keys of the jobs of others that open cells wait for. */
  readonly awaited = new Set<string>();
  /** Paid requests that left and have no result yet. */
  readonly paid = new Set<Effect>();
  /** The submissions that left and whose outcome is not durable, by the keys of their jobs. */
  readonly sent = new Map<string, Submission>();
  /** What was heard of text calls, and is not durable, by the keys of their jobs. */
  readonly answers = new Map<string, LateFact>();
  /** Slices that were lost while a paid request of theirs is under way. */
  readonly ending = new Set<Hold>();
  /** Slices of dead workers wait to be taken over. */
  hasOrphans = false;

  constructor(others: OtherRecords | undefined) {
    this.#others = others;
  }

  /** The outcome of a job's last submission is durable, or belongs to others. */
  forget(key: string): void {
    this.sent.delete(key);
    this.answers.delete(key);
  }

  get held(): readonly HeldSlice[] {
    return [...this.#held.values()];
  }

  /** This worker holds the slice, or is given more of its cells. */
  hold(slice: number, epoch: number): HeldSlice {
    const held = this.#held.get(slice) ?? { slice, epoch, cells: 0, isWhole: false, kept: new Map() };
    this.#held.set(slice, held);
    return held;
  }

  /** The slice as it is held now, under whatever epoch. */
  of(slice: number): HeldSlice | undefined {
    return this.#held.get(slice);
  }

  /** The slice held so; undefined: it was lost, or given back. */
  heldAs({ slice, epoch }: Hold): HeldSlice | undefined {
    const held = this.#held.get(slice);
    return held?.epoch === epoch ? held : undefined;
  }

  drop(slice: number): void {
    this.#held.delete(slice);
    for (const [cell, hold] of this.#holds) if (hold.slice === slice) this.#holds.delete(cell);
  }

  /** Cells of this slice wait to be opened. */
  give(cells: readonly Cell[], held: HeldSlice): void {
    held.cells += cells.length;
    const hold: Hold = { slice: held.slice, epoch: held.epoch };
    for (const { number } of cells) this.#holds.set(number, hold);
  }

  /** The slice of a cell that is not open yet. */
  holdOf({ number }: Cell): Hold | undefined {
    return this.#holds.get(number);
  }

  /** A cell is opened. @returns its slice */
  takeHold({ number }: Cell): Hold | undefined {
    const hold = this.#holds.get(number);
    this.#holds.delete(number);
    return hold;
  }

  /** A cell of this slice is closed. @param belowDoubt jobs are left in it below one in doubt */
  closeCell(hold: Hold | undefined, belowDoubt = false): void {
    const held = hold && this.heldAs(hold);
    if (held === undefined) return;
    held.cells -= 1;
    if (belowDoubt) held.belowDoubt = true;
  }

  /** A slice takes the job of this key up, from its record as it is known now. Its identity is that of the take-up. */
  takeUp(hold: Hold | undefined, key: string): Hold | undefined {
    if (hold === undefined) return undefined;
    const basis = this.#others?.holdOf(key)?.basis;
    return { slice: hold.slice, epoch: hold.epoch, ...(basis === undefined ? {} : { basis }) };
  }

  /** True where the record of this key is shown as this holding of its slice found it, and not as it was decided for another slice. */
  isStill(key: string, { slice, epoch }: Hold): boolean {
    const by = this.#others?.holdOf(key);
    return by?.slice === slice && by.epoch < epoch;
  }

  /** Keeps what a slice was left with until it can be taken up. */
  keepLeft(left: LeftRecord, hold: Hold): void {
    this.heldAs(hold)?.kept.set(left.record.key, left);
  }

  /** Hands over what was kept of a job, once its record is shown as this holding of its slice found it. */
  takeKept(key: string): { readonly left: LeftRecord; readonly hold: Hold } | undefined {
    for (const { slice, epoch, kept } of this.#held.values()) {
      const left = kept.get(key);
      if (left === undefined || !this.isStill(key, { slice, epoch })) continue;
      kept.delete(key);
      return { left, hold: { slice, epoch } };
    }
    return undefined;
  }

  /**
   * True for a job that is not carried out here, where another worker decides what becomes of it: it is under way, or it is not known whether
   * somebody still sends what it intended. What a slice was left with is taken up with the slice, so whatever else is shown under way
   * is somebody's, or was decided here for a slice that is lost and will never be written: which of the two, only another look says.
   */
  isOthers({ status, sender }: JobRecord): boolean {
    if (this.#others === undefined) return false;
    if (sender !== undefined && (status === 'pending' || status === 'in-doubt')) return true;
    return status === 'submitting' || status === 'running' || status === 'saving';
  }

  /** True while a paid request for this slice, which was lost, has no result. */
  isHearing(hold: Hold): boolean {
    return [...this.paid].some(({ job }) => job.hold?.slice === hold.slice && job.hold.epoch === hold.epoch);
  }
}
