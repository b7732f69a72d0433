import type { JobRecord } from '../../plan/job.ts';

/** What a list of tasks shows of its own completeness. Times are Unix ms. */
export interface ListFacts {
  readonly tasks: number;
  /** Tasks that show a tag. */
  readonly tagged: number;
  /** When its oldest task was submitted; absent: it gives no times. */
  readonly oldest?: number;
  /** When the first submission of the jobs that stay in doubt was sent. */
  readonly sent?: number;
}

/** @param held the jobs without a task */
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

/** Services say 0, or nothing, of a time that they do not know, and anything else by mistake. */
const earliest = (times: readonly (number | undefined)[]): number | undefined =>
  times
    .filter((time) => time !== undefined && time > 0 && time <= latestDate)
    .reduce((first, time = latestDate) => Math.min(first ?? latestDate, time), undefined);

const latestDate = 8.64e15;

/** A service may keep its list short, or keep no tags: how much it means that no task was found. */
export function listWords({ tasks, tagged, oldest, sent }: ListFacts): string {
  if (tasks === 0) return 'The list of the service is empty: that does not show that no task was made.';
  const shown = `The list of the service has ${tasks} task${tasks === 1 ? '' : 's'}`;
  if (tagged === 0)
    return `${shown}, and none shows a tag, so that none can be found by it: look for the prompts there.`;
  if (oldest === undefined || sent === undefined)
    return `${shown} without a time of submission, so it may be a part of all: a task may exist all the same.`;
  const times = `the oldest of ${iso(oldest)}; the first of these jobs was sent at ${iso(sent)}`;
  return oldest <= sent
    ? `${shown}, ${times}. So the list reaches back far enough, and most likely no task was made.`
    : `${shown}, ${times}. So the list may be cut off: a task may exist all the same.`;
}

const iso = (unixMs: number): string => new Date(unixMs).toISOString();
