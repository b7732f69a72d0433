import type { Job, Queue, Worker } from 'bullmq';
import type { Clock } from '../../run/clock.ts';
import type { SliceQueue, Turn } from './queue.ts';

/** A job of a slice says which one it is. */
type SliceJob = Job<Turn>;

/** What BullMQ needs to keep the jobs of one run. */
export interface BullmqRun {
  /** Never runs, and takes by hand: BullMQ's own loop would run a slice as a function, whose end would be the slice's. */
  readonly worker: Worker<Turn>;
  readonly queue: Queue<Turn>;
  close(): Promise<void>;
}

/** What BullMQ keeps its jobs in. Each run has a queue of its own: a worker takes slices of the run that it is at work on. */
export interface BullmqPlace {
  /** @throws EngineError; what BullMQ throws where the place is away */
  open(run: number): Promise<BullmqRun>;
  /** Forgets all of a run. @throws as `open` */
  remove(run: number): Promise<void>;
  /** @throws EngineError why this worker may take nothing now */
  readonly check?: () => Promise<void>;
  /** Lets go of the connections that all runs share. */
  readonly close?: () => Promise<void>;
}

/** The queue of a run. */
export const queueName = (run: number): string => `promptpress-slices-${run}`;

/**
 * How often others' slices are looked for whose lease is over, as a part of the lease. All workers together look once in that time; where
 * the one whose turn it was has died, up to twice the time passes.
 */
const looksPerLease = 4;

/** The greatest number by which BullMQ orders jobs. */
const lastPlace = 2 ** 21 - 1;

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
  readonly #clock: Clock;
  readonly #runs = new Map<number, Promise<BullmqRun>>();
  readonly #held = new Map<string, { readonly job: SliceJob; readonly token: string }>();
  #tokens = 0;
  /** Runs of which it looks for slices whose lease is over. */
  readonly #looking = new Set<number>();

  /**
   * @param worker a name that no other has
   * @param clock of this machine, as BullMQ reads it
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
      // BullMQ has no job that is delayed by nothing.
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
    // Whoever removes a queue halts it first, and may have died before the rest.
    if (await queue.isPaused()) await queue.resume();
    await queue.addBulk(
      slices.map((slice) => ({
        name: 'slice',
        data: { run, slice },
        opts: {
          // A job that is known by this name is not added a second time.
          jobId: nameOf({ run, slice }),
          // What was begun goes on before anything else is begun: otherwise BullMQ puts what a dead worker has left behind all that waits.
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
    // Where it is away, whoever asks next tries again.
    opening.catch(() => {
      if (this.#runs.get(run) === opening) this.#runs.delete(run);
    });
    return opening;
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

const nameOf = ({ run, slice }: { readonly run: number; readonly slice: number | '' }): string =>
  `${run}-${slice}`;

/** Codes of BullMQ: there is no such job, it is not locked, it is not being worked on, its lock is another's. */
const lostCodes = new Set([-1, -2, -3, -6]);

const isLost = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && lostCodes.has(error.code as number);
