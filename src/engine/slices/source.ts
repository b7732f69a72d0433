import { Turns } from '../../pipeline/turns.ts';
import type { Cell } from '../../plan/cell.ts';
import type { ImageFiles } from '../../plan/request/image-files.ts';
import { withRecords } from '../../plan/resolve/load-records.ts';
import type { RecordLookup, Slot } from '../../plan/slot.ts';
import type { Clock } from '../../run/clock.ts';
import type { SliceEnd } from '../../run/events.ts';
import type { CellBatch, CellSource, Hold, LeftRecord, RunPlan } from '../../run/ports.ts';
import { EngineError } from '../postgres/engine-error.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { Orphans } from '../queue/orphans.ts';
import type { SliceQueue, Turn } from '../queue/queue.ts';
import { endHold, takeSlice } from '../state/slices.ts';
import type { EngineStore } from '../state/store.ts';
import { unpackCells } from './cells.ts';
import { pause, untilDone } from './feeder.ts';
import { endedLacks, type LackedFile, noteLacks } from './lacks.ts';
import { every, type WorkerSession } from './session.ts';

/** How long is waited where there is no slice, ms. */
const idleMs = 250;
/** For so long nobody takes a slice that only waits for others, ms. */
const waitsMs = 1000;
/** For so long a worker without room holds one slice at most, ms. */
const searchesAfterMs = 15_000;
/** How often is looked whether files that are not here have come, and how long is waited where slices wait for them, ms. */
const lacksMs = 1000;
/** How long is waited at most between slices of which the files are not here: a queue that cannot choose gives them again and again. */
const mostLacksMs = 15_000;
/** Cells whose records are loaded together. */
const cellsAtOnce = 64;
/** How long it is tried to say that a slice has ended, in leases: later it is somebody else's. */
const leasesToEnd = 2;

/** What a source takes its slices from. */
export interface SourcePorts {
  readonly pool: EnginePool;
  readonly queue: SliceQueue;
  readonly store: EngineStore;
  readonly clock: Clock;
}

/** The files that requests show, of which some may not be here. */
export interface SliceImages extends ImageFiles {
  /** Those that were `unread` since this was asked last. */
  takeUnread?(): readonly LackedFile[];
  /** It may be here by now. */
  forget?(path: string): void;
}

export interface SourceSettings {
  readonly run: number;
  readonly session: WorkerSession;
  readonly leaseMs: number;
  readonly plan: Pick<RunPlan, 'resolve'>;
  /** The files that requests show, where facts of them have to be loaded. */
  readonly images?: SliceImages;
  /** Told of the first file that a slice needs and this machine does not have as the run has it. */
  readonly onLacked?: (path: string) => void;
  /** No more slices are to be taken. */
  readonly isOver: () => boolean;
  /** True while nothing new is sent: no more are taken. */
  readonly isHeldBack?: () => boolean;
  /** For how long the worker has had no room for a task, ms; undefined: that is not known yet. Absent: its run needs none. */
  readonly lackedRoomMs?: () => number | undefined;
  /** Told how many slices are held when the cells of one more can be given, and when one has ended. */
  readonly onHeld?: (slices: number) => void;
  /** Done before a slice is said to have ended. May reject where the engine is away. */
  readonly beforeEnd?: () => Promise<void>;
}

interface HeldSlice extends Hold {
  /** Numbers of all its cells. */
  readonly numbers: readonly number[];
  /** Cells that were not given yet. */
  cells: readonly Cell[];
  left: readonly LeftRecord[] | undefined;
}

/**
 * The slices of one run, as one worker takes them. A slice is taken from the queue, then from whoever held it, by its epoch; then
 * what it was left with is read, and every record that its cells ask for. Where the engine is away, it is waited for.
 */
export class SliceSource implements CellSource {
  readonly #ports: SourcePorts;
  readonly #settings: SourceSettings;
  readonly #held = new Map<number, HeldSlice>();
  /** Slices that need a file which this machine does not have. */
  readonly #lacking = new Set<number>();
  #hasTold = false;
  /** Cells that show files which were not read when they were resolved last, by number. */
  readonly #unread = new Map<number, readonly LackedFile[]>();
  /** How long is waited where there is no slice that can be done here, and after one that is known to lack files, ms. */
  #idleMs = idleMs;
  #turnMs = lacksMs;
  /** The slice whose cells are being given. */
  #giving: HeldSlice | undefined;
  readonly #listeners = new Set<(hold: Hold) => void>();
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
      for (const hold of this.#held.values()) this.#lose(hold);
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

  /** True once others know the worker to be gone: it decides nothing more, and begins anew. */
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

  /** A cell as the plan and the state say. */
  resolve(cell: Cell, lookup: RecordLookup): readonly Slot[] {
    const { plan, images } = this.#settings;
    images?.takeUnread?.();
    const slots = plan.resolve(cell, lookup);
    const unread = images?.takeUnread?.() ?? [];
    if (unread.length > 0) this.#unread.set(cell.number, unread);
    else this.#unread.delete(cell.number);
    return slots;
  }

  end(hold: Hold & { readonly belowDoubt?: true }, said: SliceEnd): void {
    const held = this.#held.get(hold.slice);
    const isHeld = held?.epoch === hold.epoch;
    // A file of which a reply has told: the cell has no outcome before it was asked for.
    const isUnread = isHeld && this.#takeUnread(held).length > 0;
    const how = said === 'closed' && isUnread ? 'waits' : said;
    if (isHeld) {
      this.#held.delete(hold.slice);
      this.#settings.onHeld?.(this.#held.size);
    }
    this.#giveNoMore(hold);
    if (isHeld || held === undefined) this.#ports.store.release(hold.slice);
    const ending = this.#end(hold, how).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  onLost(listener: (hold: Hold) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onOrphans(listener: (areThere: boolean) => void): () => void {
    return this.#orphans.onChange(listener);
  }

  /** Gives back what is still held. */
  async close(): Promise<void> {
    await this.#stopKeeping();
    for (const hold of this.#held.values()) {
      this.#held.delete(hold.slice);
      const ending = this.#end(hold, 'waits', 0).finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    }
    const { clock } = this.#ports;
    const cancel = clock.at(clock.now() + leasesToEnd * this.#settings.leaseMs, () => this.#closing.abort());
    await Promise.all(this.#ending);
    cancel();
  }

  /**
   * True where one more slice is of use here. A worker without room takes one, to ask for room: what it held more would be missed by others,
   * who could begin. It takes more after a while, in search of tasks that nobody polls, and take up the room.
   */
  get #mayTake(): boolean {
    if (this.#settings.isHeldBack?.() === true) return false;
    const lackedMs = (this.#settings.lackedRoomMs ?? (() => 0))();
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

  /** Undefined: there is none, or the engine is away. */
  async #take(signal: AbortSignal): Promise<HeldSlice | undefined> {
    if (this.isDead || this.#settings.isOver() || !this.#mayTake) return undefined;
    const { queue, pool, clock, store } = this.#ports;
    const { run, session } = this.#settings;
    const { invocation } = store.others;
    this.#idleMs = idleMs;
    const turn = await queue.take(run, session.session).catch((error: unknown) => {
      // A clock that is off, for one: without a word it would take nothing for ever.
      if (error instanceof EngineError && !error.mayPass) pool.troubles.fail(error);
      return undefined;
    });
    if (turn === undefined) {
      if (this.#lacking.size > 0) this.#idleMs = lacksMs;
      return undefined;
    }
    // Somebody else has its files, and may be at work: each time it is left for longer.
    if (this.#lacking.has(turn.slice)) {
      this.#turnMs = Math.min(mostLacksMs, 2 * this.#turnMs);
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
      // It is done or was removed; a queue that knows nothing of it is fed with it again where it is not.
      if (!signal.aborted && !this.#settings.isOver()) await queue.done(turn).catch(() => undefined);
      return undefined;
    }
    const cells = unpackCells(taken.cells, pool.shown);
    const held: HeldSlice = {
      slice: turn.slice,
      epoch: taken.epoch,
      cells,
      numbers: cells.map(({ number }) => number),
      left: undefined,
    };
    const before = this.#held.get(turn.slice);
    this.#held.set(turn.slice, held);
    this.#orphans.onTaken();
    if (before !== undefined) this.#lose(before);
    // Nothing more is decided for an earlier holding of it. What such a holding has under way is shown until it is over, and may never be written.
    await store.settled();
    // What an earlier holding of it had read, whoever held it since may have changed.
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
    // Aborted: `close` gives it back.
    if (left === undefined || this.#held.get(held.slice) !== held) return undefined;
    held.left = left;
    // Not before: room that is not used at once is given to others.
    this.#settings.onHeld?.(this.#held.size);
    return held;
  }

  /** Reads all that decisions about a slice are made from. @throws EngineError */
  async #load({ slice, cells }: HeldSlice): Promise<readonly LeftRecord[]> {
    const { store } = this.#ports;
    const { images } = this.#settings;
    for (let from = 0; from < cells.length; from += cellsAtOnce)
      await withRecords(
        cells.slice(from, from + cellsAtOnce),
        (cell, lookup) => {
          this.resolve(cell, lookup);
        },
        async (keys) => {
          await store.prefetch(keys, slice);
          return new Map(
            keys.flatMap((key) => {
              const record = store.peek(key);
              return record === undefined ? [] : [[key, record] as const];
            }),
          );
        },
        images,
      );
    // Read last: what was decided by the former holder before the takeover is in it.
    return await store.left(slice);
  }

  /** Files that cells of a slice ask for, and that cannot be used here. */
  async #lackedOf(held: HeldSlice): Promise<readonly LackedFile[]> {
    // What was unread while they were loaded.
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
      const hold = this.#held.get(slice);
      if (hold !== undefined) this.#lose(hold);
    }
  }

  #giveNoMore({ slice, epoch }: Hold): void {
    if (this.#giving?.slice === slice && this.#giving.epoch === epoch) this.#giving = undefined;
  }

  #lose({ slice, epoch }: Hold): void {
    this.#giveNoMore({ slice, epoch });
    for (const listener of this.#listeners) listener({ slice, epoch });
  }

  /** Says that a slice has ended here. What cannot be said falls to others when the lease is over. */
  async #end(hold: Parameters<SliceSource['end']>[0], how: SliceEnd, delayMs = waitsMs): Promise<void> {
    const { slice, epoch, belowDoubt = false } = hold;
    const { pool, queue, clock } = this.#ports;
    const { run } = this.#settings;
    const turn: Turn = { run, slice };
    await untilDone(
      async () => {
        await this.#settings.beforeEnd?.();
        const isDone = how === 'closed' && (await closeSlice(pool, run, slice, epoch, belowDoubt));
        await endHold(pool, run, slice, epoch);
        if (how === 'lost') return;
        if (isDone || how === 'closed') await queue.done(turn).catch(() => undefined);
        else await queue.giveBack(turn, delayMs).catch(() => undefined);
      },
      clock,
      this.#closing.signal,
    );
  }
}

/** Says that all cells of a slice are closed. @returns whether it was still held so @throws EngineError */
async function closeSlice(
  pool: EnginePool,
  run: number,
  slice: number,
  epoch: number,
  belowDoubt: boolean,
): Promise<boolean> {
  const { rows } = await pool.query<{ n: number }>(
    `WITH closed AS (
       UPDATE promptpress.slices SET done = true, below_doubt = $4 WHERE run = $1 AND n = $2 AND epoch = $3 RETURNING run, n
     )
     SELECT n, promptpress.fold_totals(run, n) FROM closed`,
    [run, slice, epoch, belowDoubt],
  );
  return rows.length > 0;
}
