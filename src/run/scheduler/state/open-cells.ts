import type { Cell } from '../../../plan/cell.ts';
import type { Lease } from '../../ports.ts';

/** A cell whose jobs are in progress. */
export interface OpenCell {
  readonly cell: Cell;
  /** Lease of the cell's slice. Absent: a run on one machine. */
  readonly lease?: Lease;
  /** Keys of the cell's unsettled jobs; the cell closes when none is left. */
  readonly waiting: Set<string>;
  /** True where further jobs may follow from those in `waiting`; undefined until the first visit. */
  hasMore?: boolean;
  /** True where the cell needs no jobs besides those in `waiting`, whatever their results. Such a cell need not be resolved again. */
  isComplete?: boolean;
  /** The next visit is due when no more than this many jobs are in `waiting`; see {@link OpenCells.waitFor}. */
  rest?: number;
  /** True for the last cell of a group that had nothing of its own to do when all others were closed. */
  isOwnOver?: true;
  /** Numbers of the cells whose results it waits for, while it is parked. */
  members?: Set<number>;
  /** Ids of its slots without a job that were reported, or settled before the run; undefined until the first visit. */
  reported?: Set<string>;
}

/**
 * Largest number of open cells. Task slots limit them while each cell has a job of its own; cells that share a job take no slots, and a
 * matrix may have any number of them. High enough that eight grids run at a time where 500 cells share one.
 */
const maxOpen = 4096;

/** The open cells, and which cells wait for which job. Several cells may share a job. */
export class OpenCells {
  readonly #open = new Map<number, OpenCell>();
  readonly #watchers = new Map<string, Set<OpenCell>>();
  /**
   * The last cells of groups that wait for other cells of their groups and for nothing else, by number. They do not count as open: each
   * waits for an open cell, or for one that is opened last, and such a cell is waited for by one cell a reduction.
   */
  readonly #parked = new Map<number, OpenCell>();
  /** The parked cells that wait for a cell, by the number of this. */
  readonly #waiting = new Map<number, Set<OpenCell>>();
  /** Cells in which a job was settled or released, in that order. Each is resolved again before another job has its turn. */
  readonly due = new Set<OpenCell>();

  get size(): number {
    return this.#open.size;
  }

  /** True while one more cell may be opened. */
  get mayOpenMore(): boolean {
    return this.#open.size < maxOpen;
  }

  /** Returns the open cells that wait for this job. */
  awaiting(key: string): readonly OpenCell[] {
    return [...(this.#watchers.get(key) ?? [])];
  }

  /** Returns the open cells, in the order in which they were opened, then the parked ones. */
  all(): readonly OpenCell[] {
    return [...this.#open.values(), ...this.#parked.values()];
  }

  /** Whether a cell is open or parked. */
  has(number: number): boolean {
    return this.#open.has(number) || this.#parked.has(number);
  }

  /** Returns the parked cells. */
  parked(): readonly OpenCell[] {
    return [...this.#parked.values()];
  }

  /** Sets an open cell aside until all these cells are closed. */
  park(open: OpenCell, members: ReadonlySet<number>): void {
    this.#open.delete(open.cell.number);
    this.#parked.set(open.cell.number, open);
    open.members = new Set(members);
    for (const number of members) {
      const waiting = this.#waiting.get(number);
      if (waiting === undefined) this.#waiting.set(number, new Set([open]));
      else waiting.add(open);
    }
  }

  open(cell: Cell, lease?: Lease): OpenCell {
    const opened: OpenCell = { cell, waiting: new Set(), ...(lease && { lease }) };
    this.#open.set(cell.number, opened);
    return opened;
  }

  close(open: OpenCell): void {
    this.#open.delete(open.cell.number);
    this.due.delete(open);
    for (const key of open.waiting) this.#forget(key, open);
    open.waiting.clear();
    this.#parked.delete(open.cell.number);
    for (const number of open.members ?? []) this.#waiting.get(number)?.delete(open);
    const lasts = this.#waiting.get(open.cell.number) ?? [];
    this.#waiting.delete(open.cell.number);
    for (const last of lasts) {
      last.members?.delete(open.cell.number);
      if (last.members?.size !== 0) continue;
      this.#parked.delete(last.cell.number);
      this.#open.set(last.cell.number, last);
      this.due.add(last);
    }
  }

  /**
   * Makes the cell wait for exactly these jobs. The larger its group, the more of them are done before its next visit, which resolves the
   * whole group while everything else waits: 1 for each 128 members, at most an eighth of them.
   *
   * @param members cells that the next visit resolves besides
   */
  waitFor(open: OpenCell, keys: ReadonlySet<string>, members = 0): void {
    open.rest = keys.size - Math.max(1, Math.min(members / 128, keys.size / 8));
    for (const key of open.waiting) if (!keys.has(key)) this.#forget(key, open);
    open.waiting.clear();
    for (const key of keys) {
      open.waiting.add(key);
      const watchers = this.#watchers.get(key);
      if (watchers === undefined) this.#watchers.set(key, new Set([open]));
      else watchers.add(open);
    }
  }

  /**
   * Returns the cells that waited for this job, which is settled or given up for this run.
   *
   * @param isDone true where the job is done: a complete cell stays complete
   */
  release(key: string, isDone = false): readonly OpenCell[] {
    const watchers = this.#watchers.get(key);
    this.#watchers.delete(key);
    if (watchers === undefined) return [];
    for (const open of watchers) {
      open.waiting.delete(key);
      open.isComplete &&= isDone;
    }
    return [...watchers];
  }

  #forget(key: string, open: OpenCell): void {
    const watchers = this.#watchers.get(key);
    watchers?.delete(open);
    if (watchers?.size === 0) this.#watchers.delete(key);
  }
}
