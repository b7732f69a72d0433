import type { Task } from '../../../service/image-service.ts';
import type { ServiceResult } from '../../../service/result.ts';
import type { JobEvent, PollTarget } from '../job.ts';

/** How many tasks are asked for in one request at most. */
export const mostListed = 100;

/** True for the answer of a gateway that does not list tasks (gateway 4.1): they are fetched one by one then. */
export const hasNoListing = (result: ServiceResult<unknown>): boolean =>
  !result.ok && result.error.code === 'service.no-listing';

/** What a service says that has no list of its tasks. */
export const notListed = {
  ok: false,
  error: {
    code: 'service.no-listing',
    class: 'permanent',
    message: 'The service does not list its tasks.',
  },
} as const satisfies ServiceResult<never>;

/** What the result of one request for several tasks means for each of their jobs. A task that is not in it is one that the service does not know. */
export function pollResults(
  targets: readonly PollTarget[],
  result: ServiceResult<readonly Task[]>,
): readonly (readonly [key: string, event: JobEvent])[] {
  const tasks = new Map(result.ok ? result.value.map((task) => [task.id, task]) : []);
  return targets.map(({ key, taskId }) => {
    const task = tasks.get(taskId);
    const own: ServiceResult<Task> = result.ok
      ? task === undefined
        ? { ok: false, error: unknown(taskId) }
        : { ok: true, value: task }
      : result;
    return [key, { type: 'fetched', why: 'poll', result: own }];
  });
}

const unknown = (taskId: string) =>
  ({
    code: 'service.task-unknown',
    class: 'retry',
    message: `The service does not list the task ${taskId}. It may have been deleted, or belong to another key.`,
  }) as const;
