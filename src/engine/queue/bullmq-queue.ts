import type { Job, Queue, Worker } from 'bullmq';
import type { SliceQueue, Turn } from './queue.ts';

/** A job of a slice says which one it is. */
type SliceJob = Job<Turn>;

/** What BullMQ needs of the place that it keeps its jobs in. */
export interface BullmqPlace {
  /** Never runs, and takes by hand: BullMQ's own loop would run a slice as a function, whose end would be the slice's. */
  readonly worker: Worker<Turn>;
  readonly queue: Queue<Turn>;
  /** @throws EngineError why this worker may take nothing now */
  readonly check?: () => Promise<void>;
  close(): Promise<void>;
}

/** All runs of an engine are in one queue. */
export const queueName = 'promptpress-slices';

/** How often others' slices are looked for whose lease is over, as a part of the lease. */
const looksPerLease = 2;

/**
 * How BullMQ is set up for slices.
 *
 * A slice whose worker dies goes to another one however often that happens: BullMQ would fail it after the second time. What it knows of a
 * finished slice would keep the slice from being fed again, so it forgets it at once.
 */
export const workerOptions = (leaseMs: number) => ({
  autorun: false,
  lockDuration: leaseMs,
  stalledInterval: Math.ceil(leaseMs / looksPerLease),
  maxStalledCount: 2 ** 31 - 1,
  runRetryDelay: 500,
  skipLockRenewal: true,
});

export const queueOptions = {
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  streams: { events: { maxLen: 100 } },
} as const;

/** BullMQ says whose turn a slice is. It takes jobs by hand, so no job of it ever fails. */
export class BullmqQueue implements SliceQueue {
  readonly #place: BullmqPlace;
  readonly #worker: string;
  readonly #leaseMs: number;
  readonly #held = new Map<string, { readonly job: SliceJob; readonly token: string }>();
  #tokens = 0;
  /** True once it looks for slices whose lease is over. */
  #isLooking = false;

  /** @param worker a name that no other has */
  constructor(place: BullmqPlace, settings: { readonly worker: string; readonly leaseMs: number }) {
    this.#place = place;
    this.#worker = settings.worker;
    this.#leaseMs = settings.leaseMs;
  }

  async take(): Promise<Turn | undefined> {
    await this.#place.check?.();
    if (!this.#isLooking) await this.#place.worker.startStalledCheckTimer();
    this.#isLooking = true;
    this.#tokens += 1;
    const token = `${this.#worker}:${this.#tokens}`;
    const job = (await this.#place.worker.getNextJob(token, { block: false })) as SliceJob | undefined;
    if (job === undefined) return undefined;
    const { run, slice } = job.data;
    this.#held.set(nameOf({ run, slice }), { job, token });
    return { run, slice };
  }

  async keep(turns: readonly Turn[]): Promise<readonly Turn[]> {
    const held = turns.flatMap((turn) => {
      const found = this.#held.get(nameOf(turn));
      return found === undefined ? [] : [{ id: found.job.id ?? '', token: found.token }];
    });
    if (held.length > 0) {
      const lost = await this.#place.worker.extendJobLocks(
        held.map(({ id }) => id),
        held.map(({ token }) => token),
        this.#leaseMs,
      );
      for (const id of lost) this.#held.delete(id);
    }
    return turns.filter((turn) => !this.#held.has(nameOf(turn)));
  }

  giveBack(turn: Turn, delayMs: number): Promise<void> {
    return this.#end(turn, async ({ job, token }) => {
      // BullMQ reads this clock too, and has no job that is delayed by nothing.
      await job.moveToDelayed(Date.now() + Math.max(1, delayMs), token);
    });
  }

  done(turn: Turn): Promise<void> {
    return this.#end(turn, async ({ job, token }) => {
      await job.moveToCompleted(turn, token, false);
    });
  }

  async feed(run: number, slices: readonly number[]): Promise<void> {
    if (slices.length === 0) return;
    const { queue } = this.#place;
    await queue.addBulk(
      slices.map((slice) => ({
        name: 'slice',
        data: { run, slice },
        // A job that is known by this name is not added a second time.
        opts: { jobId: nameOf({ run, slice }) },
      })),
    );
  }

  async close(): Promise<void> {
    await this.#place.close();
  }

  /** What is not its own any more is somebody else's to end. */
  async #end(
    turn: Turn,
    end: (held: { readonly job: SliceJob; readonly token: string }) => Promise<void>,
  ): Promise<void> {
    const held = this.#held.get(nameOf(turn));
    if (held === undefined) return;
    try {
      await end(held);
    } catch (error) {
      if (!isLost(error)) throw error;
    }
    this.#held.delete(nameOf(turn));
  }
}

const nameOf = ({ run, slice }: Turn): string => `${run}-${slice}`;

/** Codes of BullMQ: there is no such job, it is not locked, it is not being worked on, its lock is another's. */
const lostCodes = new Set([-1, -2, -3, -6]);

const isLost = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && lostCodes.has(error.code as number);
