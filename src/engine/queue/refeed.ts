import type { Clock } from '../../run/clock.ts';
import type { Connection } from '../postgres/pool.ts';
import type { SliceQueue } from './queue.ts';

/** Interval at which the slices of a run are compared with the queue, ms. */
const everyMs = 5000;
/** Largest number of slices at a time: more than a feeder has waiting. */
const most = 4096;

/** Feeds a queue again with slices that it has lost or never received: every slice that is not done. */
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

  /** Error of the last comparison; undefined where it succeeded. */
  get error(): unknown {
    return this.#error;
  }

  /** Stops; resolves once nothing is in flight. */
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

/** Adds every slice of a run to a queue that can be worked on. @throws EngineError; any error of the queue */
export async function refeed(queue: SliceQueue, database: Connection, run: number): Promise<void> {
  const { rows } = await database.query<{ n: number }>(
    'SELECT n FROM promptpress.slices WHERE run = $1 AND NOT done AND NOT promptpress.waits(run, waits_from, n) ORDER BY n LIMIT $2',
    [run, most],
  );
  await queue.feed(
    run,
    rows.map(({ n }) => n),
  );
}
