import type { Clock } from '../../run/clock.ts';
import type { Connection } from '../postgres/pool.ts';
import type { SliceQueue } from './queue.ts';

/** How often the slices of a run are compared with the queue, ms. */
const everyMs = 5000;
/** So many slices at a time: more than a feeder has waiting. */
const most = 4096;

/** Feeds a queue with what it has lost, and with what nobody told it: it is asked to know every slice that is not done. */
export class Refeeder {
  readonly #queue: SliceQueue;
  readonly #database: Connection;
  readonly #clock: Clock;
  readonly #run: number;
  #cancel: (() => void) | undefined;
  #feeding: Promise<void> | undefined;
  #isOver = false;
  #error: unknown;

  constructor(queue: SliceQueue, database: Connection, clock: Clock, run: number) {
    this.#queue = queue;
    this.#database = database;
    this.#clock = clock;
    this.#run = run;
    this.#feedIn(everyMs);
  }

  /** Why the last comparison failed; undefined: it did not. */
  get error(): unknown {
    return this.#error;
  }

  /** Resolves once nothing is under way. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#cancel?.();
    await this.#feeding;
  }

  #feedIn(ms: number): void {
    if (this.#isOver) return;
    this.#cancel = this.#clock.at(this.#clock.now() + ms, () => {
      this.#feeding = this.#feed();
    });
  }

  async #feed(): Promise<void> {
    try {
      await refeed(this.#queue, this.#database, this.#run);
      this.#error = undefined;
    } catch (error) {
      this.#error = error;
    }
    this.#feedIn(everyMs);
  }
}

/** Asks a queue to know every slice of a run that is not done. @throws EngineError; what the queue throws */
export async function refeed(queue: SliceQueue, database: Connection, run: number): Promise<void> {
  const { rows } = await database.query<{ n: number }>(
    'SELECT n FROM promptpress.slices WHERE run = $1 AND NOT done ORDER BY n LIMIT $2',
    [run, most],
  );
  await queue.feed(
    run,
    rows.map(({ n }) => n),
  );
}
