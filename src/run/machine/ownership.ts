import type { JobError, JobRecord } from '../../plan/job.ts';
import { promptOf } from '../../plan/request/text.ts';
import type { Task } from '../../service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../service/result.ts';
import { become, type FetchReason, type Job, type JobContext, type JobStep, type SeenTask } from './job.ts';
import { addUnanswered } from './retry/in-doubt.ts';
import { rest, settle } from './transition.ts';

/**
 * Decides which job a task belongs to. Ids are not always unique: a proxy builds them from the millisecond and three random digits, so two
 * submissions of one burst may get the same id (gateway 3.4), and a service may show another task than the requested one. The record of the
 * task decides: its `state`, which is the key of the submitting job, else its prompt.
 */

/** Reads of a task that shows another task's record, before its job is put in doubt: how many, over how long, and how often. */
const otherLooks = { count: 3, overMs: 60_000, everyMs: 30_000 } as const;

/** Largest distance between two submissions that may get the same id, ms; also the interval between two checks of their answers. */
export const sameMomentMs = 1000;

/** Longest wait for another worker's submission that may get the same id, ms. A dead worker leaves one without an answer. */
export const longestAnswerMs = 300_000;

/** Error code of a job whose id shows the task of another job. */
const otherTask = 'service.other-task';

/** Whether one task serves both jobs: gateways answer an equal request with the task that they have (code 21, gateway 3.2). */
export function asksTheSame(one: JobRecord, other: JobRecord): boolean {
  if (one.key === other.key) return true;
  const isOfSameTask = one.parentTaskId === other.parentTaskId && one.kind === other.kind;
  return isOfSameTask && one.parentTaskId !== undefined && one.pressed?.customId === other.pressed?.customId;
}

/** Returns the record of an accepted job. Where the service already had such a task (code 21), an equal request had created it. */
export const withExisting = (record: JobRecord, code: number, context: JobContext): JobRecord =>
  code === 21 &&
  context.rivals(record).every((other) => asksTheSame(record, other) || record.request.press === undefined)
    ? become(record, record.status, { claimed: true })
    : record;

/** Whether it must be known who else got the id before the task counts as this job's: it has ended, and its record names no job. */
export const mayBeShared = ({ key }: JobRecord, { state, tag }: Task): boolean =>
  state !== 'unfinished' && tag !== key;

/** Whether other jobs got, or may have got, the id of this job's task, whose record was not read since. */
export const mustAskWhose = ({ record, owned }: Job, context: JobContext): boolean =>
  owned !== true && record.claimed !== true && (context.hasPeers || rivalsOf(record, context).length > 0);

const rivalsOf = (record: JobRecord, context: JobContext): readonly JobRecord[] =>
  context.rivals(record).filter((other) => !asksTheSame(record, other));

/** Returns what a poll or read says about the job's own task; the record of another task is not an answer. */
export function ownAnswer(
  { record }: Job,
  why: FetchReason,
  result: ServiceResult<Task>,
  context: JobContext,
): ServiceResult<Task> {
  if (!result.ok) return result;
  const { id, isOther, tag } = result.value;
  const about =
    why === 'parent' ? (record.parent === undefined ? undefined : context.jobOf(record.parent)) : record;
  if (about === undefined || about.claimed || about.named !== undefined) return result;
  const shown =
    isOther === true && context.showsIds ? 'the record of another task' : strangerOf(about, tag, context);
  if (shown === undefined) return result;
  const error: ServiceFailure = {
    code: otherTask,
    class: 'retry',
    message: `The service shows ${shown} for the task ${id}.`,
  };
  return { ok: false, error };
}

/** Names the other job of this directory that the record belongs to. A known rival is handled by {@link ownerOf} instead. */
function strangerOf(about: JobRecord, tag: string | undefined, context: JobContext): string | undefined {
  if (tag === undefined || tag === about.key || !context.isJob(tag)) return undefined;
  const other = context.jobOf(tag);
  if (other !== undefined && asksTheSame(about, other)) return undefined;
  if (context.rivals(about).some(({ key }) => key === tag)) return undefined;
  return `the task of job ${tag}`;
}

/** Handles a poll that showed another task: reads the task again, and puts the job in doubt where that does not change. */
export function otherShown(
  job: Job,
  { code, message }: ServiceFailure,
  context: JobContext,
): JobStep | undefined {
  if (code !== otherTask) return undefined;
  const { now } = context;
  const { count = 0, since = now } = job.showedOther ?? {};
  if (count + 1 >= otherLooks.count && now - since >= otherLooks.overMs)
    return disowned(job, message, context);
  const looked: Job = { ...job, showedOther: { count: count + 1, since } };
  const { taskId = '' } = job.record;
  return rest(looked, otherLooks.everyMs, { kind: 'fetch', taskId, why: 'poll' }, now);
}

/**
 * Decides about a task whose id other jobs got too. The job that the record belongs to keeps it, and the others are in doubt; where the
 * record names no job, all are, once the task is finished or waits for its modal.
 *
 * @returns undefined where the job continues with the task
 */
export function sharedTask(job: Job, task: SeenTask, context: JobContext): JobStep | 'own' | undefined {
  const { record } = job;
  if (record.claimed) return undefined;
  const rivals = rivalsOf(record, context);
  if (rivals.length === 0) {
    // A record without a tag can only be assigned by comparing all jobs of the same burst, whose answers may be late.
    const mayStillBeShared =
      mayBeShared(record, task) && (context.mayGetSameId(record) || task.claims?.mayGrow === true);
    const next = { kind: 'fetch', taskId: task.id, why: 'poll' } as const;
    return mayStillBeShared ? rest(job, sameMomentMs, next, context.now) : undefined;
  }
  const owner = ownerOf(record, rivals, task, context);
  if (owner === record) return 'own';
  if (owner === undefined && task.state === 'unfinished') return undefined;
  const said =
    owner === undefined
      ? 'the service does not show which job it belongs to'
      : `the service shows that it belongs to job ${owner.key}`;
  const others = rivals.map(({ key }) => key).join(', ');
  const unconfirmed = unconfirmedBy(record, task, context);
  const known = become(record, record.status, {
    shared: unconfirmed.length === 0 ? record.shared : { taskId: task.id, jobs: unconfirmed },
  });
  return disowned(
    { ...job, record: known },
    `The service gave this job and ${others} one task id (${task.id}), and ${said}.`,
    context,
  );
}

/** Keys of the other jobs that have the result of this task, although it may not be theirs. */
export function unconfirmedBy(record: JobRecord, task: Task, context: JobContext): readonly string[] {
  if (record.claimed || task.state === 'unfinished') return [];
  const rivals = rivalsOf(record, context);
  const holders = rivals.filter(
    ({ status, taskId }) => taskId === record.taskId && (status === 'done' || status === 'saving'),
  );
  if (holders.length === 0) return [];
  const owner = ownerOf(record, rivals, task, context);
  return holders.filter((other) => other !== owner).map(({ key }) => key);
}

function ownerOf(
  record: JobRecord,
  rivals: readonly JobRecord[],
  { tag, prompt = '' }: Task,
  context: JobContext,
): JobRecord | undefined {
  const all = [record, ...rivals];
  const tagged = all.find(({ key }) => key === tag);
  if (tagged !== undefined) return tagged;
  // Gateways add flags and links to a prompt, so the task belongs to the longest prompt that it contains.
  const shown = plain(prompt);
  const found = all
    .map((one) => ({ one, said: plain(promptOf(one.request.fields) ?? context.promptAbove(one) ?? '') }))
    .filter(({ said }) => said !== '' && shown.includes(said))
    .sort((a, b) => b.said.length - a.said.length);
  const [first, second] = found;
  return first === undefined || first.said.length === second?.said.length ? undefined : first.one;
}

const plain = (prompt: string): string => prompt.replaceAll(/\s+/g, ' ').trim();

/** Puts a job in doubt whose submission was answered with another job's task: the result of the submission is unknown. */
function disowned(job: Job, why: string, context: JobContext): JobStep {
  const { record } = job;
  const price = record.cost === undefined ? undefined : context.price(record);
  const uncharged =
    price === undefined
      ? record
      : become(record, record.status, { cost: Math.max(0, (record.cost ?? 0) - price) });
  const doubtful = become(addUnanswered(uncharged, price), record.status, {
    taskId: undefined,
    modal: undefined,
  });
  const error: JobError = {
    code: 'task.shared',
    message: `${why} So the result of this job's own submission is unknown: it may have made a task, and may have been paid.`,
  };
  const { polledMs: _, showedOther: __, ...known } = job;
  return settle({ ...known, record: doubtful }, 'in-doubt', error, context.now);
}
