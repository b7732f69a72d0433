import { describe, expect, it } from 'vitest';
import type { JobStatus } from '../../../src/plan/job.ts';
import {
  become,
  type NextRequest,
  newJob,
  restsOutside,
  takesTaskSlot,
} from '../../../src/run/machine/job.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';

const wait = (next: NextRequest): NextRequest => ({ kind: 'wait', until: epoch, next });
const submit: NextRequest = { kind: 'submit' };

it('a new image job requests a task slot, and a new text job a turn', () => {
  expect(newJob(imagineRecord(), 2, undefined)).toStrictEqual({
    record: imagineRecord(),
    nextRequest: { kind: 'task-slot' },
    depth: 2,
    misses: 0,
  });
  expect(newJob(clickRecord(), 1, 'T1')).toMatchObject({
    nextRequest: { kind: 'task-slot' },
    parentTaskId: 'T1',
  });
  expect(newJob(textRecord(), 0, undefined).nextRequest).toEqual({ kind: 'ask' });
});

describe('a task slot on the service', () => {
  it.each<[JobStatus, boolean]>([
    ['pending', true],
    ['submitting', true],
    ['running', true],
    ['modal', true],
    ['saving', false],
    ['done', false],
    ['failed', false],
    ['in-doubt', false],
  ])('is taken by a job that is %s: %s', (status, holds) => {
    expect(takesTaskSlot(job(imagineRecord({ status }), { nextRequest: submit }))).toBe(holds);
    expect(takesTaskSlot(job(textRecord({ status }), { nextRequest: submit }))).toBe(false);
  });

  it.each<[string, NextRequest, boolean]>([
    ['task-slot', { kind: 'task-slot' }, false],
    ['a task slot after a rest', wait({ kind: 'task-slot' }), false],
    ['its turn after a rest', wait(submit), true],
    ['its answer', { kind: 'answer' }, true],
  ])('is not taken before it is granted: by a job whose next request is %s', (_what, nextRequest, holds) => {
    expect(takesTaskSlot(job(imagineRecord(), { nextRequest }))).toBe(holds);
  });

  it('is released by a waiting job until it requests one again', () => {
    expect(restsOutside(job(imagineRecord(), { nextRequest: wait({ kind: 'task-slot' }) }))).toBe(true);
    expect(restsOutside(job(imagineRecord(), { nextRequest: wait(submit) }))).toBe(false);
    expect(restsOutside(job(imagineRecord(), { nextRequest: { kind: 'task-slot' } }))).toBe(false);
  });
});

it('a record changes its status and fields; undefined removes a field', () => {
  const before = imagineRecord({ taskId: 'T', cost: 1 });
  const { taskId: _, ...rest } = before;
  expect(become(before, 'failed', { taskId: undefined, cost: 0 })).toStrictEqual({
    ...rest,
    status: 'failed',
    cost: 0,
  });
  expect(become(before, 'running')).toStrictEqual({ ...before, status: 'running' });
});
