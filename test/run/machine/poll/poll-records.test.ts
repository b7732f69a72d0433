import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../../src/plan/job.ts';
import type { Job } from '../../../../src/run/machine/job.ts';
import { withAdoptedTask } from '../../../../src/run/machine/poll/poll.ts';
import type { Task } from '../../../../src/service/image-service.ts';
import { failure } from '../../../rig/failure.ts';
import { clickRecord, epoch, imagineRecord, job } from '../../../rig/jobs.ts';
import { transition } from '../../../rig/transition.ts';

const minute = 60_000;
const seen = (changes: Partial<Task> = {}): Task => ({
  id: 'T9',
  state: 'unfinished',
  status: 'IN_PROGRESS',
  buttons: [],
  ...changes,
});
const running = (changes: Partial<JobRecord> = {}, more: Partial<Job> = {}): Job =>
  job(
    imagineRecord({ status: 'running', attempts: 1, taskId: 'T9', submittedAt: epoch - 5000, ...changes }),
    { nextRequest: { kind: 'answer' }, ...more },
  );
const unknown = failure('service.task-unknown', 'retry', { status: 404 });
const artifacts = [{ output: 1, file: 'a', bytes: 1, sha256: 'h', mime: 'image/png' }];
const image = { state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1' } as const;

describe('a task that is polled', () => {
  it('is polled again by its age while it is unfinished, without a counted failure', () => {
    const ages: number[] = [];
    const pollInMs = (_: unknown, elapsedMs: number): number => {
      ages.push(elapsedMs);
      return 300;
    };
    const { job: next } = transition(running({}, { misses: 3 }), { pollInMs }).fetched('poll', seen());
    expect(next).toMatchObject({
      misses: 0,
      nextRequest: { kind: 'wait', until: epoch + 300, next: { kind: 'fetch', taskId: 'T9', why: 'poll' } },
    });
    expect(ages).toEqual([5000]);
  });

  it('is unknown only while the service does not know it', () => {
    const lost = transition(running()).fetched('poll', unknown).job;
    expect(lost.unknown).toBe(true);
    expect(transition(lost).fetched('poll', seen()).job.unknown).toBe(false);
    const down = failure('service.unavailable', 'retry', { status: 503 });
    expect(transition(lost).fetched('poll', down).job.unknown).toBe(false);
  });

  it.each([
    [99_400, '99 s'],
    [100_000, '1.7 min'],
    [25 * minute, '25 min'],
  ])('fails once it is %i ms old and past its deadline, named in seconds or minutes', (age, said) => {
    const from = running({ submittedAt: epoch - age });
    const times = { taskMs: age, watchedSince: epoch - age };
    const { record } = transition(from, times).fetched('poll', seen()).job;
    expect(record).toMatchObject({ status: 'failed', taskId: 'T9', error: { code: 'task.timeout' } });
    expect(record.error?.message).toContain(`was not finished ${said} after`);
    expect(record.error?.message).toContain('Its status was "IN_PROGRESS".');
    expect(transition(from, { ...times, taskMs: age + 1 }).fetched('poll', seen()).job.record.status).toBe(
      'running',
    );
    const watched = { taskMs: age, watchedSince: epoch - age + 1 };
    expect(transition(from, watched).fetched('poll', seen()).job.record.status).toBe('running');
  });

  it('that is polled a last time fails where it is not finished, however young it is', () => {
    const late = running({}, { lastPoll: true });
    expect(transition(late).fetched('poll', seen()).job.record.error?.code).toBe('task.timeout');
    const failing = seen({ state: 'failure', status: 'FAILURE', failReason: 'timed out' });
    expect(transition(late).fetched('poll', failing).job.record).toMatchObject({
      status: 'failed',
      error: { code: 'task.failed' },
    });
    expect(transition(late).fetched('poll', seen(image)).job.record.status).toBe('saving');
  });
});

describe('a task that failed and may succeed again', () => {
  const failing = seen({ state: 'failure', status: 'FAILURE', failReason: 'timed out' });

  it('is submitted again as a new attempt, and keeps only the reason of the failed one', () => {
    const modal = { taskId: 'M', sent: 1 };
    const from = job(
      clickRecord({
        ...running({ resubmits: 1, modal }).record,
        ...clickRecord({ status: 'running' }),
        resubmits: 1,
        modal,
        taskId: 'T9',
        submittedAt: 5,
      }),
      {
        nextRequest: { kind: 'answer' },
        depth: 4,
        misses: 2,
        fresh: { button: { customId: 'c', label: 'U1', emoji: '' }, readAt: epoch },
      },
    );
    const step = transition(from).fetched('poll', failing);
    expect(step.job).toMatchObject({
      record: { status: 'pending', resubmits: 2, error: { code: 'task.failed' } },
      nextRequest: { kind: 'wait', until: epoch + 1000, next: { kind: 'task-slot' } },
      depth: 4,
      misses: 0,
      parentTaskId: 'T1',
    });
    const { taskId, modal: opened, submittedAt } = step.job.record;
    expect([taskId, opened, submittedAt, step.job.fresh]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(step.attempt).toMatchObject({ at: epoch, outcome: 'task.failed', taskId: 'T9' });
  });

  it('fails for good after retry.resubmits', () => {
    const { record } = transition(running({ resubmits: 2 })).fetched('poll', failing).job;
    expect([record.status, record.resubmits, record.taskId]).toEqual(['failed', 2, 'T9']);
  });
});

describe('a task that succeeded', () => {
  it('replaces the files of the earlier result, and no others', () => {
    const redo = running({ former: { taskId: 'T1', resubmits: 0 }, artifacts });
    const { record } = transition(redo).fetched('poll', seen(image)).job;
    expect([record.status, record.artifacts, record.former, record.redone?.count]).toEqual([
      'saving',
      [],
      undefined,
      1,
    ]);
    const first = transition(running({ artifacts })).fetched('poll', seen(image)).job.record;
    expect([first.artifacts, first.redone]).toEqual([artifacts, undefined]);
  });

  it('is done where no file of it is kept, once its result is there', () => {
    const error = { code: 'service.rejected' as const, message: 'm' };
    const from = running({ keep: false, error }, { misses: 2 });
    const { record, nextRequest } = transition(from).fetched('poll', seen(image)).job;
    expect([record.status, record.finishedAt, record.error, nextRequest]).toEqual([
      'done',
      epoch,
      undefined,
      { kind: 'nothing' },
    ]);
    const film = transition(running({ keep: false, kind: 'video' })).fetched('poll', seen(image)).job;
    expect([film.record.status, film.nextRequest]).toEqual([
      'saving',
      { kind: 'fetch', taskId: 'T9', why: 'link' },
    ]);
  });
});

describe('a task that was named', () => {
  const named = {
    error: { code: 'submit.interrupted' as const, message: 'lost' },
    cost: 2,
    doubtful: { count: 1, since: 5 },
  };

  it('is claimed with the earlier data of the job, so that it can be reverted', () => {
    const before = imagineRecord({ ...named, status: 'in-doubt', tries: 3, finishedAt: 9, taskId: 'old' });
    const adopted = withAdoptedTask(before, 'T9', 4);
    expect(adopted).toMatchObject({ status: 'running', taskId: 'T9', tries: 0, cost: 6 });
    expect(adopted.named).toStrictEqual({ taskId: 'old', ...named });
    expect([adopted.error, adopted.finishedAt, adopted.doubtful]).toEqual([undefined, undefined, undefined]);
    expect(withAdoptedTask(imagineRecord({ status: 'in-doubt' }), 'T9', undefined).named).toStrictEqual({});
    const modal = { taskId: 'M', sent: 1 };
    // The click of a dialog is counted already.
    expect(withAdoptedTask({ ...before, modal }, 'T9', 4)).toMatchObject({
      cost: 2,
      doubtful: named.doubtful,
    });
  });

  it('that the service does not know leaves the job as it was, with both errors', () => {
    const from = running({ named: { taskId: 'old', ...named }, cost: 6 }, { misses: 5 });
    const { record } = transition(from).fetched('poll', unknown).job;
    expect(record).toMatchObject({ status: 'in-doubt', taskId: 'old', cost: 2, doubtful: named.doubtful });
    expect([record.named, record.error?.code]).toEqual([undefined, 'task.unknown']);
    expect(record.error?.message).toMatch(/does not know task T9.*as before: lost$/);
    const bare = transition(running({ named: {} }, { misses: 5 })).fetched('poll', unknown).job.record;
    expect([bare.taskId, bare.error?.message.includes('as before')]).toEqual([undefined, false]);
  });

  it('is polled until the tries are used up, and belongs to the job once it was seen', () => {
    const early = transition(running({ named }, { misses: 4 })).fetched('poll', unknown).job;
    expect([early.record.status, early.misses]).toEqual(['running', 5]);
    const shown = transition(running({ named }, { misses: 4 })).fetched('poll', seen()).job;
    expect([shown.record.named, shown.record.taskId]).toEqual([undefined, 'T9']);
  });
});
