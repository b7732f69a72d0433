import type { Attempt, JobRecord } from '../../../plan/job.ts';
import type { Task } from '../../../service/image-service.ts';

/** The service's clock may be so far behind this machine's, ms: five minutes are more than machines that set theirs differ by. */
export const skewMs = 300_000;

/** The order in which tasks are taken on: what has come furthest first. */
const order: Readonly<Record<Task['state'], number>> = { success: 0, unfinished: 1, modal: 2, failure: 3 };

/** Sorts tasks of one job: the one that came furthest first, then the oldest. */
export const furthestFirst = (a: Task, b: Task): number =>
  order[a.state] - order[b.state] || (a.submittedAt ?? 0) - (b.submittedAt ?? 0) || (a.id < b.id ? -1 : 1);

/** The outcome of an entry about a task that a job was found to have beside the one it goes on with. */
export const unusedTask = 'found.unused';

/**
 * Of all tasks that the service lists those that can be what became of a job's lost submission, the one to take on first: they carry the
 * job's tag (`service.tag`), are in none of its attempts, and were made since the first try that may have made one. Each was made of
 * the job's own request, so any will do; the one that came furthest comes first. Of a job whose modal was sent, the task that waited for
 * the answer is not among them, nor one that waits itself.
 *
 * @param history all attempts of the job
 */
export function ownTasks(
  { key, modal, doubtful, submittedAt }: JobRecord,
  history: readonly Attempt[],
  tasks: readonly Task[],
): readonly Task[] {
  const known = new Set(history.map(({ taskId }) => taskId));
  // A gateway may let a task that went on from its modal keep the time of its click.
  const clicked = modal && history.find(({ taskId }) => taskId === modal.taskId)?.at;
  const since = (clicked ?? doubtful?.since ?? submittedAt ?? 0) - skewMs;
  return tasks
    .filter(({ id, state, tag, submittedAt: at = since }) => {
      const isNew = tag === key && !known.has(id) && at >= since;
      return isNew && (modal === undefined || (id !== modal.taskId && state !== 'modal'));
    })
    .sort(furthestFirst);
}
