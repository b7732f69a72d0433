import type { Cell } from '../../../plan/cell.ts';
import type { JobRecord } from '../../../plan/job.ts';
import type { LateFact } from '../../../state/store.ts';
import type { Submission } from '../../machine/search/late-fact.ts';
import type { Lease, LeftRecord, OtherRecords } from '../../ports.ts';
import type { Effect } from '../commit.ts';

/** A slice that this worker has leased. */
export interface LeasedSlice extends Lease {
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
   * lease lasts, no other worker writes such a record.
   */
  readonly kept: Map<string, LeftRecord>;
}

/** The slices that this worker has leased or lost, and their requests in flight. Empty on one machine. */
export class Slices {
  readonly #others: OtherRecords | undefined;
  readonly #leased = new Map<number, LeasedSlice>();
  /** Leases of the unopened cells, by cell number. */
  readonly #leases = new Map<number, Lease>();
  /** Keys of the jobs of other workers that open cells wait for. */
  readonly awaited = new Set<string>();
  /** Paid requests that were sent and have no result yet. */
  readonly paid = new Set<Effect>();
  /** Submissions that were sent and whose outcome is not durable, by job key. */
  readonly sent = new Map<string, Submission>();
  /** Results of text calls that are not durable, by job key. */
  readonly answers = new Map<string, LateFact>();
  /** Lost slices with a paid request in flight. */
  readonly ending = new Set<Lease>();
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

  get leased(): readonly LeasedSlice[] {
    return [...this.#leased.values()];
  }

  /** Notes that this worker has leased the slice, or gets more of its cells. */
  lease(slice: number, epoch: number): LeasedSlice {
    const leased = this.#leased.get(slice) ?? { slice, epoch, cells: 0, isWhole: false, kept: new Map() };
    this.#leased.set(slice, leased);
    return leased;
  }

  /** Returns the slice as it is leased now, whatever the epoch. */
  of(slice: number): LeasedSlice | undefined {
    return this.#leased.get(slice);
  }

  /** Returns the slice of this lease; undefined where it was lost or given back. */
  ofLease({ slice, epoch }: Lease): LeasedSlice | undefined {
    const leased = this.#leased.get(slice);
    return leased?.epoch === epoch ? leased : undefined;
  }

  drop(slice: number): void {
    this.#leased.delete(slice);
    for (const [cell, lease] of this.#leases) if (lease.slice === slice) this.#leases.delete(cell);
  }

  /** Adds cells of this slice that wait to be opened. */
  give(cells: readonly Cell[], leased: LeasedSlice): void {
    leased.cells += cells.length;
    const lease: Lease = { slice: leased.slice, epoch: leased.epoch };
    for (const { number } of cells) this.#leases.set(number, lease);
  }

  /** Returns the lease of a cell that is not open yet. */
  leaseOf({ number }: Cell): Lease | undefined {
    return this.#leases.get(number);
  }

  /** Notes that a cell is opened. @returns its lease */
  takeLease({ number }: Cell): Lease | undefined {
    const lease = this.#leases.get(number);
    this.#leases.delete(number);
    return lease;
  }

  /** Notes that a cell of this slice is closed. @param belowDoubt true where it leaves jobs below an unconfirmed one */
  closeCell(lease: Lease | undefined, belowDoubt = false): void {
    const leased = lease && this.ofLease(lease);
    if (leased === undefined) return;
    leased.cells -= 1;
    if (belowDoubt) leased.belowDoubt = true;
  }

  /** Takes up a job for a slice, from the record as known now. @returns a new lease object, whose identity marks this take-up */
  takeUp(lease: Lease | undefined, key: string): Lease | undefined {
    if (lease === undefined) return undefined;
    const basis = this.#others?.leaseOf(key)?.basis;
    return { slice: lease.slice, epoch: lease.epoch, ...(basis === undefined ? {} : { basis }) };
  }

  /** Whether the record of this key is still the one that this lease found, and not a decision for another slice. */
  isStill(key: string, { slice, epoch }: Lease): boolean {
    const by = this.#others?.leaseOf(key);
    return by?.slice === slice && by.epoch < epoch;
  }

  /** Stores an unfinished record of a slice until it can be taken up. */
  keepLeft(left: LeftRecord, lease: Lease): void {
    this.ofLease(lease)?.kept.set(left.record.key, left);
  }

  /** Takes the stored record of a job, once `get` shows it as this lease found it. */
  takeKept(key: string): { readonly left: LeftRecord; readonly lease: Lease } | undefined {
    for (const { slice, epoch, kept } of this.#leased.values()) {
      const left = kept.get(key);
      if (left === undefined || !this.isStill(key, { slice, epoch })) continue;
      kept.delete(key);
      return { left, lease: { slice, epoch } };
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
  hasPaidInFlight(lease: Lease): boolean {
    return [...this.paid].some(
      ({ job }) => job.lease?.slice === lease.slice && job.lease.epoch === lease.epoch,
    );
  }
}
