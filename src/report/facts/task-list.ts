import type { JobRecord } from '../../plan/job.ts';

/** Facts that show whether a service's list of tasks is complete. Times are Unix ms. */
export interface ListFacts {
  readonly tasks: number;
  /** Number of tasks with a tag. */
  readonly tagged: number;
  /** Submission time of the oldest task; absent if the list has no times. */
  readonly oldest?: number;
  /** Time of the first submission of the jobs that stay in doubt. */
  readonly sent?: number;
}

/** Collects the facts of a list of tasks. @param held jobs without a task */
export function listFacts(
  tasks: readonly { readonly tag?: string; readonly submittedAt?: number }[],
  held: readonly Pick<JobRecord, 'doubtful' | 'submittedAt'>[],
): ListFacts {
  const oldest = earliest(tasks.map(({ submittedAt }) => submittedAt));
  const sent = earliest(held.map(({ doubtful, submittedAt }) => doubtful?.since ?? submittedAt));
  return {
    tasks: tasks.length,
    tagged: tasks.filter(({ tag }) => tag !== undefined).length,
    ...(oldest === undefined ? {} : { oldest }),
    ...(sent === undefined ? {} : { sent }),
  };
}

/** Returns the earliest known time. Services send 0 or nothing for unknown times. */
const earliest = (times: readonly (number | undefined)[]): number | undefined =>
  times
    .filter((time) => time !== undefined && time > 0 && time <= latestDate)
    .reduce((first, time = latestDate) => Math.min(first ?? latestDate, time), undefined);

const latestDate = 8.64e15;

/** Explains whether a task may exist although the list does not show it: a service may cut its list short or drop tags. */
export function listWords({ tasks, tagged, oldest, sent }: ListFacts): string {
  if (tasks === 0) return 'The list of the service is empty: that does not show that no task was made.';
  const shown = `The list of the service has ${tasks} task${tasks === 1 ? '' : 's'}`;
  if (tagged === 0) return `${shown}, but none has a tag to search by: look for the prompts there.`;
  if (oldest === undefined || sent === undefined)
    return `${shown} without submission times, so it may be incomplete: a task may still exist.`;
  const times = `the oldest of ${iso(oldest)}; the first of these jobs was sent at ${iso(sent)}`;
  return oldest <= sent
    ? `${shown}, ${times}. So the list reaches back far enough, and most likely no task was made.`
    : `${shown}, ${times}. So the list may be cut off: a task may still exist.`;
}

const iso = (unixMs: number): string => new Date(unixMs).toISOString();
