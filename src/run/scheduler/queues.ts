import { isTextRequest } from '../../plan/job-request.ts';
import type { Job, Want } from '../machine/job.ts';
import { hasItsTurn } from '../machine/retry/button-freshness.ts';
import { deferralCount } from '../machine/retry/deferrals.ts';

interface Place {
  readonly key: string;
  /** The want of this place; the place is void once the job has another want object. */
  readonly want: Want;
  /** The smallest rank goes first, compared number by number. */
  readonly rank: readonly [tries: number, height: number, cell: number, turn: number];
}

/**
 * Jobs with the same want. Deeper jobs go before shallower ones, then earlier cells before later ones, then first come, first
 * served: results arrive early and buttons do not age. A job goes behind jobs with fewer failed tries, so that an outage does not
 * use up all tries of one job, and behind jobs with fewer deferrals, so that a job that is always deferred does not block others.
 * An open modal goes before all: its task takes room on the service and does nothing (gateway 4.6).
 */
export class PriorityQueue {
  readonly #heap = new Heap<Place>((a, b) => compare(a, b) < 0);
  readonly #jobs: ReadonlyMap<string, Job>;
  readonly #fair: boolean;
  #turn = 0;

  /** @param fair only first come, first served: for requests that cost nothing and must not starve */
  constructor(jobs: ReadonlyMap<string, Job>, fair = false) {
    this.#jobs = jobs;
    this.#fair = fair;
  }

  /** An upper bound of the jobs in the queue; void places leave at the front. */
  get size(): number {
    return this.#heap.size;
  }

  join(job: Job): void {
    this.#turn += 1;
    const { key, tries, origin } = job.record;
    const deferrals = deferralCount(job, isTextRequest(job.record.request) ? 'text' : 'submit');
    const before =
      job.want.kind === 'modal' ? Math.min(1, deferrals) - 1 : hasItsTurn(job) ? -0.5 : tries + deferrals;
    const rank = this.#fair
      ? ([0, 0, 0, this.#turn] as const)
      : ([before, -job.depth, origin.cell, this.#turn] as const);
    this.#heap.push({ key, want: job.want, rank });
  }

  /** The job at the front; it stays in the queue. */
  front(): Job | undefined {
    for (;;) {
      const place = this.#heap.peek();
      if (place === undefined) return undefined;
      const job = this.#jobs.get(place.key);
      if (job !== undefined && job.want === place.want) return job;
      this.#heap.pop();
    }
  }

  leave(): void {
    this.#heap.pop();
  }
}

function compare({ rank: a }: Place, { rank: b }: Place): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}

interface Due {
  readonly at: number;
  readonly key: string;
  readonly want: Want;
}

/** Jobs that wait for a moment. */
export class DelayedQueue {
  readonly #heap = new Heap<Due>((a, b) => a.at < b.at);
  readonly #jobs: ReadonlyMap<string, Job>;

  constructor(jobs: ReadonlyMap<string, Job>) {
    this.#jobs = jobs;
  }

  set(job: Job, at: number): void {
    this.#heap.push({ at, key: job.record.key, want: job.want });
  }

  /** When the next job is due. */
  nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /** Takes a job whose moment has come; undefined: none is due. */
  takeDue(now: number): Job | undefined {
    const alarm = this.#next();
    if (alarm === undefined || alarm.at > now) return undefined;
    this.#heap.pop();
    return this.#jobs.get(alarm.key);
  }

  #next(): Due | undefined {
    for (;;) {
      const alarm = this.#heap.peek();
      if (alarm === undefined || this.#jobs.get(alarm.key)?.want === alarm.want) return alarm;
      this.#heap.pop();
    }
  }
}

/** A binary heap: the least item first. Equal items leave in no particular order; compare by a sequence number where that matters. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as T;
      if (!this.#before(item, parent)) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const least = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return least;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      const right = child + 1;
      if (right < items.length && this.#before(items[right] as T, items[child] as T)) child = right;
      if (!this.#before(items[child] as T, last)) break;
      items[at] = items[child] as T;
      at = child;
    }
    items[at] = last;
    return least;
  }
}
