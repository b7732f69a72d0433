import type { ServiceResult } from '../../../service/result.ts';
import type { JobEvent, PollTarget, SeenTask } from '../job.ts';

/** Largest number of tasks in one list request. */
export const maxListed = 100;

/** Whether the gateway does not list tasks (gateway 4.1): they are then fetched one by one. */
export const hasNoListing = (result: ServiceResult<unknown>): boolean =>
  !result.ok && result.error.code === 'service.no-listing';

/** The result for a service that does not list its tasks. */
export const notListed = {
  ok: false,
  error: {
    code: 'service.no-listing',
    class: 'permanent',
    message: 'The service does not list its tasks.',
  },
} as const satisfies ServiceResult<never>;

/** Splits the result of one list request into one event per job. A task that is missing in the list is unknown to the service. */
export function pollResults(
  targets: readonly PollTarget[],
  result: ServiceResult<readonly SeenTask[]>,
): readonly (readonly [key: string, event: JobEvent])[] {
  const tasks = new Map(result.ok ? result.value.map((task) => [task.id, task]) : []);
  return targets.map(({ key, taskId }) => {
    const task = tasks.get(taskId);
    const own: ServiceResult<SeenTask> = result.ok
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
