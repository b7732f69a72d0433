import type { Pipeline } from '../pipeline/pipeline.ts';
import type { JobRecord } from '../plan/job.ts';
import { isTextKind } from '../plan/job-request.ts';
import { ownTasks, unusedTask } from '../run/machine/search/own-tasks.ts';
import { priceOfJob } from '../run/run-plan.ts';
import type { ImageService, Task } from '../service/image-service.ts';
import type { StateReader, StateStore } from '../state/store.ts';
import { isInDoubt } from './doubt.ts';
import { printable } from './progress/printable.ts';
import { settleDoubt } from './resolution.ts';

/** What `--in-doubt find` came to. */
export interface Findings {
  /** Jobs that were in doubt. */
  readonly doubtful: number;
  /** Of these, jobs whose task was found, and is looked at now. */
  readonly adopted: number;
  /** Further tasks of adopted jobs, which nothing uses: each try of a submission may have made one. */
  readonly unused: readonly { readonly job: string; readonly taskIds: readonly string[] }[];
  /** Why the service could not be asked. */
  readonly unknown?: string;
}

/**
 * Looks for the tasks of jobs in doubt by the tag that their submissions carried (`service.tag`), and takes them on as
 * `promptpress resolve --task` does. A tag is a job's key, which other run directories of the pipeline share: what was submitted
 * before the job was is theirs. Where there are several, each was made of the job's own request, by one of its tries: the one that
 * came furthest is taken on, and the others are named and noted in its history. Of one whose modal was sent, the task that waited for the
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
  if (doubtful.length === 0) return { doubtful: 0, adopted: 0, unused: [] };
  const listed = await service.listTasks?.(signal);
  const none = { doubtful: doubtful.length, adopted: 0, unused: [] };
  if (listed === undefined) return none;
  if (!listed.ok) return { ...none, unknown: listed.error.message };
  const byTag = new Map<string, Task[]>();
  for (const task of listed.value) {
    if (task.tag === undefined) continue;
    const same = byTag.get(task.tag);
    if (same === undefined) byTag.set(task.tag, [task]);
    else same.push(task);
  }
  const unused: { job: string; taskIds: readonly string[] }[] = [];
  let adopted = 0;
  for (const record of doubtful) {
    const [task, ...others] = ownTasks(record, state.attempts(record.key), byTag.get(record.key) ?? []);
    if (task === undefined) continue;
    const decision = { kind: 'task', taskId: task.id } as const;
    const turn = settleDoubt(record, decision, priceOfJob(prices, record), now());
    const left = others.map(({ id }) => ({ key: record.key, at: now(), outcome: unusedTask, taskId: id }));
    state.commit({ ...turn, attempts: [...turn.attempts, ...left] });
    if (others.length > 0) unused.push({ job: record.key, taskIds: others.map(({ id }) => id) });
    adopted += 1;
  }
  return { doubtful: doubtful.length, adopted, unused };
}

function* doubtfulJobs(state: StateReader): Generator<JobRecord> {
  for (const status of ['in-doubt', 'submitting'] as const)
    for (const record of state.withStatus(status))
      if (isInDoubt(record, false) && !isTextKind(record.kind)) yield record;
}

const jobs = (count: number): string => `${count} ${count === 1 ? 'job' : 'jobs'} in doubt`;

/** Task ids that a sentence names; the job's history has all of them. */
const mostNamed = 10;

function unusedText({ job, taskIds }: Findings['unused'][number]): string {
  const named = taskIds.slice(0, mostNamed).join(', ');
  const left = taskIds.length - mostNamed;
  return ` Of ${job} the service has made ${taskIds.length + 1} tasks; these are used by nothing, and may have been paid: ${printable(named)}${left > 0 ? ` and ${left} more, which stand in its history` : ''}.`;
}

/** In words, for the user. */
export function findingsText({ doubtful, adopted, unused, unknown }: Findings): string {
  if (unknown !== undefined) {
    return `--in-doubt find: ${jobs(doubtful)} could not be looked for. ${unknown}`;
  }
  const held = doubtful - adopted;
  return `--in-doubt find: of ${jobs(doubtful)} ${adopted} had a task, which is taken on${held === 0 ? '' : `; ${held} stay${held === 1 ? 's' : ''} in doubt`}.${unused.map(unusedText).join('')}`;
}
