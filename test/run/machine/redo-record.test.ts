import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import {
  asBefore,
  durableForm,
  keptAsIs,
  redoJudged,
  redoneOnce,
  replacing,
} from '../../../src/run/machine/redo.ts';
import { context, epoch, imagineRecord, job } from '../../rig/jobs.ts';

const artifacts = [{ output: 1, file: 'a.png', bytes: 5, sha256: 'h', mime: 'image/png' }];
const former = {
  taskId: 'T1',
  parentTaskId: 'P1',
  from: { p: 1 },
  speed: 'relax',
  resubmits: 1,
  submittedAt: 5,
  finishedAt: 9,
  result: { buttons: [], imageUrl: 'https://i/1' },
} as const satisfies JobRecord['former'];
const why = { code: 'service.rejected' as const, message: 'no' };

/** A job that was done and is being made again: all that its redo has written. */
const redoing = (changes: Partial<JobRecord> = {}): JobRecord =>
  imagineRecord({
    status: 'submitting',
    attempts: 2,
    tries: 3,
    resubmits: 2,
    cost: 4,
    taskId: 'T2',
    parentTaskId: 'P2',
    from: { p: 2 },
    kept: { q: 1 },
    modal: { taskId: 'M', sent: 1 },
    pressed: { customId: 'c', label: 'U1', emoji: '' },
    speed: 'fast',
    submittedAt: 50,
    finishedAt: 90,
    result: { buttons: [] },
    text: { candidates: [] },
    turns: ['x'],
    invalid: 1,
    error: why,
    artifacts,
    former,
    ...changes,
  });

describe('a redo that failed', () => {
  const { key, kind, request, origin, keep } = imagineRecord();
  const unchanged = { key, kind, request, origin, keep, artifacts, attempts: 2, cost: 4 };

  it('leaves the former result, and the cost of the redo', () => {
    expect(asBefore(redoing())).toStrictEqual({ ...unchanged, ...former, status: 'done', tries: 0 });
  });

  it('keeps submissions counted that may have made a task, and leaves no doubt', () => {
    const record = asBefore(redoing({ doubtful: { count: 1, cost: 2, since: 7 } }));
    expect([record.status, record.doubtful]).toEqual(['done', { count: 1, cost: 2 }]);
  });

  it('changes nothing of a job that was not a redo', () => {
    const { former: _, ...plain } = redoing();
    expect(asBefore(plain)).toBe(plain);
  });

  it('notes the new sources that it was tried from, so that no run tries it from these again', () => {
    const before = imagineRecord({ status: 'done', kept: { q: 1, p: 1 } });
    expect(keptAsIs(before, redoing()).kept).toEqual({ q: 1, p: 2 });
    const { former: _, ...plain } = redoing();
    const { from: __, ...root } = redoing();
    expect([keptAsIs(before, plain), keptAsIs(before, root)]).toEqual([before, before]);
  });
});

describe('a new result', () => {
  it('replaces the former one, which is counted', () => {
    expect(replacing(redoing())).toStrictEqual({
      former: undefined,
      redone: { count: 1, first: { taskId: 'T1', submittedAt: 5 } },
    });
    const { taskId: _, ...text } = redoing({ former: { resubmits: 0 } });
    expect(replacing(text)).toStrictEqual({ former: undefined, redone: { count: 1, first: {} } });
  });

  it('that is the former task replaces nothing, and keeps the former parent', () => {
    expect(replacing(redoing({ taskId: 'T1' }))).toStrictEqual({ former: undefined, parentTaskId: 'P1' });
  });

  it('of a job that was not a redo replaces nothing', () => {
    const { former: _, ...plain } = redoing();
    expect(replacing(plain)).toEqual({});
  });

  it('is counted in addition to the first one, whose task stays known', () => {
    const redone = { count: 2, first: { taskId: 'T0' } };
    expect(redoneOnce({ redone }, { taskId: 'T1', submittedAt: 5 })).toEqual({ ...redone, count: 3 });
    expect(redoneOnce({}, { taskId: 'T1' })).toStrictEqual({ count: 1, first: { taskId: 'T1' } });
  });
});

describe('the durable record of a redo', () => {
  it('is that of the finished job until the redo is sent', () => {
    const { turns: _, ...pending } = redoing({ status: 'pending' });
    expect(durableForm(pending)).toEqual(asBefore(pending));
  });

  it('is its own where rounds of it are answered: they are paid', () => {
    const pending = redoing({ status: 'pending' });
    expect(durableForm(pending)).toBe(pending);
  });

  it('is in doubt where a submission of it may have made a task', () => {
    const doubtful = { count: 1, since: 77 };
    const { turns: _turns, ...unseen } = redoing({ status: 'pending', doubtful });
    expect(durableForm(unseen)).toMatchObject({
      status: 'in-doubt',
      tries: 0,
      finishedAt: 77,
      error: why,
      former,
    });
    const { error: _, ...quiet } = unseen;
    expect(durableForm(quiet).error?.code).toBe('submit.interrupted');
  });

  it('is its own where the redo was sent, as for any other job', () => {
    const sent = redoing();
    const { former: _, ...pending } = redoing({ status: 'pending' });
    expect([durableForm(sent), durableForm(pending)]).toEqual([sent, pending]);
    expect([durableForm(sent) === sent, durableForm(pending) === pending]).toEqual([true, true]);
  });
});

describe('a step that ends a redo', () => {
  const stepOf = (record: JobRecord) => ({ job: job(record, { nextRequest: { kind: 'nothing' } }) });

  it('in failure leaves the job done, with the error in its history', () => {
    const judged = redoJudged(stepOf(redoing({ status: 'failed' })), context());
    expect(judged.job.record).toEqual({
      ...asBefore(redoing({ status: 'failed' })),
      kept: { p: 2 },
    });
    expect(judged.redoError).toEqual(why);
    expect(judged.attempt).toEqual({
      key: 'aa11',
      at: epoch,
      outcome: 'redo.failed',
      taskId: 'T2',
      error: why,
    });
  });

  it('keeps its history entry', () => {
    const attempt = { key: 'aa11', at: 5, outcome: 'permanent', error: why };
    const judged = redoJudged({ ...stepOf(redoing({ status: 'failed' })), attempt }, context());
    expect(judged.attempt).toBe(attempt);
  });

  it.each<[string, JobRecord]>([
    ['past its deadline', redoing({ status: 'failed', error: { code: 'task.timeout', message: 'm' } })],
    ['in doubt', redoing({ status: 'in-doubt' })],
    ['well', redoing({ status: 'done' })],
  ])('%s is left unchanged', (_, record) => {
    const step = stepOf(record);
    expect(redoJudged(step, context())).toBe(step);
  });

  it('of a job that was not a redo is left unchanged', () => {
    const { former: _, ...plain } = redoing({ status: 'failed' });
    const step = stepOf(plain);
    expect(redoJudged(step, context())).toBe(step);
  });
});
