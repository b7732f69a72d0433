import type { StoredTask } from './task.ts';

/** Where the tasks are kept. `add` returns when the task is as safe as this book can make it. */
export interface TaskBook {
  add(task: StoredTask): void;
  get(id: string): StoredTask | undefined;
  /** Tasks that still take or await a working place at `now`, in order of submission. */
  unfinished(now: number): readonly StoredTask[];
  /** How often an equal request was accepted before. */
  accepted(request: string): number;
  /** The newest id. */
  lastId(): string | undefined;
  /** The newest tasks, newest first. */
  newest(count: number): readonly StoredTask[];
  readonly size: number;
  close(): void;
}

/** A book in memory, bounded: beyond `limit` the oldest finished tasks are forgotten, then the oldest of all. */
export class MemoryBook implements TaskBook {
  readonly #tasks = new Map<string, StoredTask>();
  readonly #accepted = new Map<string, number>();
  readonly #limit: number;
  #last: string | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(task: StoredTask): void {
    this.#tasks.set(task.id, task);
    this.#accepted.set(task.request, this.accepted(task.request) + 1);
    this.#last = task.id;
    if (this.#tasks.size > this.#limit) this.#forgetOne(task.submitAt);
  }

  get(id: string): StoredTask | undefined {
    return this.#tasks.get(id);
  }

  unfinished(now: number): readonly StoredTask[] {
    return [...this.#tasks.values()].filter((task) => task.occupies && task.endAt > now);
  }

  accepted(request: string): number {
    return this.#accepted.get(request) ?? 0;
  }

  lastId(): string | undefined {
    return this.#last;
  }

  newest(count: number): readonly StoredTask[] {
    return [...this.#tasks.values()].slice(-count).reverse();
  }

  get size(): number {
    return this.#tasks.size;
  }

  close(): void {
    this.#tasks.clear();
  }

  #forgetOne(now: number): void {
    let victim: StoredTask | undefined;
    for (const task of this.#tasks.values()) {
      victim ??= task;
      if (task.endAt <= now) {
        victim = task;
        break;
      }
    }
    if (victim === undefined) return;
    this.#tasks.delete(victim.id);
    const left = this.accepted(victim.request) - 1;
    if (left > 0) this.#accepted.set(victim.request, left);
    else this.#accepted.delete(victim.request);
  }
}
