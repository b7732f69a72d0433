import type { Cell } from '../../../plan/cell.ts';
import { type JobRecord, type JobSpec, lacksOnlyFiles, needsOf } from '../../../plan/job.ts';
import { lineageOf, sourcesOf } from '../../../plan/resolve/lineage.ts';
import type { RecordLookup, Slot } from '../../../plan/slot.ts';
import type { RunEvent } from '../../events.ts';
import type { Job } from '../../machine/job.ts';
import { jobForSlot } from '../../machine/resume.ts';
import type { RunSettings } from '../../ports.ts';
import type { ActiveJobs } from './active-jobs.ts';
import { type OpenCell, OpenCells } from './open-cells.ts';

export interface CellAdmissionOptions {
  readonly settings: RunSettings;
  readonly startedAt: number;
  /** Number of this run. */
  readonly invocation: number;
  readonly resolve: (cell: Cell, lookup: RecordLookup) => readonly Slot[];
  /** `--only`: names of the steps that may run; absent: all. */
  readonly steps?: ReadonlySet<string>;
}

/** What takes up the jobs of the cells that are admitted. */
export interface CellAdmissionHost {
  /** Unix ms. */
  now(): number;
  /** True when nothing new is begun. */
  isEnding(): boolean;
  /** What is durable, and what is decided and not yet durable. */
  readonly lookup: RecordLookup;
  put(before: Job | undefined, job: Job): void;
  /** A click is met that is done. */
  worked(record: JobRecord): void;
  emit(event: RunEvent): void;
}

/** Takes cells in, finds the jobs in them that can be worked on, and closes them when there is none left. */
export class CellAdmission {
  readonly #options: CellAdmissionOptions;
  readonly #activeJobs: ActiveJobs;
  readonly #host: CellAdmissionHost;
  readonly #openCells = new OpenCells();
  /** Jobs that are still to be made anew: each is so once, whatever comes of it. */
  readonly #redo: Set<string>;
  #incoming: Cell[] = [];
  #noMoreCells = false;
  #isWhole = true;

  constructor(options: CellAdmissionOptions, activeJobs: ActiveJobs, host: CellAdmissionHost) {
    this.#options = options;
    this.#redo = new Set(options.settings.redo);
    this.#activeJobs = activeJobs;
    this.#host = host;
  }

  /** Open cells. */
  get size(): number {
    return this.#openCells.size;
  }

  /** True when it could open more cells than it has been given. */
  get wantsCells(): boolean {
    return !this.#noMoreCells && this.#incoming.length === 0 && this.#hasRoom;
  }

  /** True when every cell of the plan has been opened. */
  get isDone(): boolean {
    return this.#noMoreCells && this.#incoming.length === 0;
  }

  /** False where something that could have been begun is left to a later run. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get #hasRoom(): boolean {
    return this.#activeJobs.hasRoomForCell && this.#openCells.hasRoom;
  }

  /** Cells of the plan, in order; `last` when there are no more. */
  give(cells: readonly Cell[], last: boolean): void {
    this.#incoming.push(...cells);
    this.#noMoreCells = last;
  }

  /** Opens no more of the cells that it was given. */
  forget(): void {
    if (!this.isDone) this.#isWhole = false;
    this.#incoming = [];
  }

  /** Opens cells while there is room for their first request. */
  open(): void {
    while (!this.#host.isEnding() && this.#incoming.length > 0 && this.#hasRoom) {
      const cell = this.#incoming.shift() as Cell;
      this.#host.emit({ type: 'cell:open', cell: cell.number });
      this.#visit(this.#openCells.open(cell));
    }
  }

  /** A job is settled, or is left to the cells that ask for it: they are looked at again. */
  release(key: string): void {
    for (const open of this.#openCells.release(key)) this.#visit(open);
  }

  /** A job is left to a later run. */
  giveUp(key: string): void {
    this.#isWhole = false;
    for (const open of this.#openCells.release(key)) if (open.waiting.size === 0) this.#close(open);
  }

  /** True while an open cell waits for this job. */
  isAwaited(key: string): boolean {
    return this.#openCells.awaiting(key).length > 0;
  }

  /** False for a button that is not there where every slot that asks for it calls it optional. */
  isFailure({ key, status, error }: JobRecord): boolean {
    if (status !== 'failed' || error?.code !== 'button.missing') return status === 'failed';
    return this.#openCells
      .awaiting(key)
      .some(({ cell }) =>
        this.#options
          .resolve(cell, this.#host.lookup)
          .some((slot) => slot.job?.key === key && slot.status === 'failed'),
      );
  }

  /** The finished task of a job: what its buttons are pressed on. */
  taskOf(key: string | undefined): string | undefined {
    const record = key === undefined ? undefined : this.#host.lookup(key);
    return record?.status === 'done' || (record !== undefined && lacksOnlyFiles(record))
      ? record.taskId
      : undefined;
  }

  /** True where a slot that asks for this job waits because what it comes from is made anew. */
  waitsAnew(key: string): boolean {
    return this.#openCells
      .awaiting(key)
      .some(({ cell }) =>
        this.#options
          .resolve(cell, this.#host.lookup)
          .some((slot) => slot.job?.key === key && slot.waitsAnew === true),
      );
  }

  /** Looks at a cell afresh: takes up the jobs that can be worked on now, and closes it when there is none. */
  #visit(open: OpenCell): void {
    const { resolve } = this.#options;
    // What reads the result of a job that is made anew waits for the new one, and may ask for something else then.
    let slots = resolve(open.cell, this.#host.lookup);
    while (this.#redoIn(slots)) slots = resolve(open.cell, this.#host.lookup);
    const waiting = new Set<string>();
    for (const slot of slots) {
      const key = slot.job?.key;
      if (key === undefined || !this.#isChosen(slot)) continue;
      if (slot.kind === 'click' && slot.record?.status === 'done') this.#host.worked(slot.record);
      const live = this.#activeJobs.get(key);
      const job = live ?? this.#takenUp(slot);
      if (job === undefined) continue;
      if (live === undefined) this.#begin(job);
      else if (slot.keep && !live.record.keep)
        this.#host.put(live, { ...live, record: { ...live.record, keep: true } });
      waiting.add(key);
    }
    if (waiting.size === 0) this.#close(open);
    else this.#openCells.waitFor(open, waiting);
  }

  /**
   * Takes up the jobs of a cell that are to be made anew, but for those that come from another of them.
   *
   * @returns false where there is none
   */
  #redoIn(slots: readonly Slot[]): boolean {
    const jobs = new Map<string, Job>();
    for (const slot of slots) {
      const { record } = slot;
      const isTold = record?.status === 'done' && this.#redo.has(record.key);
      if (record === undefined || !(isTold || slot.outdated === true)) continue;
      if (!this.#isChosen(slot) || this.#activeJobs.get(record.key) !== undefined) continue;
      const job = this.#takenUp(slot);
      if (job?.record.status === 'pending') jobs.set(record.key, job);
    }
    if (jobs.size === 0) return false;
    const below = keysBelow(slots, jobs);
    const first = [...jobs.values()].filter(({ record }) => !below.has(record.key));
    if (first.length === 0) throw new Error('Internal error: jobs of a cell come from themselves.');
    for (const job of first) this.#begin(job);
    return true;
  }

  #takenUp(slot: Slot): Job | undefined {
    const { settings, invocation } = this.#options;
    const { job: spec } = slot;
    if (spec === undefined || !this.#isShown(spec)) return undefined;
    const lineage = lineageOf(spec, this.taskOf(spec.parent), this.#host.lookup);
    const job = jobForSlot(slot, lineage, settings, this.#redo, invocation, this.#host.now());
    if (job === undefined || !this.#host.isEnding()) return job;
    this.#isWhole = false;
    return undefined;
  }

  #begin(job: Job): void {
    this.#redo.delete(job.record.key);
    this.#host.put(undefined, job);
  }

  #isChosen({ step }: Slot): boolean {
    const { steps } = this.#options;
    return steps === undefined || steps.has(step);
  }

  /** True when all that a request shows, continues or names is there; what is made anew is waited for, as a click does. */
  #isShown(job: JobSpec): boolean {
    const isDone = (key: string): boolean => this.#host.lookup(key)?.status === 'done';
    const shown = job.request.kind === 'click' ? [] : needsOf(job);
    return [...shown, ...(job.reads ?? [])].every(isDone);
  }

  #close(open: OpenCell): void {
    this.#openCells.close(open);
    this.#host.emit({ type: 'cell:close', cell: open.cell.number });
  }
}

/** Keys of the jobs of a cell that come from one of these, over any number of others. */
function keysBelow(slots: readonly Slot[], from: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const below = new Set<string>();
  // Steps stand in any order in a file: what comes from a later one is found the next time round.
  for (let size = -1; size !== below.size; ) {
    size = below.size;
    for (const { job } of slots)
      if (job !== undefined && sourcesOf(job).some((key) => from.has(key) || below.has(key)))
        below.add(job.key);
  }
  return below;
}
