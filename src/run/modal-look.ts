import type { Answer, Task } from '../service/answer.ts';
import { become, type Job, type JobContext, type JobStep, rest, settle } from './job.ts';
import { interruptedModal, modalOf, movedOn } from './modal.ts';
import { isLook, jobError, lookAgain } from './trouble.ts';
import { taskSeen } from './watch.ts';

/** The task was looked at to see whether the modal arrived that was sent to it. */
export function modalSeen(job: Job, answer: Answer<Task>, context: JobContext): JobStep {
  const { record } = job;
  const { taskId } = modalOf(record);
  const lastMiss = job.misses + 1 >= context.retry.attempts;
  if (!answer.ok) {
    const { error } = answer;
    const plainNo = error.class === 'permanent' || error.code === 'service.task-unknown';
    return plainNo && isLook(error) && lastMiss
      ? settle(job, 'in-doubt', record.error ?? jobError(error), context.now)
      : lookAgain(job, error, { kind: 'fetch', taskId, why: 'modal' }, context);
  }
  const task = answer.value;
  if (task.state === 'modal') return stillOpen(job, context);
  // A gateway that has just taken it on, or lags, says nothing at all (protocol.md 1.1).
  if (task.state === 'unfinished' && task.status === '') {
    if (lastMiss) return settle(job, 'in-doubt', record.error ?? interruptedModal, context.now);
    const want = { kind: 'fetch', taskId, why: 'modal' } as const;
    return rest({ ...job, misses: job.misses + 1 }, context.pollInMs(record, 0), want, context.now);
  }
  const running: Job = { ...job, misses: 0, record: movedOn(record, taskId) };
  return taskSeen(running, answer, context);
}

function stillOpen(job: Job, context: JobContext): JobStep {
  const { record } = job;
  if (record.status === 'modal') return { job: { ...job, misses: 0, want: { kind: 'modal' } } };
  // Of an answer that an earlier run did not hear nothing is known; one that was heard has said what to do.
  if (record.error === undefined && context.retryInDoubt)
    return { job: { ...job, misses: 0, record: become(record, 'modal'), want: { kind: 'modal' } } };
  return settle(job, 'in-doubt', record.error ?? interruptedModal, context.now);
}
