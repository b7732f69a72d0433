import type { Rooms } from '../../../src/run/ports.ts';
import type { Timeline } from './timeline.ts';

/** Who is not heard of for so long counts what its slices have open, ms. */
const silentMs = 10_000;
/** Who is not heard of for so long gets no share, ms. */
const quietMs = 3000;
/** What was granted counts for so long without an answer, ms. */
const validMs = 5000;

interface Place {
  granted: number;
  used: number;
  wanted: number;
  seenAt: number;
}

/** Room for the tasks of all workers together, as the engine grants it. */
export class SharedRooms {
  readonly #limit: number;
  readonly #time: Timeline;
  readonly #openOf: (worker: string) => number;
  readonly #places = new Map<string, Place>();

  /** @param openOf tasks that the slices have open which a worker holds */
  constructor(limit: number, time: Timeline, openOf: (worker: string) => number) {
    this.#limit = limit;
    this.#time = time;
    this.#openOf = openOf;
  }

  /** A worker that begins. */
  join(worker: string): WorkerRooms {
    const place: Place = { granted: 0, used: 0, wanted: 0, seenAt: this.#time.now };
    this.#places.set(worker, place);
    return new WorkerRooms(this.#limit, this.#time, (holds, used, wanted) => {
      Object.assign(place, { granted: Math.min(place.granted, holds), used, wanted, seenAt: this.#time.now });
      return this.#grant(worker, place);
    });
  }

  /** A worker ends in good order. */
  leave(worker: string): void {
    this.#places.delete(worker);
  }

  #grant(worker: string, mine: Place): { readonly granted: number; readonly target: number } {
    const { now } = this.#time;
    for (const [name, place] of this.#places)
      if (now - place.seenAt > silentMs) place.granted = place.used = this.#openOf(name);
    const all = [...this.#places];
    const taken = (isCounted: (name: string, place: Place) => boolean): number =>
      all.reduce(
        (sum, [name, place]) => sum + (isCounted(name, place) ? Math.max(place.granted, place.used) : 0),
        0,
      );
    const asking = all
      .filter(([, { seenAt }]) => now - seenAt < quietMs)
      .map(([name, { used, wanted }]) => ({ name, wants: Math.max(used, wanted) }))
      .sort((a, b) => a.wants - b.wants || (a.name < b.name ? -1 : 1));
    let left = this.#limit - taken((_, { seenAt }) => now - seenAt >= quietMs);
    let target = 0;
    for (const [at, { name, wants }] of asking.entries()) {
      const share = Math.max(0, Math.min(wants, Math.floor(left / (asking.length - at))));
      if (name === worker) target = share;
      left -= share;
    }
    const others = taken((name) => name !== worker);
    mine.granted = Math.max(mine.granted, Math.min(target, this.#limit - others));
    return { granted: mine.granted, target };
  }
}

/** What one worker has of it. */
export class WorkerRooms implements Rooms {
  readonly #limit: number;
  readonly #time: Timeline;
  readonly #question: (
    holds: number,
    used: number,
    wanted: number,
  ) => { readonly granted: number; readonly target: number };
  #granted = 0;
  #target = 0;
  #used = 0;
  #peak = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(
    limit: number,
    time: Timeline,
    question: (holds: number, used: number, wanted: number) => { granted: number; target: number },
  ) {
    this.#limit = limit;
    this.#time = time;
    this.#question = question;
  }

  get granted(): number {
    if (this.#time.now - this.#answeredAt > validMs) return 0;
    return Math.min(this.#granted, Math.max(this.#used, this.#target));
  }

  note(tasks: number): void {
    this.#used = tasks;
    this.#peak = Math.max(this.#peak, tasks);
  }

  /** Asks for room. @returns what takes the answer, which says whether there is more than before */
  ask(): () => boolean {
    const holds = this.granted;
    this.#granted = Math.max(holds, this.#used);
    const wanted = this.#peak >= holds ? this.#limit : Math.min(this.#limit, this.#peak + 1);
    this.#peak = this.#used;
    const { granted, target } = this.#question(this.#granted, this.#used, wanted);
    return () => {
      this.#answeredAt = this.#time.now;
      this.#granted = granted;
      this.#target = target;
      return this.granted > holds;
    };
  }
}
