import type { Attempt, JobRecord } from '../../../plan/job.ts';
import type { Task } from '../../../service/image-service.ts';

/** Largest delay of the service's clock behind this machine's, ms: synchronized clocks differ by less than five minutes. */
export const skewMs = 300_000;

/** Order in which tasks are adopted: the most advanced first. */
const order: Readonly<Record<Task['state'], number>> = { success: 0, unfinished: 1, modal: 2, failure: 3 };

/** Compares the tasks of one job: the most advanced first, then the oldest. */
export const furthestFirst = (a: Task, b: Task): number =>
  order[a.state] - order[b.state] || (a.submittedAt ?? 0) - (b.submittedAt ?? 0) || (a.id < b.id ? -1 : 1);

/** Outcome of a history entry for a task that was found and not adopted. */
export const unusedTask = 'found.unused';

/**
 * Returns the listed tasks that a job's lost submission may have made, the one to adopt first: they have the job's tag (`service.tag`), are
 * in none of its attempts, and were made after the first try that may have made one. Each was made from the job's own request, so any of
 * them fits; the most advanced comes first. For a job whose confirm was sent, the task that waited for the confirm is excluded, and so is
 * any task that waits itself.
 *
 * @param history all attempts of the job
 */
export function ownTasks(
  { key, modal, doubtful, submittedAt }: JobRecord,
  history: readonly Attempt[],
  tasks: readonly Task[],
): readonly Task[] {
  const known = new Set(history.map(({ taskId }) => taskId));
  // A task that continued after its modal may keep the time of its click.
  const clicked = modal && history.find(({ taskId }) => taskId === modal.taskId)?.at;
  const since = (clicked ?? doubtful?.since ?? submittedAt ?? 0) - skewMs;
  return tasks
    .filter(({ id, state, tag, submittedAt: at = since }) => {
      const isNew = tag === key && !known.has(id) && at >= since;
      return isNew && (modal === undefined || (id !== modal.taskId && state !== 'modal'));
    })
    .sort(furthestFirst);
}
