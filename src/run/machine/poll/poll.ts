import { offered } from '../../../plan/button-match.ts';
import type { JobError, JobRecord } from '../../../plan/job.ts';
import { promptOf } from '../../../plan/request/text.ts';
import type { Task } from '../../../service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../../service/result.ts';
import { become, type Job, type JobContext, type JobStep, newJob, type SeenTask } from '../job.ts';
import { isConfirmSent, modalOpened } from '../modal.ts';
import { otherShown, sharedTask } from '../ownership.ts';
import { replacing } from '../redo.ts';
import { judgeTaskFailure, unmatchedAdvice, unmatchedCode } from '../retry/fail-reason.ts';
import { resolveUnanswered } from '../retry/in-doubt.ts';
import { countsAsMiss, fetchLater, restAfter } from '../retry/retry.ts';
import { fileRequest, finished, isText, lacksResult, resultOf } from '../save.ts';
import { attemptOf, rest, settle } from '../transition.ts';

/** Handles a poll of the job's task. Only its status decides (gateway 4.3). */
export function taskSeen(job: Job, result: ServiceResult<SeenTask>, context: JobContext): JobStep {
  const { taskId } = job.record;
  if (taskId === undefined) throw new Error('Internal error: a job without a task id was polled.');
  const poll = { kind: 'fetch', taskId, why: 'poll' } as const;
  if (!result.ok) {
    const unknown = result.error.code === 'service.task-unknown';
    // The task is paid, so failed polls alone do not end it: only its deadline does, after enough polls.
    const tried = countsAsMiss(result.error) && job.misses + 1 >= context.retry.attempts;
    return (
      otherShown(job, result.error, context) ??
      unknownTask(job, result.error, context) ??
      (tried ? overdue(job, result.error.message, context) : undefined) ??
      fetchLater(withUnknown(job, unknown, context), result.error, poll, context)
    );
  }
  const { showedOther: _, unknownSince: _since, lost: _lost, ...shown } = withConfirmedTask(job);
  const whose = sharedTask(shown, result.value, context);
  if (typeof whose === 'object') return whose;
  const isOwn = whose === 'own' || result.value.state === 'modal';
  const read: Job = { ...shown, unknown: false, ...(isOwn && { owned: true }) };
  return taskRead(read, taskId, result.value, context);
}

/** How long a task that otherwise looks finished may have an unknown state, ms: three times the delay of a gateway's copy (gateway 3.5). */
const unknownStatusMs = 45_000;

/** How long a task is unknown before it counts as lost, ms. A new task may appear later than the answer to its submission. */
const lostMs = 60_000;

/** Returns the job after one more poll that showed no task. Only the answer that the task is unknown counts. */
function withUnknown(job: Job, unknown: boolean, { now, hasFoundLater }: JobContext): Job {
  if (!unknown) return { ...job, unknown };
  const { unknownSince = now } = job;
  if (now - unknownSince < lostMs) return { ...job, unknown, unknownSince };
  return { ...job, unknown, unknownSince, lost: hasFoundLater(job.record) ? 'gone' : 'held' };
}

function taskRead(job: Job, taskId: string, task: Task, context: JobContext): JobStep {
  const { now } = context;
  const { record } = job;
  switch (task.state) {
    case 'modal':
      // Some gateways show MODAL until the work is done (gateway 4.6).
      return isConfirmSent(record) ? unfinished(job, task, context) : modalOpened(job, taskId, context);
    case 'unfinished': {
      const { seems, status } = task;
      const { unknownStatus: _, ...before } = job;
      if (seems === undefined) return unfinished(before, task, context);
      const unknownStatus = job.unknownStatus?.status === status ? job.unknownStatus : { status, since: now };
      return now - unknownStatus.since < unknownStatusMs
        ? unfinished({ ...before, unknownStatus }, task, context)
        : taskRead(before, taskId, seems, context);
    }
    case 'failure':
      return taskFailed(job, task, context);
    case 'success': {
      const unused = modalNotOpened(record, context);
      if (unused !== undefined) return settle(job, 'failed', unused, now);
      const result = resultOf(task, record.kind);
      // In a redo the new result replaces the former files.
      const fresh =
        record.former === undefined ? {} : { ...replacing(record), artifacts: [], frames: undefined };
      // Later steps, and a later edit of the pipeline, read the result even where no file is saved.
      if ((!record.keep || isText(result)) && !lacksResult(result, record)) {
        const done = become(record, 'done', { result, finishedAt: now, error: undefined, ...fresh });
        return finished(job, done, context);
      }
      const saving: Job = {
        ...job,
        misses: 0,
        record: become(record, 'saving', { result, error: undefined, ...fresh }),
      };
      return { job: { ...saving, nextRequest: fileRequest(saving) } };
    }
  }
}

function unfinished(job: Job, task: Task, context: JobContext): JobStep {
  const { id, status, failReason } = task;
  const { now, watchedSince } = context;
  const { submittedAt = watchedSince, taskId = id } = job.record;
  const ageMs = now - submittedAt;
  const looked = withStage(job, task, now);
  const said = failReason === undefined ? '' : ` The service said: ${failReason}`;
  return (
    overdue(looked, `Its status was "${status}".${said}`, context) ??
    rest(
      { ...looked, misses: 0, polledMs: ageMs },
      context.pollInMs(job.record, ageMs, true),
      { kind: 'fetch', taskId, why: 'poll' },
      now,
    )
  );
}

/** A task that has shown a sign of work has left the queue, whatever its state says later; at once if it was never seen queued. */
function withStage(job: Job, { stage, progress = 0 }: Task, now: number): Job {
  if (job.begunAt !== undefined) return job;
  if (stage !== undefined && progress === 0) return { ...job, queued: stage };
  return { ...job, begunAt: job.queued === undefined ? (job.record.submittedAt ?? now) : now };
}

/** Start of the time that counts for a task, Unix ms, and its limit: in the queue, or from the first sign of work. */
function deadlineOf(
  { record, begunAt, queued }: Job,
  { taskMs, queueMs, watchedSince, overtakenAt }: JobContext,
): { readonly since: number; readonly ms: number; readonly inQueue: boolean } {
  const { submittedAt = watchedSince } = record;
  const begun = begunAt ?? (queued === 'submitted' ? overtakenAt(record) : undefined);
  const inQueue = begun === undefined && queued !== undefined;
  return { since: Math.max(begun ?? submittedAt, watchedSince), ms: inQueue ? queueMs : taskMs, inQueue };
}

/**
 * Fails a job past its deadline and keeps its task id, so that every later run polls the task first. Time without polls does not count: a
 * task left by an earlier run, or polled by a machine that slept, gets as long as any other.
 */
function overdue(job: Job, lastWords: string, context: JobContext): JobStep | undefined {
  const { record } = job;
  const { now, watchedSince } = context;
  const { since, ms, inQueue } = deadlineOf(job, context);
  if (job.lastPoll === undefined && now - since < ms) return undefined;
  const age = now - (record.submittedAt ?? watchedSince);
  const after = age < 100_000 ? `${Math.round(age / 1000)} s` : `${Math.round(age / 6000) / 10} min`;
  const what = inQueue ? 'begun' : 'finished';
  return settle(
    job,
    'failed',
    {
      code: 'task.timeout',
      message: `Task ${record.taskId} was not ${what} ${after} after its submission (timeouts.${inQueue ? 'queue' : 'task'}). ${lastWords} Later runs look at it again; --retry-failed submits it again.`,
    },
    context.now,
  );
}

function taskFailed(job: Job, task: Task, context: JobContext): JobStep {
  const { record } = job;
  const verdict = judgeTaskFailure(task.failReason, task.status, context.retry);
  const { transient, isUnmatched } = verdict;
  const most = isUnmatched ? Math.min(1, context.retry.resubmits) : context.retry.resubmits;
  const error = isUnmatched
    ? { ...verdict.error, message: `${verdict.error.message} ${unmatchedAdvice}` }
    : verdict.error;
  if (!transient || record.resubmits >= most || job.lastPoll)
    return settle(job, 'failed', error, context.now);
  const resubmits = record.resubmits + 1;
  const pending = become(record, 'pending', {
    resubmits,
    error: isUnmatched ? { ...error, code: unmatchedCode } : error,
    taskId: undefined,
    claimed: undefined,
    modal: undefined,
    submittedAt: undefined,
  });
  const fresh = newJob(pending, job.depth, job.parentTaskId);
  return {
    ...restAfter(resubmits, fresh, { next: { kind: 'task-slot' } }, context),
    // The new submission clears task and error in the record.
    attempt: attemptOf(record, context.now, 'task.failed', error),
  };
}

/**
 * Returns why a successful click is not a result: a modal was to be confirmed and none opened, so the image was made without the pipeline's
 * prompt or mask. A gateway drops `enableRemix`, an account confirms by itself, or the button opens no modal (gateway 5.5). A prompt equal
 * to the parent's was used in any case.
 */
export function modalNotOpened(
  record: JobRecord,
  { promptAbove }: Pick<JobContext, 'promptAbove'>,
): JobError | undefined {
  const { request, pressed, modal } = record;
  if (request.press === undefined || modal !== undefined) return undefined;
  const { remix } = request.fields;
  const prompt = promptOf(request.fields)?.trim() ?? '';
  const isOther = prompt !== '' && prompt !== promptAbove(record)?.trim();
  const unused = [...(isOther ? ['prompt'] : []), ...(request.mask === undefined ? [] : ['mask'])];
  if (unused.length === 0) return undefined;
  const what = unused.map((name) => `\`${name}\``).join(' and ');
  const button = pressed === undefined ? 'The button' : `The button ${offered([pressed])}`;
  const ways = [
    ...(remix === true ? [] : ['write `remix: true` beside it, if it can be remixed']),
    'press a button that asks',
    `take the ${unused.join(' and the ')} away`,
  ];
  const why = remix === true ? ' although it was remixed: the service or its account does not ask' : '';
  return {
    code: 'modal.not-opened',
    message: `${button} opened no dialog${why}. So its ${what} was not used, and the image was made without. Either ${ways.join(', or ')}.`,
  };
}

/**
 * Assigns a task, named by the user or found in a list of the service, to a job in doubt; the task is polled next. Until the service shows
 * the task, the name is only a claim, so the record keeps its former values.
 *
 * @param price price of one submission, where known
 */
export function withAdoptedTask(record: JobRecord, taskId: string, price: number | undefined): JobRecord {
  const { error, cost, doubtful } = record;
  // The cost of the button was counted when the modal opened.
  const paid = record.modal === undefined ? resolveUnanswered(record, price) : record;
  return become(paid, 'running', {
    taskId,
    claimed: true,
    // Its cost is counted here from now on.
    reusedFrom: undefined,
    tries: 0,
    error: undefined,
    finishedAt: undefined,
    // A later submission that was refused has cleared its time: this task belongs to an earlier one and has its age.
    submittedAt: record.submittedAt ?? doubtful?.since,
    named: {
      ...(record.taskId === undefined ? {} : { taskId: record.taskId }),
      ...(error === undefined ? {} : { error }),
      ...(cost === undefined ? {} : { cost }),
      ...(doubtful === undefined ? {} : { doubtful }),
    },
  });
}

/** Returns the record of a job whose task the service has shown, so that the task counts as the job's own. */
export const withConfirmedTask = (job: Job): Job =>
  job.record.named === undefined
    ? job
    : { ...job, record: become(job.record, job.record.status, { named: undefined }) };

const asBefore = ' It is in doubt as before: ';

/**
 * Handles a named task that the service does not know after all polls: the id is probably mistyped. The job is in doubt as before.
 * Undefined where the task is to be polled again, and for a task created by the service itself, which is paid.
 */
export function unknownTask(job: Job, failure: ServiceFailure, context: JobContext): JobStep | undefined {
  const { named, taskId: wrong, status } = job.record;
  if (named === undefined || failure.code !== 'service.task-unknown') return undefined;
  if (job.misses + 1 < context.retry.attempts) return undefined;
  const { error, taskId, cost, doubtful } = named;
  const before = become(job.record, status, { named: undefined, claimed: undefined, taskId, cost, doubtful });
  const message = `The service does not know task ${wrong}, which was named as this job's: check the id.`;
  return settle(
    { ...job, record: before },
    'in-doubt',
    {
      ...error,
      code: 'task.unknown',
      // After two wrong names, the message has the last id and the first error.
      message: error === undefined ? message : `${message}${asBefore}${error.message.split(asBefore).at(-1)}`,
    },
    context.now,
  );
}
