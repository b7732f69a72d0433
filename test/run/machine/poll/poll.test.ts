import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../../src/plan/job.ts';
import type { Job, JobStep } from '../../../../src/run/machine/job.ts';
import { step } from '../../../../src/run/machine/machine.ts';
import { withAdoptedTask } from '../../../../src/run/machine/poll/poll.ts';
import { adopt } from '../../../../src/run/machine/resume.ts';
import type { Task } from '../../../../src/service/image-service.ts';
import type { ServiceFailure } from '../../../../src/service/result.ts';
import { failure } from '../../../rig/failure.ts';
import { clickRecord, context, epoch, imagineRecord } from '../../../rig/jobs.ts';

const unknown = failure('service.task-unknown', 'retry', { status: 404 });
const error = { code: 'connection.lost' as const, message: 'No answer came.', requestId: 'r1' };
const inDoubt = imagineRecord({
  status: 'in-doubt',
  attempts: 1,
  submittedAt: epoch,
  finishedAt: epoch,
  cost: 0.5,
  doubtful: { count: 1, cost: 0.25, since: epoch },
  error,
});

const polled = (job: Job, result: Task | ServiceFailure): JobStep =>
  step(
    job,
    {
      type: 'fetched',
      why: 'poll',
      result: 'class' in result ? { ok: false, error: result } : { ok: true, value: result },
    },
    context(),
  );

/** As if it were polled so often, with the same answer each time. */
function lookedOften(record: JobRecord, result: ServiceFailure, times: number): Job {
  let job = adopt(record, 0, undefined);
  for (let n = 0; n < times; n += 1) job = polled(job, result).job;
  return job;
}

const running = (status: string): Task => ({ id: '123', state: 'unfinished', status, buttons: [] });

describe('a task that was named for a job in doubt', () => {
  const named = withAdoptedTask(inDoubt, '123', 0.25);

  it('is polled, and counted as paid', () => {
    expect(named).toMatchObject({ status: 'running', taskId: '123', cost: 0.75, attempts: 1 });
    expect(named.doubtful).toBeUndefined();
    expect(adopt(named, 0, undefined).nextRequest).toEqual({ kind: 'fetch', taskId: '123', why: 'poll' });
  });

  it('leaves the job in doubt as before, where the service still does not know the task after all polls', () => {
    const { attempts } = context().retry;
    expect(lookedOften(named, unknown, attempts - 1).record).toEqual(named);
    const { record, nextRequest } = lookedOften(named, unknown, attempts);
    expect(nextRequest).toEqual({ kind: 'nothing' });
    expect(record).toEqual({
      ...inDoubt,
      invocation: context().invocation,
      finishedAt: context().now,
      error: {
        ...error,
        code: 'task.unknown',
        message:
          "The service does not know task 123, which was named as this job's: check the id. It is in doubt as before: No answer came.",
      },
    });
  });

  it('can be named again, and is counted once', () => {
    const back = lookedOften(named, unknown, context().retry.attempts).record;
    const { error: _, ...first } = named.named ?? {};
    expect(withAdoptedTask(back, '124', 0.25)).toEqual({
      ...named,
      invocation: back.invocation,
      taskId: '124',
      named: { ...first, error: back.error },
    });
    const again = lookedOften(withAdoptedTask(back, '124', 0.25), unknown, context().retry.attempts).record;
    expect(again).toEqual({
      ...back,
      error: { ...back.error, message: back.error?.message.replace('task 123', 'task 124') },
    });
  });

  it('is not given up for an outage', () => {
    const out = failure('service.unavailable', 'retry', { status: 503 });
    expect(lookedOften(named, out, 50).record.status).toBe('running');
  });

  it('belongs to the job once the service has shown it, also in a later run', () => {
    const seen = polled(adopt(named, 0, undefined), running('IN_PROGRESS')).job.record;
    const { named: _, ...own } = named;
    expect(seen).toEqual(own);
    expect(lookedOften(seen, unknown, 50).record.status).toBe('running');
  });

  it('replaces a lost confirm, and the modal keeps its task', () => {
    const modal = { taskId: 'M1', sent: 1 };
    const asked = clickRecord({ ...inDoubt, kind: 'click', taskId: 'M1', modal, cost: 0.25 });
    const other = withAdoptedTask(asked, '123', 0.25);
    expect(other).toMatchObject({ taskId: '123', cost: 0.25 });
    const back = lookedOften(other, unknown, context().retry.attempts).record;
    expect(back).toMatchObject({ status: 'in-doubt', taskId: 'M1', modal, cost: 0.25 });
  });
});

describe('a task past its deadline', () => {
  const { taskMs, retry } = context();
  const late = { now: epoch + taskMs };
  const seen = (job: Job, result: Task | ServiceFailure): JobStep =>
    step(
      job,
      {
        type: 'fetched',
        why: 'poll',
        result: 'class' in result ? { ok: false, error: result } : { ok: true, value: result },
      },
      context(late),
    );
  const watched = imagineRecord({ status: 'running', taskId: '123', submittedAt: epoch, attempts: 1 });
  const missed = (record: JobRecord): Job => ({
    ...adopt(record, 0, undefined),
    misses: retry.attempts - 1,
  });

  it('is not given up by a deferred poll (429): it is not a failed poll', () => {
    const throttled = failure('service.throttled', 'throttle', { status: 429 });
    expect(seen(missed(watched), throttled).job.record.status).toBe('running');
    const out = failure('service.unavailable', 'retry', { status: 503 });
    expect(seen(missed(watched), out).job.record).toMatchObject({
      status: 'failed',
      error: { code: 'task.timeout' },
    });
  });

  it('that was named and is not known leaves the job in doubt as before: no task of it is late', () => {
    const named = withAdoptedTask(inDoubt, '123', 0.25);
    expect(seen(missed(named), unknown).job.record).toMatchObject({
      status: 'in-doubt',
      error: { code: 'task.unknown' },
    });
  });

  it('has no error any more once it is finished, during its download and afterwards', () => {
    const task: Task = {
      id: '123',
      state: 'success',
      status: 'SUCCESS',
      buttons: [],
      imageUrl: 'https://i/1.png',
    };
    const failed = { ...watched, error: { code: 'task.timeout' as const, message: 'late' } };
    const { record } = seen(adopt(failed, 0, undefined), task).job;
    expect([record.status, record.error]).toEqual(['saving', undefined]);
    const unkept = seen(adopt({ ...failed, keep: false }, 0, undefined), task).job.record;
    expect([unkept.status, unkept.error]).toEqual(['done', undefined]);
  });
});
