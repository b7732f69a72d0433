import type { Cell } from '../../../plan/cell.ts';
import type { JobRecord } from '../../../plan/job.ts';
import type { LateFact } from '../../../state/store.ts';
import type { Submission } from '../../machine/search/late-fact.ts';
import type { Hold, LeftRecord, OtherRecords } from '../../ports.ts';
import type { Effect } from '../commit.ts';

/** A slice that this worker holds. */
export interface HeldSlice extends Hold {
  /** Number of its cells that are not closed, open or not. */
  cells: number;
  /** True where the worker has all cells of the slice. */
  isWhole: boolean;
  /** Since when the slice only waits for others, Unix ms; absent where it does not. */
  waitsSince?: number;
  /** True where a cell of the slice was closed with jobs left below an unconfirmed one. */
  belowDoubt?: true;
  /** True where the slice has ended here, and that is not durable yet. */
  hasEnded?: true;
  /** True where a cell may have been closed because of an unwritten decision: all cells are to be resolved once more. */
  looksAgain?: true;
  /**
   * Unfinished records of the slice that are not taken up yet, by key, because a cell of another slice had begun them here. While this
   * slice is held, no other worker writes such a record.
   */
  readonly kept: Map<string, LeftRecord>;
}

/** The slices that this worker holds or has lost, and their requests in flight. Empty on one machine. */
export class Slices {
  readonly #others: OtherRecords | undefined;
  readonly #held = new Map<number, HeldSlice>();
  /** Leases of the unopened cells, by cell number. */
  readonly #holds = new Map<number, Hold>();
  /** Keys of the jobs of other workers that open cells wait for. */
  readonly awaited = new Set<string>();
  /** Paid requests that were sent and have no result yet. */
  readonly paid = new Set<Effect>();
  /** Submissions that were sent and whose outcome is not durable, by job key. */
  readonly sent = new Map<string, Submission>();
  /** Results of text calls that are not durable, by job key. */
  readonly answers = new Map<string, LateFact>();
  /** Lost slices with a paid request in flight. */
  readonly ending = new Set<Hold>();
  /** True while slices of dead workers wait to be taken over. */
  hasOrphans = false;

  constructor(others: OtherRecords | undefined) {
    this.#others = others;
  }

  /** Forgets a job's last submission, whose outcome is durable or belongs to others. */
  forget(key: string): void {
    this.sent.delete(key);
    this.answers.delete(key);
  }

  get held(): readonly HeldSlice[] {
    return [...this.#held.values()];
  }

  /** Notes that this worker holds the slice, or gets more of its cells. */
  hold(slice: number, epoch: number): HeldSlice {
    const held = this.#held.get(slice) ?? { slice, epoch, cells: 0, isWhole: false, kept: new Map() };
    this.#held.set(slice, held);
    return held;
  }

  /** Returns the slice as it is held now, under any epoch. */
  of(slice: number): HeldSlice | undefined {
    return this.#held.get(slice);
  }

  /** Returns the slice of this lease; undefined where it was lost or given back. */
  heldAs({ slice, epoch }: Hold): HeldSlice | undefined {
    const held = this.#held.get(slice);
    return held?.epoch === epoch ? held : undefined;
  }

  drop(slice: number): void {
    this.#held.delete(slice);
    for (const [cell, hold] of this.#holds) if (hold.slice === slice) this.#holds.delete(cell);
  }

  /** Adds cells of this slice that wait to be opened. */
  give(cells: readonly Cell[], held: HeldSlice): void {
    held.cells += cells.length;
    const hold: Hold = { slice: held.slice, epoch: held.epoch };
    for (const { number } of cells) this.#holds.set(number, hold);
  }

  /** Returns the lease of a cell that is not open yet. */
  holdOf({ number }: Cell): Hold | undefined {
    return this.#holds.get(number);
  }

  /** Notes that a cell is opened. @returns its lease */
  takeHold({ number }: Cell): Hold | undefined {
    const hold = this.#holds.get(number);
    this.#holds.delete(number);
    return hold;
  }

  /** Notes that a cell of this slice is closed. @param belowDoubt true where it leaves jobs below an unconfirmed one */
  closeCell(hold: Hold | undefined, belowDoubt = false): void {
    const held = hold && this.heldAs(hold);
    if (held === undefined) return;
    held.cells -= 1;
    if (belowDoubt) held.belowDoubt = true;
  }

  /** Takes up a job for a slice, from the record as known now. @returns a new lease object, whose identity marks this take-up */
  takeUp(hold: Hold | undefined, key: string): Hold | undefined {
    if (hold === undefined) return undefined;
    const basis = this.#others?.holdOf(key)?.basis;
    return { slice: hold.slice, epoch: hold.epoch, ...(basis === undefined ? {} : { basis }) };
  }

  /** Whether the record of this key is still the one that this lease found, and not a decision for another slice. */
  isStill(key: string, { slice, epoch }: Hold): boolean {
    const by = this.#others?.holdOf(key);
    return by?.slice === slice && by.epoch < epoch;
  }

  /** Stores an unfinished record of a slice until it can be taken up. */
  keepLeft(left: LeftRecord, hold: Hold): void {
    this.heldAs(hold)?.kept.set(left.record.key, left);
  }

  /** Takes the stored record of a job, once `get` shows it as this lease found it. */
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
   * Whether a job that does not run here is decided by another worker: it is in flight, or its earlier sender may still send. A slice's
   * unfinished records are taken up with the slice. So any other record in flight belongs to another worker, or was decided here for a lost
   * slice and will never be written: only another read tells which.
   */
  isOthers({ status, sender }: JobRecord): boolean {
    if (this.#others === undefined) return false;
    if (sender !== undefined && (status === 'pending' || status === 'in-doubt')) return true;
    return status === 'submitting' || status === 'running' || status === 'saving';
  }

  /** Whether a paid request of this lost slice has no result yet. */
  isHearing(hold: Hold): boolean {
    return [...this.paid].some(({ job }) => job.hold?.slice === hold.slice && job.hold.epoch === hold.epoch);
  }
}
