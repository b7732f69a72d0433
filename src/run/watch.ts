import type { Answer, Task } from '../service/answer.ts';
import { backoffMs } from './backoff.ts';
import { become, type Job, type JobContext, type JobStep, newJob, rest, settle } from './job.ts';
import { isAnswered, modalOpened } from './modal.ts';
import { modalNotOpened } from './modal-unopened.ts';
import { taskShown, unknownTask } from './named-task.ts';
import { judgeTaskFailure } from './reasons.ts';
import { replacing } from './redo.ts';
import { lacksResult, resultOf, wantFile } from './save.ts';
import { isLook, lookAgain } from './trouble.ts';

/** The job's task was looked at. Decided on its status alone (protocol.md, fact 3). */
export function taskSeen(job: Job, answer: Answer<Task>, context: JobContext): JobStep {
  const { taskId } = job.record;
  if (taskId === undefined) throw new Error('Internal error: a job without a task id was polled.');
  const poll = { kind: 'fetch', taskId, why: 'poll' } as const;
  if (!answer.ok) {
    const unknown = answer.error.code === 'service.task-unknown';
    // The task is paid, so no failure to look at it ends it: only its deadline, and that only after honest tries.
    const tried = isLook(answer.error) && job.misses + 1 >= context.retry.attempts;
    return (
      unknownTask(job, answer.error, context) ??
      (tried ? overdue(job, answer.error.message, context) : undefined) ??
      lookAgain({ ...job, unknown }, answer.error, poll, context)
    );
  }
  return taskRead({ ...taskShown(job), unknown: false }, taskId, answer.value, context);
}

function taskRead(job: Job, taskId: string, task: Task, context: JobContext): JobStep {
  const { now } = context;
  const { record } = job;
  switch (task.state) {
    case 'modal':
      // Some gateways show it until the work is done (protocol.md, fact 4).
      return isAnswered(record) ? unfinished(job, task, context) : modalOpened(job, taskId, context);
    case 'unfinished':
      return unfinished(job, task, context);
    case 'failure':
      return taskFailed(job, task, context);
    case 'success': {
      const unused = modalNotOpened(record, context);
      if (unused !== undefined) return settle(job, 'failed', unused, now);
      const result = resultOf(task, record.kind);
      // Of a redo: the former files are no longer what the job came to.
      const fresh = record.former === undefined ? {} : { ...replacing(record), artifacts: [] };
      // Later steps, and a later edit, read of it what no file is wanted for now.
      if (!record.keep && !lacksResult(result, record)) {
        const done = become(record, 'done', { result, finishedAt: now, error: undefined, ...fresh });
        return { job: { ...job, record: done, want: { kind: 'nothing' } } };
      }
      const saving: Job = {
        ...job,
        misses: 0,
        record: become(record, 'saving', { result, error: undefined, ...fresh }),
      };
      return { job: { ...saving, want: wantFile(saving) } };
    }
  }
}

function unfinished(job: Job, { id, status }: Task, context: JobContext): JobStep {
  const { now } = context;
  const { submittedAt = now, taskId = id } = job.record;
  return (
    overdue(job, `Its status was "${status}".`, context) ??
    rest(
      { ...job, misses: 0 },
      context.pollInMs(job.record, now - submittedAt),
      { kind: 'fetch', taskId, why: 'poll' },
      now,
    )
  );
}

/**
 * Past its deadline: failed, its task id kept, so that every later run looks at it again before anything else. The time in
 * which nobody looked counts for nothing: a task that an earlier run left, or beside which the machine slept, is watched for as long as
 * any other.
 */
function overdue(job: Job, lastWords: string, context: JobContext): JobStep | undefined {
  const { record } = job;
  const { now, watchedSince } = context;
  const submittedAt = record.submittedAt ?? now;
  const isWatched = now - Math.max(submittedAt, watchedSince) < context.taskMs;
  if (job.lastLook === undefined && isWatched) return undefined;
  const age = now - submittedAt;
  const after = age < 100_000 ? `${Math.round(age / 1000)} s` : `${Math.round(age / 6000) / 10} min`;
  return settle(
    job,
    'failed',
    {
      code: 'task.timeout',
      message: `Task ${record.taskId} was not finished ${after} after its submission (timeouts.task). ${lastWords} Later runs look at it again; --retry-failed submits it anew.`,
    },
    context.now,
  );
}

function taskFailed(job: Job, task: Task, context: JobContext): JobStep {
  const { record } = job;
  const { error, transient } = judgeTaskFailure(task.failReason, task.status, context.retry);
  if (!transient || record.resubmits >= context.retry.resubmits || job.lastLook)
    return settle(job, 'failed', error, context.now);
  const resubmits = record.resubmits + 1;
  const pending = become(record, 'pending', {
    resubmits,
    error,
    taskId: undefined,
    modal: undefined,
    submittedAt: undefined,
  });
  const fresh = newJob(pending, job.depth, job.parentTaskId);
  const { key, taskId } = record;
  return {
    ...rest(fresh, backoffMs(resubmits, context.retry, context.random), { kind: 'room' }, context.now),
    // The record forgets both when it is submitted again.
    attempt: {
      key,
      at: context.now,
      outcome: 'task.failed',
      ...(taskId === undefined ? {} : { taskId }),
      error,
    },
  };
}
