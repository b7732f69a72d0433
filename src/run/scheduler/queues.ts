import { isTextRequest } from '../../plan/job-request.ts';
import type { Job, NextRequest } from '../machine/job.ts';
import { hasItsTurn } from '../machine/retry/button-freshness.ts';
import { deferralCount } from '../machine/retry/deferrals.ts';

/** Depth of a job that an earlier run left, whose actual depth is unknown. */
const leftBefore = Number.MAX_SAFE_INTEGER;

/** One of this many turns of a queue goes to the job that has waited longest. */
const longestEvery = 8;

type Rank = readonly [tries: number, depth: number, cell: number, turn: number];

interface Place {
  readonly key: string;
  /** The request that this place is for; the place is void once the job has another request object. */
  readonly nextRequest: NextRequest;
  /** The smallest rank goes first, compared number by number. */
  readonly rank: Rank;
  /** True once the job has had its turn. */
  isGone: boolean;
}

/**
 * A queue of jobs with the same next request. Deeper jobs go before shallower ones, then earlier cells before later ones, then first come,
 * first served: results arrive early and buttons do not age. At the end of a plan shallower jobs go before deeper ones, so that no chain of
 * jobs begins late and ends alone. A job goes behind jobs with fewer failed tries, so that an outage does not use up all tries of one job;
 * behind jobs with fewer deferrals, so that a job that is always deferred does not block others; and, once put back after a refusal, behind
 * those that were tried less often. To prevent starvation, every eighth turn goes to the job that has waited longest, except while each try
 * may be paid for nothing. An open modal goes before all: its task takes a slot on the service and does nothing (gateway 4.6).
 */
export class PriorityQueue {
  #heap = new Heap<Place>((a, b) => compareRanks(a.rank, b.rank) < 0);
  readonly #jobs: ReadonlyMap<string, Job>;
  readonly #fair: boolean;
  /** All places, in the order in which they were taken. */
  readonly #byTurn: Place[] = [];
  readonly #turns: { joined: number; left: number };
  readonly #isProbed: () => boolean;

  /**
   * @param fair only first come, first served: for requests that cost nothing and must not starve
   * @param turns counts the jobs that joined and left; queues that are compared share it
   * @param isProbed returns true while each try may be paid for nothing
   */
  constructor(
    jobs: ReadonlyMap<string, Job>,
    fair = false,
    turns = { joined: 0, left: 0 },
    isProbed = (): boolean => false,
  ) {
    this.#jobs = jobs;
    this.#fair = fair;
    this.#turns = turns;
    this.#isProbed = isProbed;
  }

  /** Upper bound of the number of jobs in the queue, 0 for none: void places are removed only at the front. */
  get size(): number {
    return this.front() === undefined ? 0 : this.#heap.size;
  }

  join(job: Job): void {
    this.#turns.joined += 1;
    const turn = this.#turns.joined;
    const { key, tries, origin, putBack, attempts } = job.record;
    const deferrals = deferralCount(job, isTextRequest(job.record.request) ? 'text' : 'submit');
    const before =
      job.nextRequest.kind === 'modal'
        ? Math.min(1, deferrals) - 1
        : hasItsTurn(job)
          ? -0.5
          : tries + deferrals + (putBack ? attempts : 0);
    // A new link goes before waiting links, because it may expire soon.
    const isFresh = job.nextRequest.kind === 'save' && job.misses > 0;
    const rank = this.#fair
      ? ([isFresh ? -1 : 0, 0, 0, turn] as const)
      : ([before, job.depth, origin.cell, turn] as const);
    const place: Place = { key, nextRequest: job.nextRequest, rank, isGone: false };
    this.#heap.push(place);
    if (this.#fair) return;
    while (this.#byTurn[0] !== undefined && this.#jobOf(this.#byTurn[0]) === undefined) this.#byTurn.shift();
    this.#byTurn.push(place);
  }

  /** From now on shallower jobs go before deeper ones. */
  reverseDepth(): void {
    const places = this.#heap.items;
    this.#heap = new Heap((a, b) => compareRanks(a.rank, b.rank, 1) < 0);
    for (const place of places) this.#heap.push(place);
  }

  /** Returns the job at the front, which stays in the queue. */
  front(): Job | undefined {
    const place = this.#frontPlace();
    return place && this.#jobOf(place);
  }

  /** Rank of the front job among queues that share their turns and are not reversed; undefined where there is none. */
  get frontRank(): Rank | undefined {
    const place = this.#frontPlace();
    return place !== undefined && this.#isTurnOfOldest ? [0, 0, 0, place.rank[3]] : place?.rank;
  }

  leave(): void {
    const place = this.#frontPlace();
    if (place === undefined) return;
    place.isGone = true;
    this.#turns.left += 1;
  }

  get #isTurnOfOldest(): boolean {
    return !this.#fair && this.#turns.left % longestEvery === longestEvery - 1 && !this.#isProbed();
  }

  #frontPlace(): Place | undefined {
    const first = this.#first();
    if (first === undefined || !this.#isTurnOfOldest || first.rank[0] < 0) return first;
    for (;;) {
      const [place] = this.#byTurn;
      if (place === undefined || this.#jobOf(place) !== undefined) return place ?? first;
      this.#byTurn.shift();
    }
  }

  #first(): Place | undefined {
    for (;;) {
      const place = this.#heap.peek();
      if (place === undefined || this.#jobOf(place) !== undefined) return place;
      this.#heap.pop();
    }
  }

  #jobOf({ key, nextRequest, isGone }: Place): Job | undefined {
    const job = this.#jobs.get(key);
    return !isGone && job?.nextRequest === nextRequest ? job : undefined;
  }
}

/**
 * Compares two ranks; below 0 where the first goes before the second.
 *
 * @param by 1: shallower first, -1: deeper first; a job that an earlier run left goes first either way
 */
export function compareRanks(a: Rank, b: Rank, by: 1 | -1 = -1): number {
  const depth = (of: number): number => (of === leftBefore ? Number.NEGATIVE_INFINITY : by * of);
  const [first, second] = [depth(a[1]), depth(b[1])];
  return a[0] - b[0] || (first === second ? 0 : first - second) || a[2] - b[2] || a[3] - b[3];
}

interface Due {
  readonly at: number;
  readonly key: string;
  readonly nextRequest: NextRequest;
}

/** A queue of jobs that wait for a time. */
export class DelayedQueue {
  readonly #heap = new Heap<Due>((a, b) => a.at < b.at);
  readonly #jobs: ReadonlyMap<string, Job>;

  constructor(jobs: ReadonlyMap<string, Job>) {
    this.#jobs = jobs;
  }

  set(job: Job, at: number): void {
    this.#heap.push({ at, key: job.record.key, nextRequest: job.nextRequest });
  }

  /** Returns when the next job is due. */
  nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /** Takes a job that is due; undefined where there is none. */
  takeDue(now: number): Job | undefined {
    const alarm = this.#next();
    if (alarm === undefined || alarm.at > now) return undefined;
    this.#heap.pop();
    return this.#jobs.get(alarm.key);
  }

  #next(): Due | undefined {
    for (;;) {
      const alarm = this.#heap.peek();
      if (alarm === undefined || this.#jobs.get(alarm.key)?.nextRequest === alarm.nextRequest) return alarm;
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

  /** All items, in no particular order. */
  get items(): readonly T[] {
    return this.#items;
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
