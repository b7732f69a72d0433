import { TaskShare } from '../../../src/engine/limits/task-share.ts';
import type { Timeline } from './timeline.ts';

/** Who is not heard of for so long counts what its slices have open, ms. */
const silentMs = 10_000;
/** Who is not heard of for so long gets no share, ms. */
const quietMs = 3000;

/** For so long one has its turn, ms. */
const turnMs = 20_000;

interface Row {
  readonly used: number;
  readonly want: number;
  readonly granted: number;
  readonly seenAt: number;
}

/** Room for the tasks of all workers together: their own shares, and the engine that answers them as `promptpress.share` does. */
export class SharedRooms {
  readonly #limit: number;
  readonly #time: Timeline;
  readonly #openOf: (worker: string) => number;
  readonly #rows = new Map<string, Row>();

  /** @param openOf tasks that the slices have open which a worker holds */
  constructor(limit: number, time: Timeline, openOf: (worker: string) => number) {
    this.#limit = limit;
    this.#time = time;
    this.#openOf = openOf;
  }

  /** The share of a worker that begins. */
  join(): TaskShare {
    const clock = { now: () => this.#time.now, at: () => () => undefined };
    return new TaskShare(this.#limit, clock, () => undefined);
  }

  /** A worker ends in good order. */
  leave(worker: string): void {
    this.#rows.delete(worker);
  }

  /** Asks for room. @returns what takes the answer, which says whether there is more than before */
  ask(worker: string, share: TaskShare): () => boolean {
    const { now } = this.#time;
    const { holds = 0, used = 0, want = 0 } = share.ask(now);
    const taken = this.#others(worker, 0).reduce((sum, id) => sum + this.#claimOf(id), 0);
    const fair = this.#fair(worker, want);
    const had = this.#rows.get(worker)?.granted ?? 0;
    const granted = Math.max(Math.min(had, holds), used, Math.min(fair, this.#limit - taken));
    this.#rows.set(worker, { used, want, granted, seenAt: now });
    return () => share.onAnswer(now, { granted, fair });
  }

  /** All divide what the silent ones leave; where that is less than one for each, they take turns. */
  #fair(worker: string, want: number): number {
    const silent = this.#others(worker, quietMs);
    const hungry = this.#others(worker, 0).filter(
      (id) => !silent.includes(id) && (this.#rows.get(id)?.want ?? 0) > 0,
    );
    const left = this.#limit - silent.reduce((sum, id) => sum + this.#claimOf(id), 0);
    const all = [...hungry, worker].toSorted();
    if (want === 0) return left > hungry.length ? 1 : 0;
    if (all.length <= left) return Math.min(want, Math.floor(left / all.length));
    const turn = Math.floor(this.#time.now / turnMs) % all.length;
    return (all.indexOf(worker) + all.length - turn) % all.length < left ? 1 : 0;
  }

  /** Others who were not heard of for at least so long. */
  #others(worker: string, ms: number): readonly string[] {
    return [...this.#rows]
      .filter(([id, { seenAt }]) => id !== worker && this.#time.now - seenAt >= ms)
      .map(([id]) => id);
  }

  #claimOf(id: string): number {
    const { used = 0, granted = 0, seenAt = 0 } = this.#rows.get(id) ?? {};
    return this.#time.now - seenAt > silentMs ? this.#openOf(id) : Math.max(granted, used);
  }
}
