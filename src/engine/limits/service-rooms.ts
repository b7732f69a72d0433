import type { Clock } from '../../run/clock.ts';
import type { Rooms } from '../../run/ports.ts';
import { type Away, type Database, Inquiry } from './inquiry.ts';

/** How often room is asked for, ms; soon where it would change something. */
const everyMs = 500;
const soonMs = 60;
/** A worker that has work uses its first room at once: after this time it is known to have none, ms. */
const unusedMs = 200;
/** What was granted counts for so long without an answer, ms: after 10 s it may be another's. */
const validMs = 5000;
/** A worker that had room and nothing for it wants none for so long, ms: others may have a use for it. */
const restMs = 3000;

interface RoomsAnswer {
  readonly granted: number;
  readonly target: number;
  readonly accepted: number | null;
}

/**
 * The tasks that this worker may have in flight, of those that all workers of a service may. It asks for one more than it uses, for one
 * while it has none, for all while it uses all that it has, and for none while it holds no slice. Of room that nobody wants it has one,
 * so that it may take a slice.
 */
export class ServiceRooms implements Rooms {
  readonly #service: string;
  readonly #worker: string;
  readonly #limit: number;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #onMore: () => void;
  readonly #inquiry: Inquiry;
  #granted = 0;
  /** What the worker should come down to when its tasks end. */
  #target = 0;
  #used = 0;
  /** The most that were used at once since it asked last. */
  #peak = 0;
  #asked = 0;
  /** What it said that it wants. */
  #wanted = 0;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #slices = 0;
  #lacksSince: number | undefined;
  /** True from its first slice until it has asked for room. */
  #isBeginning = false;
  #isFull: boolean | null = false;
  #began = 0;

  /** @param onMore called when more was granted */
  constructor(
    { service, worker, limit }: { readonly service: string; readonly worker: string; readonly limit: number },
    ports: { readonly database: Database; readonly clock: Clock },
    onMore: () => void,
  ) {
    this.#service = service;
    this.#worker = worker;
    this.#limit = limit;
    this.#database = ports.database;
    this.#clock = ports.clock;
    this.#onMore = onMore;
    this.#inquiry = new Inquiry(ports.clock, () => this.#ask());
    this.#inquiry.wake();
  }

  get granted(): number {
    if (this.#clock.now() - this.#inquiry.answeredAt > validMs) return 0;
    return Math.min(this.#granted, Math.max(this.#used, this.#target));
  }

  get away(): Away | undefined {
    return this.#inquiry.away;
  }

  /** For how long the worker has had no room and no task, ms; undefined: nobody has said yet what it may have. */
  get lackedMs(): number | undefined {
    if (this.#inquiry.answeredAt === Number.NEGATIVE_INFINITY) return undefined;
    return this.#lacksSince === undefined ? 0 : this.#clock.now() - this.#lacksSince;
  }

  /** The worker holds so many slices. */
  noteSlices(slices: number): void {
    const isFirst = this.#slices === 0 && slices > 0;
    this.#slices = slices;
    if (!isFirst) return;
    this.#isBeginning = true;
    this.#inquiry.wake();
  }

  /** The run has so many tasks in flight. */
  note(tasks: number): void {
    if (tasks > this.#used) this.#began += tasks - this.#used;
    this.#used = tasks;
    this.#peak = Math.max(this.#peak, tasks);
    if (this.#wanted >= this.#limit || tasks < this.#granted) return;
    this.#wanted = this.#limit;
    this.#inquiry.wake();
  }

  /** The service has refused one more task. @param isFull null: it does not count tasks, as was found since */
  noteFull(isFull: true | null = true): void {
    this.#isFull = isFull;
    this.#inquiry.wake();
  }

  /** Gives all back. */
  async stop(): Promise<void> {
    await this.#inquiry.stop();
    this.#granted = 0;
    // A database that is away frees what is granted once this worker is known to be over.
    await this.#database
      .query('SELECT promptpress.rooms_leave($1, $2)', [this.#service, this.#worker])
      .catch(() => undefined);
  }

  /** How many tasks it wants. */
  #wish(holds: number): number {
    const now = this.#clock.now();
    if (this.#peak > 0) return this.#peak >= holds ? this.#limit : Math.min(this.#limit, this.#peak + 1);
    if (this.#slices === 0) return 0;
    if (this.#isBeginning) return this.#limit;
    if (holds > 0) this.#restsUntil = now + restMs;
    return now < this.#restsUntil ? 0 : 1;
  }

  async #ask(): Promise<number> {
    // Until the answer is there no more than this is used: the database may give away the rest.
    const holds = this.granted;
    this.#granted = Math.max(holds, this.#used);
    this.#wanted = this.#wish(holds);
    const [isFull, began, isBeginning] = [this.#isFull, this.#began, this.#isBeginning];
    this.#peak = this.#used;
    this.#isFull = false;
    this.#isBeginning = false;
    this.#began = 0;
    this.#asked += 1;
    const says = [this.#granted, this.#used, this.#wanted, isFull, began];
    let rows: readonly unknown[];
    try {
      ({ rows } = await this.#database.query(
        'SELECT * FROM promptpress.rooms_ask($1, $2, $3, $4, $5, $6, $7, $8, $9)',
        [this.#service, this.#worker, this.#asked, this.#limit, ...says],
      ));
    } catch (error) {
      // Nobody may have heard it: it is said again.
      const saidSince = this.#isFull as boolean | null;
      this.#isFull = saidSince === false ? isFull : saidSince;
      this.#isBeginning ||= isBeginning;
      this.#began += began;
      throw error;
    }
    const answer = rows[0] as RoomsAnswer | undefined;
    if (answer === undefined) throw new Error('Internal error: rooms_ask gave no row');
    this.#inquiry.onAnswered();
    this.#granted = answer.granted;
    this.#target = answer.target;
    if (this.granted + this.#used > 0) this.#lacksSince = undefined;
    else this.#lacksSince ??= this.#clock.now();
    if (Math.min(this.#granted, Math.max(this.#used, this.#target)) > holds) this.#onMore();
    // What is to go back goes back at once, so that another gets it.
    if (this.#granted > Math.max(this.#used, this.#target)) return soonMs;
    return holds === 0 && this.#peak === 0 && this.#granted > 0 ? unusedMs : everyMs;
  }
}
