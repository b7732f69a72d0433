import { type ImageShelf, MemoryShelf } from '../../images/shelf.ts';
import type { StoredTask } from '../task.ts';

/** A store of tasks and of the images of their requests. A change is as durable as the store can make it when its method returns. */
export interface TaskBook {
  /** Adds a task, or replaces the task with its id; replaces the task `changed` in the same transaction. */
  add(task: StoredTask, changed?: StoredTask): void;
  /** Forgets every task. */
  forget(): void;
  /** Replaces the task with this id. */
  change(task: StoredTask): void;
  get(id: string): StoredTask | undefined;
  /** Tasks that have a working place, or wait for one, at `now`, in order of submission. */
  unfinished(now: number): readonly StoredTask[];
  /** Number of accepted submissions of an equal request. */
  accepted(request: string): number;
  /** The first task that an equal request made. */
  madeBy(request: string): StoredTask | undefined;
  /** The newest id. */
  lastId(): string | undefined;
  /** The newest tasks, newest first. */
  newest(count: number): readonly StoredTask[];
  readonly size: number;
  readonly images: ImageShelf;
  close(): void;
}

const imageLimit = 256 * 1024 * 1024;

/** A store in memory of at most `limit` tasks, beyond which the oldest finished task is forgotten, or else the oldest. */
export class MemoryBook implements TaskBook {
  readonly #tasks = new Map<string, StoredTask>();
  readonly #accepted = new Map<string, number>();
  readonly #limit: number;
  #last: string | undefined;
  readonly images = new MemoryShelf(imageLimit);

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(task: StoredTask, changed?: StoredTask): void {
    if (changed !== undefined) this.change(changed);
    const replaced = this.#tasks.get(task.id);
    if (replaced !== undefined) this.#forgetRequest(replaced.request);
    this.#tasks.set(task.id, task);
    this.#accepted.set(task.request, this.accepted(task.request) + 1);
    this.#last = task.id;
    if (this.#tasks.size > this.#limit) this.#forgetOne(task.submitAt);
  }

  forget(): void {
    this.#tasks.clear();
    this.#accepted.clear();
  }

  change(task: StoredTask): void {
    const known = this.#tasks.get(task.id);
    if (known === undefined) return;
    this.#tasks.set(task.id, task);
    this.#forgetRequest(known.request);
    this.#accepted.set(task.request, this.accepted(task.request) + 1);
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

  madeBy(request: string): StoredTask | undefined {
    if (!this.#accepted.has(request)) return undefined;
    return [...this.#tasks.values()].find((task) => task.request === request);
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
    this.#forgetRequest(victim.request);
  }

  #forgetRequest(request: string): void {
    const left = this.accepted(request) - 1;
    if (left > 0) this.#accepted.set(request, left);
    else this.#accepted.delete(request);
  }
}
