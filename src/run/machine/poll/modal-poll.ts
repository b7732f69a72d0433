import type { Task } from '../../../service/image-service.ts';
import type { ServiceResult } from '../../../service/result.ts';
import { become, type Job, type JobContext, type JobStep, newJob } from '../job.ts';
import { interruptedModal, modalOf, movedOn } from '../modal.ts';
import { resetForResubmit } from '../resume.ts';
import { modalLag } from '../retry/modal-lag.ts';
import { retryFetch } from '../retry/retry.ts';
import { rest, settle } from '../transition.ts';
import { taskSeen } from './poll.ts';

/** Handles the poll of a task that shows whether the confirm of its modal arrived. */
export function modalSeen(job: Job, result: ServiceResult<Task>, context: JobContext): JobStep {
  const { record } = job;
  const { taskId } = modalOf(record);
  if (!result.ok) {
    const { error } = result;
    return retryFetch(job, error, { kind: 'fetch', taskId, why: 'modal' }, context, (why) => {
      // A deleted task cannot be confirmed or show a confirm. Only another press helps, which the user has allowed.
      if (error.code === 'service.task-unknown' && job.mayBeGone !== undefined)
        return pressAgain(job, context);
      return job.mayBeGone === 'failed'
        ? settle(job, 'failed', why, context.now)
        : settle(job, 'in-doubt', record.error ?? why, context.now);
    });
  }
  const task = result.value;
  // A gateway that has just accepted the task, or whose copy is late, shows an empty status (gateway 4.3).
  const saysNothing = task.state === 'unfinished' && task.status === '';
  if (task.state === 'modal' || saysNothing) return stillOpen(job, saysNothing, context);
  if (task.state === 'failure' && job.mayBeGone === 'failed') return pressAgain(job, context);
  const { mayBeGone: _, ...onward } = job;
  const running: Job = { ...onward, misses: 0, record: movedOn(record, taskId) };
  return taskSeen(running, result, context);
}

/** The user asked for a retry, and the modal is gone: a proxy keeps one for an hour (gateway 4.6). */
const pressAgain = ({ record, depth, parentTaskId }: Job, { now }: JobContext): JobStep =>
  rest(newJob(resetForResubmit(record), depth, parentTaskId), 0, { kind: 'task-slot' }, now);

/** @param saysNothing the status is empty, so nothing is sent to the task, not even an allowed confirm */
function stillOpen(job: Job, saysNothing: boolean, context: JobContext): JobStep {
  const { record } = job;
  const { now, retry } = context;
  if (record.status === 'modal' && !saysNothing)
    return { job: { ...job, misses: 0, nextRequest: { kind: 'modal' } } };
  const pollUntil = job.pollUntil ?? now + modalLag.ms;
  if (now < pollUntil) {
    const nextRequest = { kind: 'fetch', taskId: modalOf(record).taskId, why: 'modal' } as const;
    return rest({ ...job, misses: 0, pollUntil }, modalLag.pollEveryMs, nextRequest, now);
  }
  if (context.retryInDoubt && record.tries < retry.attempts && !saysNothing)
    return { job: { ...job, misses: 0, record: become(record, 'modal'), nextRequest: { kind: 'modal' } } };
  return job.mayBeGone === 'failed'
    ? pressAgain(job, context)
    : settle(job, 'in-doubt', record.error ?? interruptedModal, now);
}
