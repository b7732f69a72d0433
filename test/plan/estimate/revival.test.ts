import { describe, expect, test } from 'vitest';
import type { JobErrorCode } from '../../../src/pipeline/diagnostics/job-errors.ts';
import {
  interruptedRecord,
  isMaskError,
  isRetried,
  type RevivalFlags,
  revivedStatus,
} from '../../../src/plan/estimate/revival.ts';
import type { JobRecord, JobStatus } from '../../../src/plan/job.ts';
import { scene } from './estimate-rig.ts';

const record = async (
  status: JobStatus,
  code?: string,
  changes: Partial<JobRecord> = {},
): Promise<JobRecord> => {
  const { state, at } = await scene('{ steps: { g: { imagine: a } } }');
  const error = code === undefined ? {} : { error: { code: code as JobErrorCode, message: 'm' } };
  state.put(at(1, 'g'), status, { ...error, ...changes });
  return [...state.records.values()][0] as JobRecord;
};

const made = { result: { buttons: [] } };
const all: RevivalFlags = { retryFailed: {} };

describe('a run resumes a settled job', () => {
  test.each<
    readonly [JobStatus, string | undefined, RevivalFlags, Partial<JobRecord>, JobStatus | undefined]
  >([
    ['failed', 'task.failed', {}, {}, undefined],
    ['failed', 'task.failed', all, {}, 'pending'],
    ['failed', 'task.failed', { retryFailed: { code: 'task.failed' } }, {}, 'pending'],
    ['failed', 'task.failed', { retryFailed: { code: 'task' } }, {}, undefined],
    ['failed', undefined, { retryFailed: { code: 'task.failed' } }, {}, undefined],
    ['failed', undefined, all, {}, 'pending'],
    ['failed', undefined, all, made, 'pending'],
    // What is made is only downloaded; what is not, or failed for another reason, is made.
    ['failed', 'download.status', all, made, 'saving'],
    ['failed', 'download.status', all, {}, 'pending'],
    ['failed', 'disk.full', all, made, 'pending'],
    ['failed', 'mask.size', all, {}, undefined],
    ['done', undefined, all, made, undefined],
    ['done', 'task.failed', all, made, undefined],
    ['in-doubt', undefined, all, {}, undefined],
    ['in-doubt', undefined, { inDoubt: 'hold' }, {}, undefined],
    ['in-doubt', undefined, { inDoubt: 'retry' }, {}, 'pending'],
    ['running', 'task.failed', { ...all, inDoubt: 'retry' }, {}, undefined],
    ['pending', undefined, all, {}, undefined],
  ])('%s with %s under %j', async (status, code, flags, changes, revived) => {
    expect(revivedStatus(await record(status, code, changes), flags, new Set())).toBe(revived);
  });

  test.each<readonly [JobStatus, JobStatus | undefined]>([
    ['done', 'pending'],
    ['failed', 'pending'],
    ['in-doubt', 'pending'],
    ['running', undefined],
    ['saving', undefined],
  ])('that the user wants redone and that is %s: %s', async (status, revived) => {
    const one = await record(status, 'download.status', made);
    expect(revivedStatus(one, {}, new Set([one.key]))).toBe(revived);
    expect(revivedStatus(one, {}, new Set(['another']))).toBeUndefined();
  });

  test('with a wrong mask, if another job is redone', async () => {
    const one = await record('failed', 'mask.size');
    expect(revivedStatus(one, all, new Set(['another']))).toBe('pending');
  });
});

test('only a failed job can have a mask error or be retried', async () => {
  expect([isMaskError(await record('failed', 'mask.size')), isMaskError(await record('failed'))]).toEqual([
    true,
    false,
  ]);
  expect(isMaskError(await record('failed', 'unmask.size'))).toBe(false);
  expect(
    isRetried(await record('done', 'service.rejected'), { retryFailed: { code: 'service.rejected' } }),
  ).toBe(false);
});

test('a request of a killed run is in doubt, but a text call is repeated', async () => {
  const sent = await record('submitting');
  expect(interruptedRecord(sent).status).toBe('in-doubt');
  expect(interruptedRecord({ ...sent, kind: 'chat' }).status).toBe('pending');
  const running = await record('running');
  expect(interruptedRecord(running)).toBe(running);
});
