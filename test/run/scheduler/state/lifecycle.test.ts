import { describe, expect, it } from 'vitest';
import type { RunEnd } from '../../../../src/run/events.ts';
import {
  failedFast,
  lasted,
  mayBeLeft,
  RunLifecycle,
} from '../../../../src/run/scheduler/state/lifecycle.ts';
import { imagineRecord, job } from '../../../rig/jobs.ts';

const interrupted: RunEnd = { kind: 'interrupted', forced: false };
const stopped: RunEnd = { kind: 'stopped', code: 'service.unauthorized', message: '401' };
const rest = { requests: 0, jobs: 0, isDone: true, isWhole: true };

describe('the lifecycle of a run', () => {
  it('is complete once all cells were opened and no job is left', () => {
    const lifecycle = new RunLifecycle();
    expect(lifecycle.reached({ ...rest, jobs: 1 })).toBeUndefined();
    expect(lifecycle.reached({ ...rest, isDone: false })).toBeUndefined();
    expect(lifecycle.reached(rest)).toEqual({ kind: 'complete' });
  });

  it('drains by its first cause, and ends once no job is left', () => {
    const lifecycle = new RunLifecycle();
    expect([lifecycle.drain(interrupted), lifecycle.drain(lasted)]).toEqual([true, false]);
    expect([lifecycle.isEnding, lifecycle.isHalted]).toEqual([true, false]);
    expect(lifecycle.reached({ ...rest, jobs: 2, isDone: false })).toBeUndefined();
    expect(lifecycle.reached({ ...rest, isDone: false })).toBe(interrupted);
  });

  it('halts despite an earlier cause, once, and ends when no request is in flight', () => {
    const lifecycle = new RunLifecycle();
    lifecycle.drain(interrupted);
    expect([lifecycle.halt(stopped), lifecycle.halt(interrupted), lifecycle.drain(lasted)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(lifecycle.reached({ ...rest, requests: 1, jobs: 3 })).toBeUndefined();
    expect(lifecycle.reached({ ...rest, jobs: 3 })).toBe(stopped);
  });

  it('is complete where its time was up and no work is left for another run', () => {
    const [whole, partial] = [new RunLifecycle(), new RunLifecycle()];
    whole.drain(lasted);
    partial.drain(lasted);
    expect(whole.reached(rest)).toEqual({ kind: 'complete' });
    expect(partial.reached({ ...rest, isWhole: false })).toBe(lasted);
  });
});

const open = (status: 'modal' | 'running', sent: number) =>
  job(imagineRecord({ status, modal: { taskId: 'T', sent } }), { nextRequest: { kind: 'answer' } });

describe('mayBeLeft', () => {
  it.each([
    ['a job that was not submitted', job(imagineRecord()), true],
    [
      'a task in flight',
      job(imagineRecord({ status: 'running' }), { nextRequest: { kind: 'answer' } }),
      false,
    ],
    [
      'a submission under way',
      job(imagineRecord({ status: 'submitting' }), { nextRequest: { kind: 'answer' } }),
      false,
    ],
    [
      'a file that is being saved',
      job(imagineRecord({ status: 'saving' }), { nextRequest: { kind: 'answer' } }),
      false,
    ],
    [
      'a file whose download failed, and is under way again',
      job(imagineRecord({ status: 'saving' }), { nextRequest: { kind: 'answer' }, misses: 1 }),
      false,
    ],
    [
      'a file whose download failed, and waits for its turn',
      job(imagineRecord({ status: 'saving' }), {
        nextRequest: { kind: 'save', source: { isText: true }, output: 1 },
        misses: 1,
      }),
      true,
    ],
    ['a job in doubt', job(imagineRecord({ status: 'in-doubt' }), { nextRequest: { kind: 'answer' } }), true],
    ['a job that waits for a task slot', job(imagineRecord({ status: 'modal' })), true],
    ['a modal that is answered for the first time', open('modal', 0), false],
    ['a modal that was answered before', open('modal', 1), true],
    ['a modal that was answered, its task at work', open('running', 1), false],
    ['a pending job that is under way', job(imagineRecord(), { nextRequest: { kind: 'answer' } }), true],
  ])('decides for %s whether a later run may begin it', (_, one, expected) => {
    expect(mayBeLeft(one)).toBe(expected);
  });
});

it('a run ends for its budget when its time is up, and at its first failure under --fail-fast', () => {
  expect(lasted).toMatchObject({ kind: 'budget', code: 'run.max-duration' });
  const error = { code: 'task.moderated' as const, message: 'No.' };
  expect(failedFast(imagineRecord({ error }))).toEqual({
    kind: 'fail-fast',
    code: 'task.moderated',
    message: 'grid in cell 1 failed with task.moderated, and --fail-fast ends the run at the first failure.',
  });
  expect(failedFast(imagineRecord())).toMatchObject({
    code: 'task.failed',
    message: expect.stringContaining('failed with task.failed'),
  });
});
