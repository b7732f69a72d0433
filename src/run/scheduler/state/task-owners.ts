import type { JobRecord } from '../../../plan/job.ts';
import type { Task } from '../../../service/image-service.ts';

/** Largest number of stored task ids besides those of the active jobs: the latest ones, because equal ids come in one burst. */
const maxPast = 4096;

/** Records which jobs got which task id, to notice a second job with the same id. */
export class TaskOwners {
  /** Job keys by task id; the id that was noted last comes last. */
  readonly #keys = new Map<string, ReadonlySet<string>>();
  readonly #isActive: (key: string) => boolean;
  #showsIds = false;

  constructor(isActive: (key: string) => boolean) {
    this.#isActive = isActive;
  }

  /** True once a task was shown under the id that it was requested by. */
  get showsIds(): boolean {
    return this.#showsIds;
  }

  /** Notes the task id of a job. */
  note({ key, taskId }: Pick<JobRecord, 'key' | 'taskId'>): void {
    if (taskId === undefined) return;
    const known = this.#keys.get(taskId);
    this.#keys.delete(taskId);
    this.#keys.set(taskId, known === undefined ? new Set([key]) : new Set([...known, key]));
    for (const [oldest, keys] of this.#keys) {
      if (this.#keys.size <= maxPast) return;
      this.#keys.delete(oldest);
      if ([...keys].some(this.#isActive)) this.#keys.set(oldest, keys);
      else return;
    }
  }

  /** Returns the keys of the other jobs that got this job's task id. */
  rivals({ key, taskId }: JobRecord): readonly string[] {
    const keys = taskId === undefined ? undefined : this.#keys.get(taskId);
    return keys === undefined || (keys.size === 1 && keys.has(key))
      ? none
      : [...keys].filter((one) => one !== key);
  }

  /** Notes that the service has shown a task. */
  shown({ isOther }: Task): void {
    if (isOther !== true) this.#showsIds = true;
  }
}

const none: readonly string[] = [];
