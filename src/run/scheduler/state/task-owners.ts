import type { JobRecord } from '../../../plan/job.ts';
import type { Task } from '../../../service/image-service.ts';

/** Task ids that are remembered beside those of the active jobs: of the latest ones, as equal ids come in one burst. */
const mostPast = 4096;

/** Which jobs got which task id, so that two of them with the same one are noticed when the second one gets it. */
export class TaskOwners {
  /** The id that was noted last stands last. */
  readonly #keys = new Map<string, ReadonlySet<string>>();
  readonly #isActive: (key: string) => boolean;
  #showsIds = false;

  constructor(isActive: (key: string) => boolean) {
    this.#isActive = isActive;
  }

  /** True once a record of a task was seen that had the id that it was asked for by. */
  get showsIds(): boolean {
    return this.#showsIds;
  }

  /** A job has this task. */
  note({ key, taskId }: Pick<JobRecord, 'key' | 'taskId'>): void {
    if (taskId === undefined) return;
    const known = this.#keys.get(taskId);
    this.#keys.delete(taskId);
    this.#keys.set(taskId, known === undefined ? new Set([key]) : new Set([...known, key]));
    for (const [oldest, keys] of this.#keys) {
      if (this.#keys.size <= mostPast) return;
      this.#keys.delete(oldest);
      if ([...keys].some(this.#isActive)) this.#keys.set(oldest, keys);
      else return;
    }
  }

  /** Keys of the other jobs that got the task id of this one. */
  rivals({ key, taskId }: JobRecord): readonly string[] {
    const keys = taskId === undefined ? undefined : this.#keys.get(taskId);
    return keys === undefined || (keys.size === 1 && keys.has(key))
      ? none
      : [...keys].filter((one) => one !== key);
  }

  /** The service has shown a task. */
  shown({ isOther }: Task): void {
    if (isOther !== true) this.#showsIds = true;
  }
}

const none: readonly string[] = [];
