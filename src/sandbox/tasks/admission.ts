import { failReasons } from '../faults/fault.ts';
import { parsePrompt } from '../prompt/flags.ts';
import { unitOf } from '../seeded.ts';
import type { OperationClass, SandboxSettings } from '../settings.ts';
import type { TaskBook } from './store/book.ts';
import { rejected, rejectionTexts, type SubmitResponse } from './submission.ts';
import type { StoredTask, TaskOutcome } from './task.ts';

/** A task before it has an id and its times. */
export type NewTask = Omit<StoredTask, 'id' | 'submitAt' | 'startAt' | 'endAt'> & {
  readonly operation: OperationClass;
};

/** How a task is taken in. */
interface Entrance {
  /** Of the response; default 1, and 22 where others wait before it. */
  readonly code?: number;
  /** A known task that becomes another one in the same stroke. */
  readonly changed?: (added: StoredTask) => StoredTask;
  /** A waiting task: the work continues in it, and there is no other one. */
  readonly instead?: StoredTask;
}

/** Longest prompt that is read. */
const promptLimit = 16_384;

const success: TaskOutcome = { kind: 'success' };

/** Finds places for tasks, decides how they will end, and makes them durable before they are answered (gateway 9.2). */
export class Admission {
  readonly #book: TaskBook;
  readonly #settings: SandboxSettings;
  readonly #now: () => number;
  readonly #slots: WorkerSlots;
  readonly #ids: TaskIds;

  constructor(book: TaskBook, settings: SandboxSettings, now: () => number) {
    this.#book = book;
    this.#settings = settings;
    this.#now = now;
    this.#slots = new WorkerSlots(settings.concurrency, settings.queue);
    this.#ids = new TaskIds(book.lastId(), {
      long: settings.quirks.has('bare-ids'),
      shared: settings.quirks.has('shared-ids'),
    });
    for (const task of book.unfinished(now())) this.#slots.book(task.startAt, task.endAt);
  }

  /** The rejection of a prompt, for which no task is made. */
  rejectedPrompt(prompt: string): SubmitResponse | undefined {
    if (prompt.length > promptLimit) return rejected(4, `prompt: at most ${promptLimit} characters`);
    const { bannedMark } = this.#settings;
    if (bannedMark === '' || !prompt.includes(bannedMark)) return undefined;
    return rejected(24, rejectionTexts[24] ?? '', { promptEn: prompt, bannedWord: bannedMark });
  }

  /** How the work of a prompt ends. */
  outcomeOf(prompt: string, request: string, niji = false): TaskOutcome {
    const { moderatedMark, brokenMark, stuckMark, cancelledMark, failMark } = this.#settings;
    const marked = (mark: string): boolean => mark !== '' && prompt.includes(mark);
    const { error } = parsePrompt(prompt, niji);
    if (error !== undefined) return { kind: 'failure', reason: error };
    if (marked(moderatedMark)) {
      return { kind: 'failure', reason: `[Banned prompt detected] The text ${moderatedMark} is not allowed` };
    }
    if (marked(brokenMark) && this.#book.accepted(request) === 0) {
      return { kind: 'failure', reason: '[Internal error] Something went wrong' };
    }
    if (marked(failMark)) {
      const [word = ''] = prompt.slice(prompt.indexOf(failMark) + failMark.length).split(']', 1);
      return {
        kind: 'failure',
        reason: failReasons[word.trim()] ?? `[Internal error] ${word.trim().slice(0, 200)}`,
      };
    }
    if (marked(cancelledMark)) return { kind: 'cancel' };
    return marked(stuckMark) ? { kind: 'stuck' } : success;
  }

  /** Finds a place for the task, makes it durable, and only then takes the place and answers. */
  admit({ operation, ...task }: NewTask, { code = 1, changed, instead }: Entrance = {}): SubmitResponse {
    const now = this.#now();
    const place = task.occupies
      ? this.#slots.reserve(now)
      : { kind: 'place' as const, startAt: now, ahead: 0 };
    if (place.kind === 'full') {
      const { queueFullCode } = this.#settings;
      return rejected(queueFullCode, rejectionTexts[23] ?? '');
    }

    const endAt = place.startAt + this.#duration(operation, task);
    const stored: StoredTask = {
      ...task,
      id: instead?.id ?? this.#ids.next(now),
      submitAt: instead?.submitAt ?? now,
      startAt: place.startAt,
      endAt,
    };
    if (instead === undefined) this.#book.add(stored, changed?.(stored));
    else this.#book.change(stored);
    if (task.occupies) this.#slots.book(place.startAt, endAt);

    const made = instead === undefined ? [stored] : [];
    if (place.ahead > 0) {
      const properties = { numberOfQueues: place.ahead };
      return this.accepted(stored.id, 22, `In queue, ${place.ahead} tasks ahead`, properties, made);
    }
    if (code === 21) {
      const properties = { finalPrompt: stored.prompt, remix: true };
      return this.accepted(stored.id, 21, 'Waiting for window confirm', properties, made);
    }
    return this.accepted(stored.id, code, 'Submit success', {}, made);
  }

  /** A response that names a task. */
  accepted(
    taskId: string,
    code: number,
    description: string,
    properties: object,
    made: readonly StoredTask[],
  ): SubmitResponse {
    const result = this.#settings.quirks.has('bare-ids') ? BigInt(taskId) : taskId;
    return { status: 200, taskId, made, body: { code, description, result, properties: { ...properties } } };
  }

  #duration(operation: OperationClass, { speed, request, prompt }: Omit<NewTask, 'operation'>): number {
    const { durations, spread, pace, lateMark, lateBy } = this.#settings;
    const draw = 2 * unitOf(`duration ${request}`) - 1;
    const late = lateMark !== '' && prompt.includes(lateMark) ? lateBy : 0;
    return Math.round((durations[operation][speed] * (1 + spread * draw) + late) * pace);
  }
}

/**
 * Makes task ids: unix ms and three digits, 16 in all, as decimal strings (gateway 3.4), unique and rising even
 * when the clock goes back. With `shared`, every fifth of a burst is that of the one before (gateway 3.4). `long` ids have a 17th digit and do not fit a JavaScript number (gateway 3.4).
 */
class TaskIds {
  #last: bigint;
  readonly #long: boolean;

  readonly #shared: boolean;
  #made = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(
    last: string | undefined,
    { long, shared }: { readonly long: boolean; readonly shared: boolean },
  ) {
    this.#last = last === undefined ? 0n : BigInt(last);
    this.#long = long;
    this.#shared = shared;
  }

  next(now: number): string {
    const isBurst = now - this.#lastAt < 1000;
    this.#lastAt = now;
    this.#made += 1;
    if (this.#shared && isBurst && this.#made % 5 === 0) return this.#last.toString();
    let id = BigInt(Math.floor(now)) * 1000n + 137n;
    if (this.#long) id = id * 10n + 7n;
    if (id <= this.#last) id = this.#last + 1n;
    this.#last = id;
    return id.toString();
  }
}

/** What the queue says to a submission: when it may start and how many wait before it, or that it is full. */
type Reservation =
  | { readonly kind: 'place'; readonly startAt: number; readonly ahead: number }
  | { readonly kind: 'full' };

interface Booking {
  readonly startAt: number;
  readonly endAt: number;
}

/**
 * The working places and the queue before them (gateway 9.2). Because every task's end is fixed when it is
 * submitted, the start of the next one is known at once, and the whole queue can be rebuilt from the stored tasks.
 */
class WorkerSlots {
  readonly #places: number;
  readonly #queue: number;
  #bookings: Booking[] = [];

  constructor(places: number, queue: number) {
    this.#places = places;
    this.#queue = queue;
  }

  /** Asks for a place; nothing is taken before {@link book}. */
  reserve(now: number): Reservation {
    this.#bookings = this.#bookings.filter((booking) => booking.endAt > now);
    const ahead = this.#bookings.filter((booking) => booking.startAt > now).length;
    const busy = this.#bookings.length;
    if (busy < this.#places) return { kind: 'place', startAt: now, ahead: 0 };
    if (ahead >= this.#queue) return { kind: 'full' };
    const ends = this.#bookings.map((booking) => booking.endAt).sort((a, b) => a - b);
    return { kind: 'place', startAt: ends[busy - this.#places] ?? now, ahead };
  }

  /** Takes the place. */
  book(startAt: number, endAt: number): void {
    this.#bookings.push({ startAt, endAt });
  }
}
