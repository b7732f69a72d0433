import { isTextKind } from '../../src/pipeline/kinds.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Task } from '../../src/service/image-service.ts';
import type { Gateway } from '../rig/gateway/gateway.ts';
import { BrokenPromise } from './violation.ts';

/** Codes that only a task which has failed gives a job; a prompt may also be moderated before there is a task. */
const ofFailedTasks: readonly string[] = ['task.failed', 'task.rejected', 'task.cancelled'];

/** Codes of what is said of every row alike: none is to fail for it. */
const ofEveryRow: readonly string[] = ['service.quota', 'service.unauthorized', 'service.redirect'];

/**
 * Watches what a simulated run makes of the tasks that it sees: a job has no other task than one of its own, it is done only when
 * that was seen to have succeeded, and has failed for its task only when that was seen to have failed.
 */
export class TaskAuditor {
  readonly #gateway: Pick<Gateway, 'tasks' | 'sharedIds'>;
  /** Ids of the tasks that a job is known to have got; absent: records say whose a task is. */
  readonly #got: ((key: string) => readonly (string | undefined)[]) | undefined;
  readonly #succeeded = new Set<string>();
  readonly #failed = new Set<string>();

  constructor(
    gateway: Pick<Gateway, 'tasks' | 'sharedIds'>,
    got: ((key: string) => readonly (string | undefined)[]) | undefined,
  ) {
    this.#gateway = gateway;
    this.#got = got;
  }

  /** Whose a shared id is shows when the task is read; never where that tells nothing, and the answer to the other submission is lost. */
  #mayNotKnow({ status, taskId = '', error }: JobRecord): boolean {
    if (!this.#gateway.sharedIds.has(taskId)) return false;
    if (status === 'running' || status === 'modal' || status === 'submitting') return true;
    // It may still end, which then tells.
    if (status === 'failed' && error?.code === 'task.timeout') return true;
    return this.#got?.(this.#gateway.tasks.get(taskId)?.key ?? '').includes(taskId) === false;
  }

  sees({ id, state }: Task): void {
    if (state === 'success') this.#succeeded.add(id);
    if (state === 'failure') this.#failed.add(id);
  }

  /** These records are durable. */
  keeps(records: Iterable<JobRecord>): void {
    for (const record of records) {
      const { key, kind, status, taskId, error } = record;
      if (isTextKind(kind)) continue;
      const code = error?.code ?? '';
      const isOwn = this.#gateway.tasks.get(taskId ?? '')?.key === key;
      if (taskId !== undefined && !isOwn && !this.#mayNotKnow(record))
        throw new BrokenPromise(`${key} has the task ${taskId}, which was not made for it (${status})`);
      if (status === 'done' && !this.#succeeded.has(taskId ?? ''))
        throw new BrokenPromise(`${key} is done, and nobody saw its task ${taskId} succeed`);
      if (status === 'failed' && ofFailedTasks.includes(code) && !this.#failed.has(taskId ?? ''))
        throw new BrokenPromise(`${key} has failed with ${code}, and nobody saw its task ${taskId} fail`);
      if (status === 'failed' && ofEveryRow.includes(code))
        throw new BrokenPromise(`${key} has failed with ${code}, which is said of every row`);
    }
  }
}
