import { failReasons } from '../../faults/fail-reasons.ts';
import { parsePrompt } from '../../prompt/flags.ts';
import { unitOf } from '../../seeded.ts';
import type { OperationClass, SandboxSettings } from '../../settings.ts';
import type { TaskBook } from '../store/book.ts';
import { rejected, rejectionTexts, type SubmitResponse } from '../submission.ts';
import type { StoredTask, TaskOutcome } from '../task.ts';
import { WorkerSlots } from './lanes.ts';
import { TaskIds } from './task-id.ts';

/** A task before it has an id and its times. */
export type NewTask = Omit<StoredTask, 'id' | 'submitAt' | 'startAt' | 'endAt'> & {
  readonly operation: OperationClass;
};

/** How a task is taken in. */
export interface Entrance {
  /** Of the response; default 1, and 22 where others wait before it. */
  readonly code?: number;
  /** A known task that becomes another one in the same stroke. */
  readonly changed?: (added: StoredTask) => StoredTask;
  /** A waiting task: the work continues in it, and there is no other one. */
  readonly instead?: StoredTask;
}

/** Longest prompt that is read. */
export const promptLimit = 16_384;

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
