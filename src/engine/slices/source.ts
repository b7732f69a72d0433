import { Turns } from '../../pipeline/turns.ts';
import type { Cell } from '../../plan/cell.ts';
import type { ImageFiles } from '../../plan/request/image-files.ts';
import { withRecords } from '../../plan/resolve/load-records.ts';
import type { RecordLookup, Slot } from '../../plan/slot.ts';
import type { Clock } from '../../run/clock.ts';
import type { SliceEnd } from '../../run/events.ts';
import type { CellBatch, CellSource, Lease, LeftRecord, RunPlan } from '../../run/ports.ts';
import { EngineError } from '../postgres/engine-error.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { Orphans } from '../queue/orphans.ts';
import type { SliceQueue, Turn } from '../queue/queue.ts';
import { closeSlice, endLease, takeSlice } from '../state/slices.ts';
import type { EngineStore } from '../state/store.ts';
import { unpackCells } from './cells.ts';
import { pause, untilDone } from './feeder.ts';
import { endedLacks, type LackedFile, noteLacks } from './lacks.ts';
import { every, type WorkerSession } from './session.ts';

/** Delay where no slice is free, ms. */
const idleMs = 250;
/** How long no worker takes a slice that only waits for others, ms. */
const waitsMs = 1000;
/** How long a worker without task slots holds only one slice, ms. */
const searchesAfterMs = 15_000;
/** Interval of the check for missing files, and delay where slices wait for files, ms. */
const lacksMs = 1000;
/** Longest delay between slices whose files are missing here: a queue that cannot choose returns them again and again. */
const maxLacksMs = 15_000;
/** Number of cells whose records are loaded together. */
const cellsAtOnce = 64;
/** Largest number of cells that the groups of held slices gather: a worker has the records of all of them in memory. */
const maxMembers = 16_384;
/** How long to retry the end of a slice, in leases: later the slice belongs to another worker. */
const leasesToEnd = 2;

/** The ports from which a source takes its slices. */
export interface SourcePorts {
  readonly pool: EnginePool;
  readonly queue: SliceQueue;
  readonly store: EngineStore;
  readonly clock: Clock;
}

/** The images of requests, some of which may be missing on this machine. */
export interface SliceImages extends ImageFiles {
  /** Returns the files that were `unread` since the last call. */
  takeUnread?(): readonly LackedFile[];
  /** Forgets that a file is missing: it may be here by now. */
  forget?(path: string): void;
}

export interface SourceSettings {
  readonly run: number;
  readonly session: WorkerSession;
  readonly leaseMs: number;
  readonly plan: Pick<RunPlan, 'resolve' | 'gathers'>;
  /** The images of requests, where their facts have to be loaded. */
  readonly images?: SliceImages;
  /** Called with the first file of a slice that this machine does not have as the run knows it. */
  readonly onLacked?: (path: string) => void;
  /** Whether no more slices are to be taken. */
  readonly isOver: () => boolean;
  /** Whether nothing new is sent, so that no slices are taken. */
  readonly isHeldBack?: () => boolean;
  /** How long the worker has had no task slot, ms; undefined where that is unknown. Absent: its run needs none. */
  readonly lackedSlotMs?: () => number | undefined;
  /** Called with the number of held slices, when cells of a further slice are ready and when one has ended. */
  readonly onHeld?: (slices: number) => void;
  /** Called before a slice is reported as ended. May reject while the engine is unavailable. */
  readonly beforeEnd?: () => Promise<void>;
}

interface HeldSlice extends Lease {
  /** Numbers of all cells of the slice. */
  readonly numbers: readonly number[];
  /** Numbers of those whose groups are in another slice. */
  readonly split: readonly number[];
  /** Number of cells that its groups gather. */
  readonly members: number;
  /** Cells that were not passed to the run yet. */
  cells: readonly Cell[];
  left: readonly LeftRecord[] | undefined;
}

/**
 * The slices of one run, for one worker. A slice is taken from the queue, then from its holder, by its epoch; then its unfinished jobs are
 * read, and all records that its cells need. Waits while the engine is unavailable.
 */
export class SliceSource implements CellSource {
  readonly #ports: SourcePorts;
  readonly #settings: SourceSettings;
  readonly #held = new Map<number, HeldSlice>();
  /** Slices that need a file which this machine does not have. */
  readonly #lacking = new Set<number>();
  #hasTold = false;
  /** Files that were unread when a cell was resolved last, by cell number. */
  readonly #unread = new Map<number, readonly LackedFile[]>();
  /** Delay where no slice can be done here, and after one that lacks files, ms. */
  #idleMs = idleMs;
  #turnMs = lacksMs;
  /** The slice whose cells are passed to the run now. */
  #giving: HeldSlice | undefined;
  readonly #listeners = new Set<(lease: Lease) => void>();
  readonly #orphans: Orphans;
  readonly #ending = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #stopKeeping: () => Promise<void>;

  constructor(ports: SourcePorts, settings: SourceSettings) {
    this.#ports = ports;
    this.#settings = settings;
    const thirdMs = Math.ceil(settings.leaseMs / 3);
    const { run, session } = settings;
    this.#orphans = new Orphans({ pool: ports.pool, run, session: session.session }, () => this.#held.size);
    session.onOver(() => {
      for (const lease of this.#held.values()) this.#lose(lease);
    });
    const stops = [
      every(ports.clock, thirdMs, () => this.#keep()),
      every(ports.clock, thirdMs, () => this.#orphans.count()),
      every(ports.clock, lacksMs, () => this.#lookForLacked()),
    ];
    this.#stopKeeping = async () => {
      await Promise.all(stops.map((stop) => stop()));
    };
  }

  /** True where others know the worker to be gone: it decides nothing more, and begins a new session. */
  get isDead(): boolean {
    return this.#settings.session.isOver;
  }

  async next(most: number, signal: AbortSignal): Promise<CellBatch> {
    while (!signal.aborted) {
      const held = this.#giving ?? (await this.#take(signal));
      if (held !== undefined) return this.#give(held, most);
      if (this.isDead || this.#settings.isOver()) return { cells: [], last: true };
      await pause(this.#ports.clock, this.#idleMs, signal);
    }
    return { cells: [], last: false };
  }

  /** Resolves a cell by the plan and the state. */
  resolve(cell: Cell, lookup: RecordLookup, isOwn?: boolean): readonly Slot[] {
    const { plan, images } = this.#settings;
    images?.takeUnread?.();
    const slots = plan.resolve(cell, lookup, isOwn);
    const unread = images?.takeUnread?.() ?? [];
    if (unread.length > 0) this.#unread.set(cell.number, unread);
    else this.#unread.delete(cell.number);
    return slots;
  }

  end(lease: Lease & { readonly belowDoubt?: true }, said: SliceEnd): void {
    const held = this.#held.get(lease.slice);
    const isHeld = held?.epoch === lease.epoch;
    // A path from a reply: the cell has no result until the file was asked for.
    const isUnread = isHeld && this.#takeUnread(held).length > 0;
    const how = said === 'closed' && isUnread ? 'waits' : said;
    if (isHeld) {
      this.#held.delete(lease.slice);
      this.#settings.onHeld?.(this.#held.size);
    }
    this.#giveNoMore(lease);
    if (isHeld || held === undefined) this.#ports.store.release(lease.slice);
    const ending = this.#end(lease, how).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  onLost(listener: (lease: Lease) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onOrphans(listener: (areThere: boolean) => void): () => void {
    return this.#orphans.onChange(listener);
  }

  /** Gives back all slices still held. */
  async close(): Promise<void> {
    await this.#stopKeeping();
    for (const lease of this.#held.values()) {
      this.#held.delete(lease.slice);
      const ending = this.#end(lease, 'waits', 0).finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    }
    const { clock } = this.#ports;
    const cancel = clock.at(clock.now() + leasesToEnd * this.#settings.leaseMs, () => this.#closing.abort());
    await Promise.all(this.#ending);
    cancel();
  }

  /**
   * Whether this worker can use one more slice. A worker without task slots takes one, to ask for slots: more would be missing for others,
   * who could begin. After a while it takes more, in search of tasks that nobody polls and that take slots.
   */
  get #mayTake(): boolean {
    if (this.#settings.isHeldBack?.() === true) return false;
    if (sum([...this.#held.values()].map(({ members }) => members)) >= maxMembers) return false;
    const lackedMs = (this.#settings.lackedSlotMs ?? (() => 0))();
    if (lackedMs === undefined) return false;
    return lackedMs === 0 || lackedMs >= searchesAfterMs || this.#held.size === 0 || this.#orphans.areThere;
  }

  #give(held: HeldSlice, most: number): CellBatch {
    const cells = held.cells.slice(0, most);
    const { slice, epoch, left } = held;
    held.cells = held.cells.slice(most);
    held.left = undefined;
    const isWhole = held.cells.length === 0;
    this.#giving = isWhole ? undefined : held;
    return {
      cells,
      of: { slice, epoch, isWhole, ...(left === undefined ? {} : { left }) },
      last: false,
    };
  }

  /** Takes a slice; undefined where none is free or the engine is unavailable. */
  async #take(signal: AbortSignal): Promise<HeldSlice | undefined> {
    if (this.isDead || this.#settings.isOver() || !this.#mayTake) return undefined;
    const { queue, pool, clock, store } = this.#ports;
    const { run, session } = this.#settings;
    const { invocation } = store.others;
    this.#idleMs = idleMs;
    const turn = await queue.take(run, session.session).catch((error: unknown) => {
      // A wrong clock, for example: without an error it would take no slice for ever.
      if (error instanceof EngineError && !error.mayPass) pool.troubles.fail(error);
      return undefined;
    });
    if (turn === undefined) {
      if (this.#lacking.size > 0) this.#idleMs = lacksMs;
      return undefined;
    }
    // Another worker has its files and may be busy: each time, the slice is given back for longer.
    if (this.#lacking.has(turn.slice)) {
      this.#turnMs = Math.min(maxLacksMs, 2 * this.#turnMs);
      this.#idleMs = this.#turnMs;
      await queue.giveBack(turn, lacksMs).catch(() => undefined);
      return undefined;
    }
    this.#turnMs = lacksMs;
    const taken = await untilDone(
      () => takeSlice(pool, run, turn.slice, session.session, invocation),
      clock,
      signal,
    );
    if (taken === undefined) {
      // The slice is done or was removed. If it is not, the queue is fed with it again.
      if (!signal.aborted && !this.#settings.isOver()) await queue.done(turn).catch(() => undefined);
      return undefined;
    }
    const cells = unpackCells(taken.cells, pool.shown);
    const { gathers = () => [] } = this.#settings.plan;
    const held: HeldSlice = {
      slice: turn.slice,
      epoch: taken.epoch,
      cells,
      numbers: cells.map(({ number }) => number),
      split: cells.flatMap(({ number, groupsElsewhere }) => (groupsElsewhere ? [number] : [])),
      members: sum(cells.map(({ number, groupsElsewhere: is }) => (is ? 0 : gathers(number).length))),
      left: undefined,
    };
    // Both slices of a cell may be there: the first was fed again for what was heard late, or lost here without notice.
    if ([...this.#held.values()].some((other) => isOfSame(held, other) || isOfSame(other, held))) {
      await this.#end(held, 'waits');
      return undefined;
    }
    const before = this.#held.get(turn.slice);
    this.#held.set(turn.slice, held);
    this.#orphans.onTaken();
    if (before !== undefined) this.#lose(before);
    // Decisions of an earlier lease end here. Its turns in flight stay visible until they end, and may never be written.
    await store.settled();
    // A worker that held the slice in between may have changed records read before.
    store.release(turn.slice);
    const left = await untilDone(() => this.#load(held), clock, signal);
    const lacked = left === undefined ? [] : await this.#lackedOf(held);
    if (lacked.length > 0 && this.#held.get(held.slice) === held) {
      await untilDone(() => noteLacks(pool, run, session.session, held.slice, lacked), clock, signal);
      const first = lacked.find(({ sha256 }) => sha256 !== '');
      if (first !== undefined && !this.#hasTold) this.#settings.onLacked?.(first.path);
      this.#hasTold ||= first !== undefined;
      this.#lacking.add(held.slice);
      this.#held.delete(held.slice);
      store.release(held.slice);
      await this.#end(held, 'waits', lacksMs);
      return undefined;
    }
    // Aborted: `close` gives the slice back.
    if (left === undefined || this.#held.get(held.slice) !== held) return undefined;
    held.left = left;
    // Not before: unused task slots go to other workers.
    this.#settings.onHeld?.(this.#held.size);
    return held;
  }

  /** Reads everything that decisions about a slice depend on. @throws EngineError */
  async #load({ slice, cells, members }: HeldSlice): Promise<readonly LeftRecord[]> {
    const { store } = this.#ports;
    const { images } = this.#settings;
    for (let from = 0; from < cells.length; from += cellsAtOnce)
      await withRecords(
        cells.slice(from, from + cellsAtOnce),
        (cell, lookup) => {
          this.resolve(cell, lookup);
        },
        async (keys) => {
          await store.prefetch(keys, slice, members > 0);
          return new Map(
            keys.flatMap((key) => {
              const record = store.peek(key);
              return record === undefined ? [] : [[key, record] as const];
            }),
          );
        },
        images,
      );
    // Read last, so that it includes all decisions of the former holder before the takeover.
    return await store.left(slice);
  }

  /** Returns files that cells of a slice need and that cannot be used here. */
  async #lackedOf(held: HeldSlice): Promise<readonly LackedFile[]> {
    // Files that were unread while the records were loaded.
    if (this.#takeUnread(held).length === 0) return [];
    const turns = new Turns();
    for (const cell of held.cells) {
      this.resolve(cell, (key) => this.#ports.store.peek(key));
      await turns.next();
    }
    return this.#takeUnread(held);
  }

  #takeUnread({ numbers }: HeldSlice): readonly LackedFile[] {
    const unread = new Map<string, LackedFile>();
    for (const number of numbers) {
      for (const file of this.#unread.get(number) ?? []) unread.set(file.path, file);
      this.#unread.delete(number);
    }
    return [...unread.values()];
  }

  async #lookForLacked(): Promise<void> {
    if (this.#lacking.size === 0) return;
    const { run, session, images } = this.#settings;
    for (const { slice, path } of await endedLacks(this.#ports.pool, run, session.session)) {
      this.#lacking.delete(slice);
      images?.forget?.(path);
    }
  }

  async #keep(): Promise<void> {
    if (this.isDead) return;
    const { queue } = this.#ports;
    const { run } = this.#settings;
    const turns = [...this.#held.keys()].map((slice): Turn => ({ run, slice }));
    for (const { slice } of await queue.keep(turns)) {
      const lease = this.#held.get(slice);
      if (lease !== undefined) this.#lose(lease);
    }
  }

  #giveNoMore({ slice, epoch }: Lease): void {
    if (this.#giving?.slice === slice && this.#giving.epoch === epoch) this.#giving = undefined;
  }

  #lose({ slice, epoch }: Lease): void {
    this.#giveNoMore({ slice, epoch });
    for (const listener of this.#listeners) listener({ slice, epoch });
  }

  /** Reports that a slice has ended here. If that fails, the slice goes to others when the lease expires. */
  async #end(lease: Parameters<SliceSource['end']>[0], how: SliceEnd, delayMs = waitsMs): Promise<void> {
    const { slice, epoch, belowDoubt = false } = lease;
    const { pool, queue, clock } = this.#ports;
    const { run } = this.#settings;
    const turn: Turn = { run, slice };
    await untilDone(
      async () => {
        await this.#settings.beforeEnd?.();
        const isDone = how === 'closed' && (await closeSlice(pool, run, slice, epoch, belowDoubt));
        await endLease(pool, run, slice, epoch);
        if (how === 'lost') return;
        if (isDone || how === 'closed') await queue.done(turn).catch(() => undefined);
        else await queue.giveBack(turn, delayMs).catch(() => undefined);
      },
      clock,
      this.#closing.signal,
    );
  }
}

/** Whether one of the slices has the groups of a cell of the other. */
const isOfSame = ({ slice, split }: HeldSlice, other: HeldSlice): boolean =>
  slice !== other.slice && split.some((number) => other.numbers.includes(number));

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
