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

/** Options of {@link Admission.admit}. */
interface Entrance {
  /** Submit code of the response; default 1. It is 22 if others wait before the task. */
  readonly code?: number;
  /** Returns a known task that changes in the same transaction. */
  readonly changed?: (added: StoredTask) => StoredTask;
  /** A waiting task that does the work, so that no task is added. */
  readonly instead?: StoredTask;
}

/** Longest accepted prompt, in UTF-16 units. */
const promptLimit = 16_384;

const success: TaskOutcome = { kind: 'success' };

/** Admits tasks: finds their places, decides how they will end, and stores them before the response (gateway 9.2). */
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
    this.#ids = new TaskIds(book.lastId(), settings.quirks);
    for (const task of book.unfinished(now())) this.#slots.book(task.startAt, task.endAt);
  }

  /** Returns the refusal of a prompt, or undefined if it is accepted. */
  rejectedPrompt(prompt: string): SubmitResponse | undefined {
    if (prompt.length > promptLimit) return rejected(4, `prompt: at most ${promptLimit} characters`);
    const { bannedMark } = this.#settings;
    if (bannedMark === '' || !prompt.includes(bannedMark)) return undefined;
    return rejected(24, rejectionTexts[24] ?? '', { promptEn: prompt, bannedWord: bannedMark });
  }

  /** Decides how the task of a prompt will end. */
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

  /** Stores a task with its place and its times, and returns the response. */
  admit({ operation, ...task }: NewTask, { code = 1, changed, instead }: Entrance = {}): SubmitResponse {
    const now = this.#now();
    const place = task.occupies ? this.#slots.find(now) : { startAt: now, ahead: 0 };
    if (place === undefined) return rejected(this.#settings.queueFullCode, rejectionTexts[23] ?? '');

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

  /** Returns a response that names a task. */
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
 * Makes task ids of 16 digits: unix ms and three more (gateway 3.4), rising even if the clock goes back. With `bare-ids` they have 17
 * digits, which a JavaScript number cannot hold; with `shared-ids` every fifth of a burst repeats the one before.
 */
class TaskIds {
  #last: bigint;
  readonly #quirks: SandboxSettings['quirks'];
  #made = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(last: string | undefined, quirks: SandboxSettings['quirks']) {
    this.#last = BigInt(last ?? 0);
    this.#quirks = quirks;
  }

  next(now: number): string {
    const isBurst = now - this.#lastAt < 1000;
    this.#lastAt = now;
    this.#made += 1;
    if (this.#quirks.has('shared-ids') && isBurst && this.#made % 5 === 0) return this.#last.toString();
    let id = BigInt(Math.floor(now)) * 1000n + 137n;
    if (this.#quirks.has('bare-ids')) id = id * 10n + 7n;
    if (id <= this.#last) id = this.#last + 1n;
    this.#last = id;
    return id.toString();
  }
}

/** When a submission may start, and how many others wait before it. */
interface Place {
  readonly startAt: number;
  readonly ahead: number;
}

/**
 * The working places and their queue (gateway 9.2). Every task's end is fixed when it is submitted, so the start of the next task is
 * known at once, and the queue can be rebuilt from the stored tasks.
 */
class WorkerSlots {
  readonly #places: number;
  readonly #queue: number;
  #bookings: Pick<StoredTask, 'startAt' | 'endAt'>[] = [];

  constructor(places: number, queue: number) {
    this.#places = places;
    this.#queue = queue;
  }

  /** Finds a place without taking it, or returns undefined if the queue is full. */
  find(now: number): Place | undefined {
    this.#bookings = this.#bookings.filter((booking) => booking.endAt > now);
    const ahead = this.#bookings.filter((booking) => booking.startAt > now).length;
    const busy = this.#bookings.length;
    if (busy < this.#places) return { startAt: now, ahead: 0 };
    if (ahead >= this.#queue) return undefined;
    const ends = this.#bookings.map((booking) => booking.endAt).sort((a, b) => a - b);
    return { startAt: ends[busy - this.#places] ?? now, ahead };
  }

  book(startAt: number, endAt: number): void {
    this.#bookings.push({ startAt, endAt });
  }
}
