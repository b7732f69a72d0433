import type { Job, Queue, Worker } from 'bullmq';
import type { Clock } from '../../run/clock.ts';
import type { SliceQueue, Turn } from './queue.ts';

/** A BullMQ job for a slice. */
type SliceJob = Job<Turn>;

/** The BullMQ objects for the jobs of one run. */
export interface BullmqRun {
  /** A worker that never runs jobs and takes them by hand: BullMQ's loop would end the slice with the end of a function. */
  readonly worker: Worker<Turn>;
  readonly queue: Queue<Turn>;
  close(): Promise<void>;
}

/** A place where BullMQ stores its jobs. Each run has a queue of its own, because a worker takes slices only of its current run. */
export interface BullmqPlace {
  /** Opens the queue of a run. @throws EngineError; any error of BullMQ where the place is unavailable */
  open(run: number): Promise<BullmqRun>;
  /** Removes all data of a run. @throws as `open` */
  remove(run: number): Promise<void>;
  /** Checks whether this worker may take slices now. @throws EngineError with the reason why it may not */
  readonly check?: () => Promise<void>;
  /** Closes the connections that all runs share. */
  readonly close?: () => Promise<void>;
}

/** Returns the name of a run's queue. */
export const queueName = (run: number): string => `promptpress-slices-${run}`;

/**
 * Number of searches for expired leases of other workers per lease. All workers together search once in that time; where the worker whose
 * turn it was has died, it takes up to twice as long.
 */
const looksPerLease = 4;

/** Largest priority number in BullMQ. */
const lastPlace = 2 ** 21 - 1;

/**
 * Returns the BullMQ settings for slices.
 *
 * A slice whose worker dies goes to another one, any number of times: BullMQ's default fails it after the second time. Finished jobs are
 * forgotten at once, because a known job could not be fed again.
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

/** A queue of slices in BullMQ. Jobs are taken by hand, so no job ever fails. */
export class BullmqQueue implements SliceQueue {
  readonly #place: BullmqPlace;
  readonly #worker: string;
  readonly #leaseMs: number;
  readonly #clock: Clock;
  readonly #runs = new Map<number, Promise<BullmqRun>>();
  readonly #held = new Map<string, { readonly job: SliceJob; readonly token: string }>();
  #tokens = 0;
  /** Runs whose expired leases are searched for. */
  readonly #looking = new Set<number>();

  /**
   * @param worker a unique name
   * @param clock clock of this machine, as BullMQ reads it
   */
  constructor(
    place: BullmqPlace,
    settings: { readonly worker: string; readonly leaseMs: number; readonly clock: Clock },
  ) {
    this.#place = place;
    this.#worker = settings.worker;
    this.#leaseMs = settings.leaseMs;
    this.#clock = settings.clock;
  }

  async take(run: number): Promise<Turn | undefined> {
    await this.#place.check?.();
    const { worker } = await this.#of(run);
    if (!this.#looking.has(run)) await worker.startStalledCheckTimer();
    this.#looking.add(run);
    this.#tokens += 1;
    const token = `${this.#worker}:${this.#tokens}`;
    const job = (await worker.getNextJob(token, { block: false })) as SliceJob | undefined;
    if (job === undefined) return undefined;
    const { slice } = job.data;
    this.#held.set(nameOf({ run, slice }), { job, token });
    return { run, slice };
  }

  async keep(turns: readonly Turn[]): Promise<readonly Turn[]> {
    for (const run of new Set(turns.map((turn) => turn.run))) {
      const held = turns.flatMap((turn) => {
        const found = turn.run === run ? this.#held.get(nameOf(turn)) : undefined;
        return found === undefined ? [] : [{ id: found.job.id ?? '', token: found.token }];
      });
      if (held.length === 0) continue;
      const { worker } = await this.#of(run);
      const lost = await worker.extendJobLocks(
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
      // BullMQ rejects a delay of 0.
      await job.moveToDelayed(this.#clock.now() + Math.max(1, delayMs), token);
    });
  }

  done(turn: Turn): Promise<void> {
    return this.#end(turn, async ({ job, token }) => {
      await job.moveToCompleted(turn, token, false);
    });
  }

  async feed(run: number, slices: readonly number[]): Promise<void> {
    if (slices.length === 0) return;
    const { queue } = await this.#of(run);
    // A queue is paused before its removal, which may have been interrupted.
    if (await queue.isPaused()) await queue.resume();
    await queue.addBulk(
      slices.map((slice) => ({
        name: 'slice',
        data: { run, slice },
        opts: {
          // BullMQ does not add a job whose id it knows.
          jobId: nameOf({ run, slice }),
          // Slices that were begun come first. By default BullMQ puts a dead worker's slices behind all that wait.
          priority: Math.min(slice, lastPlace),
        },
      })),
    );
  }

  async leave(run: number): Promise<void> {
    const opened = this.#runs.get(run);
    this.#runs.delete(run);
    this.#looking.delete(run);
    const prefix = nameOf({ run, slice: '' });
    for (const name of this.#held.keys()) if (name.startsWith(prefix)) this.#held.delete(name);
    await (await opened?.catch(() => undefined))?.close();
  }

  async remove(run: number): Promise<void> {
    await this.leave(run);
    await this.#place.remove(run);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runs.keys()].map((run) => this.leave(run)));
    await this.#place.close?.();
  }

  #of(run: number): Promise<BullmqRun> {
    const known = this.#runs.get(run);
    if (known !== undefined) return known;
    const opening = this.#place.open(run);
    this.#runs.set(run, opening);
    // If the place is unavailable, the next call tries again.
    opening.catch(() => {
      if (this.#runs.get(run) === opening) this.#runs.delete(run);
    });
    return opening;
  }

  /** A slice that another worker holds by now is ended by that worker. */
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

const nameOf = ({ run, slice }: { readonly run: number; readonly slice: number | '' }): string =>
  `${run}-${slice}`;

/** Error codes of BullMQ: no such job, not locked, not in progress, locked by another worker. */
const lostCodes = new Set([-1, -2, -3, -6]);

const isLost = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && lostCodes.has(error.code as number);
