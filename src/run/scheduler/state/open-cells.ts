import type { Cell } from '../../../plan/cell.ts';
import type { Hold } from '../../ports.ts';

/** A cell whose jobs are being worked on. */
export interface OpenCell {
  readonly cell: Cell;
  /** The slice that it belongs to. Absent: a run on one machine. */
  readonly hold?: Hold;
  /** Keys of its jobs that are not settled; it closes when none is left. */
  readonly waiting: Set<string>;
  /** True where a job may follow from those that it waits for; undefined until its first visit. */
  hasMore?: boolean;
  /**
   * True where nothing is left but the jobs that it waits for: whichever of them is done, the plan shows nothing else. Such a cell
   * need not be resolved again.
   */
  isComplete?: boolean;
  /** Ids of its slots without a job that were reported, or were so before the run; undefined until its first visit. */
  reported?: Set<string>;
}

/**
 * Maximum of open cells. Room for tasks bounds them while each cell has a job of its own; cells that ask for the same job take up
 * no room, and a matrix may have any number of them. High enough that eight grids still run at a time where 500 cells share one.
 */
const mostOpen = 4096;

/** The open cells, and which cells wait for which job. Several cells may share a job. */
export class OpenCells {
  readonly #open = new Map<number, OpenCell>();
  readonly #watchers = new Map<string, Set<OpenCell>>();
  /** Those in which a job was settled or released, in that order: each is resolved again before another job has its turn. */
  readonly due = new Set<OpenCell>();

  get size(): number {
    return this.#open.size;
  }

  /** True while one more cell may be opened. */
  get hasRoom(): boolean {
    return this.#open.size < mostOpen;
  }

  /** The open cells that wait for this job. */
  awaiting(key: string): readonly OpenCell[] {
    return [...(this.#watchers.get(key) ?? [])];
  }

  /** All of them, in the order in which they were opened. */
  all(): readonly OpenCell[] {
    return [...this.#open.values()];
  }

  open(cell: Cell, hold?: Hold): OpenCell {
    const opened: OpenCell = { cell, waiting: new Set(), ...(hold && { hold }) };
    this.#open.set(cell.number, opened);
    return opened;
  }

  close(open: OpenCell): void {
    this.#open.delete(open.cell.number);
    this.due.delete(open);
    for (const key of open.waiting) this.#forget(key, open);
    open.waiting.clear();
  }

  /** From now on the cell waits for exactly these jobs. */
  waitFor(open: OpenCell, keys: ReadonlySet<string>): void {
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
   * The cells that waited for this job; it is settled, or given up for this run.
   *
   * @param isDone it is done: a cell that was complete stays so
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
