import type { Pipeline } from '../pipeline/pipeline.ts';
import type { JobRecord } from '../plan/job.ts';
import { isTextKind } from '../plan/job-request.ts';
import type { ImageService, Task } from '../service/answer.ts';
import type { StateReader, StateStore } from '../state/store.ts';
import { isInDoubt } from './doubt.ts';
import { settleDoubt } from './resolution.ts';
import { priceOfJob } from './run-plan.ts';

/** What `--in-doubt find` came to. */
export interface Findings {
  /** Jobs that were in doubt. */
  readonly doubtful: number;
  /** Of these, jobs whose task was found, and is looked at now. */
  readonly adopted: number;
  /** Why the service could not be asked. */
  readonly unknown?: string;
}

/**
 * Looks for the tasks of jobs in doubt by the tag that their submissions carried (`service.tag`), and takes them on as
 * `promptpress resolve --task` does. A job stays in doubt where the service shows no such task, or several that its
 * history does not know: which of them is its own nobody can tell. Of one whose modal was sent, the task that waited for the
 * answer is not looked for, nor one that waits itself: with neither, the run looks at the former once more.
 *
 * Before the run begins; the caller holds the directory's lock.
 *
 * @throws StateError
 */
export async function findTasks(
  state: StateStore,
  service: Pick<ImageService, 'listTasks'>,
  prices: Pipeline['prices'],
  now: () => number,
  signal: AbortSignal,
): Promise<Findings> {
  const doubtful = [...doubtfulJobs(state)];
  if (doubtful.length === 0) return { doubtful: 0, adopted: 0 };
  const listed = await service.listTasks?.(signal);
  if (listed === undefined) return { doubtful: doubtful.length, adopted: 0 };
  if (!listed.ok) return { doubtful: doubtful.length, adopted: 0, unknown: listed.error.message };
  const byTag = new Map<string, Task[]>();
  for (const task of listed.value)
    if (task.tag !== undefined) byTag.set(task.tag, [...(byTag.get(task.tag) ?? []), task]);
  let adopted = 0;
  for (const record of doubtful) {
    const known = new Set(state.attempts(record.key).map(({ taskId }) => taskId));
    const taskId = ownTask(record, known, byTag.get(record.key) ?? []);
    if (taskId === undefined) continue;
    state.commit(settleDoubt(record, { kind: 'task', taskId }, priceOfJob(prices, record), now()));
    adopted += 1;
  }
  return { doubtful: doubtful.length, adopted };
}

/** The one of these tasks that can be what became of the lost submission. */
function ownTask(
  { modal }: JobRecord,
  known: ReadonlySet<string | undefined>,
  tasks: readonly Task[],
): string | undefined {
  const [task, ...others] = tasks.filter(({ id, state }) =>
    modal === undefined ? !known.has(id) : !known.has(id) && id !== modal.taskId && state !== 'modal',
  );
  return others.length > 0 ? undefined : task?.id;
}

function* doubtfulJobs(state: StateReader): Generator<JobRecord> {
  for (const status of ['in-doubt', 'submitting'] as const)
    for (const record of state.withStatus(status))
      if (isInDoubt(record, false) && !isTextKind(record.kind)) yield record;
}

const jobs = (count: number): string => `${count} ${count === 1 ? 'job' : 'jobs'} in doubt`;

/** In words, for the user. */
export function findingsText({ doubtful, adopted, unknown }: Findings): string {
  if (unknown !== undefined) {
    return `--in-doubt find: ${jobs(doubtful)} could not be looked for. ${unknown}`;
  }
  const held = doubtful - adopted;
  return `--in-doubt find: of ${jobs(doubtful)} ${adopted} had a task, which is taken on${held === 0 ? '' : `; ${held} stay${held === 1 ? 's' : ''} in doubt`}.`;
}
