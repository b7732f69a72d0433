import type { ShareRow } from '../../../src/engine/limits/share.ts';
import { TaskShare, type TasksAsk } from '../../../src/engine/limits/task-share.ts';
import type { Timeline } from './timeline.ts';

/** Who is not heard of for so long counts what its slices have open, ms. */
const silentMs = 10_000;
/** Who is not heard of for so long gets no share, ms. */
const quietMs = 3000;

interface Row {
  readonly ask: TasksAsk;
  readonly granted: number;
  readonly since: number;
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
    const ask = share.ask(now);
    const others = [...this.#rows.keys()].filter((id) => id !== worker).map((id) => this.#told(id));
    const taken = others.reduce((sum, { granted, used }) => sum + Math.max(granted, used), 0);
    const before = this.#rows.get(worker);
    const had = before?.granted ?? 0;
    const granted = Math.max(Math.min(had, ask.holds), ask.used, Math.min(ask.target, this.#limit - taken));
    const isSame = had >= ask.unit === granted >= ask.unit;
    this.#rows.set(worker, { ask, granted, since: isSame ? (before?.since ?? now) : now, seenAt: now });
    const own = this.#told(worker);
    return () => {
      const isMore = share.onAnswer(now, own, others);
      share.noteAnswer();
      return isMore;
    };
  }

  #told(id: string): ShareRow {
    const row = this.#rows.get(id);
    if (row === undefined) throw new Error(`${id} has not asked.`);
    const { ask, since, seenAt } = row;
    const { now } = this.#time;
    const isGone = now - seenAt > silentMs;
    const granted = isGone ? this.#openOf(id) : row.granted;
    return {
      ...ask,
      id,
      granted,
      used: isGone ? 0 : ask.used,
      forMs: now - since,
      isSilent: now - seenAt > quietMs,
    };
  }
}
