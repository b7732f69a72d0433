import { describe, expect, it } from 'vitest';
import { isInterrupted } from '../../../src/plan/estimate/revival.ts';
import type { JobRecord, JobSpec } from '../../../src/plan/job.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { isConfirmSent } from '../../../src/run/machine/modal.ts';
import {
  adopt,
  begunWith,
  jobForSlot,
  mayRetry,
  recoverInterrupted,
  resetForResubmit,
  retryOf,
  waitsForParent,
} from '../../../src/run/machine/resume.ts';
import type { RunSettings } from '../../../src/run/ports.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';

const specOf = (record: JobRecord): JobSpec => ({
  key: record.key,
  kind: record.kind,
  request: record.request,
  ...(record.parent && { parent: record.parent }),
});
const slotOf = (record: JobRecord, changes: Partial<Slot> = {}): Slot => ({
  cell: 1,
  step: 'grid',
  kind: record.kind,
  branch: [],
  depth: 3,
  keep: true,
  id: 's1',
  job: specOf(record),
  record,
  status: record.status,
  ready: true,
  ...changes,
});

/** What this run, the second, makes of a slot. */
const begin = (
  slot: Slot,
  settings: Partial<RunSettings> = {},
  redo: readonly string[] = [],
  lineage: Parameters<typeof jobForSlot>[1] = { parentTaskId: 'P1' },
) => jobForSlot(slot, lineage, virtualSettings(settings), new Set(redo), 2, epoch);

const earlier = { invocation: 1, attempts: 1, submittedAt: epoch - 9000, finishedAt: epoch - 1 } as const;
const why = { code: 'service.rejected' as const, message: 'no' };
const failed = (changes: Partial<JobRecord> = {}): JobRecord =>
  imagineRecord({ ...earlier, status: 'failed', error: why, ...changes });
const done = (changes: Partial<JobRecord> = {}): JobRecord =>
  imagineRecord({ ...earlier, status: 'done', taskId: 'T1', result: { buttons: [] }, ...changes });

describe('a slot that was never begun', () => {
  const fresh = (changes: Partial<Slot> = {}): Slot => {
    const { record: _, ...slot } = slotOf(clickRecord(), { status: 'pending', branch: ['U1'], ...changes });
    return slot;
  };

  it('has a new job, with all data of the plan, once it is ready', () => {
    const extra = {
      inputs: ['p', 'q'],
      files: { hash: 'a.png' },
      call: { stream: true, accept: ['LENGTH'] },
    };
    const spec = specOf(clickRecord());
    const begun = begin(fresh({ job: { ...spec, ...extra }, keep: false }));
    expect(begun).toStrictEqual({
      record: {
        key: 'bb22',
        kind: 'click',
        status: 'pending',
        request: spec.request,
        parent: 'aa11',
        ...extra,
        origin: { cell: 1, step: 'grid', branch: 'U1', slot: 's1' },
        keep: false,
        attempts: 0,
        tries: 0,
        resubmits: 0,
        artifacts: [],
        parentTaskId: 'P1',
      },
      nextRequest: { kind: 'task-slot' },
      depth: 3,
      misses: 0,
      parentTaskId: 'P1',
    });
  });

  it('has none before it is ready, nor while its request is not known', () => {
    const { job: _, ...unknown } = fresh();
    expect([begin(fresh({ ready: false })), begin(unknown)]).toEqual([undefined, undefined]);
  });

  it('waits for the task that it presses, or extends', () => {
    const video = imagineRecord({
      kind: 'video',
      request: { kind: 'video', fields: { extend: 1 }, images: [] },
    });
    for (const record of [clickRecord(), video]) {
      expect(begin(fresh({ job: specOf(record) }), {}, [], {})).toBeUndefined();
      expect(begin(fresh({ job: specOf(record) }))).toBeDefined();
    }
    expect(begin(fresh({ job: specOf(imagineRecord()) }), {}, [], {})).toBeDefined();
  });
});

describe('a slot that an earlier run began', () => {
  it('continues with the current options and paths of the pipeline, and keeps a file that any slot wanted', () => {
    const record = imagineRecord({ status: 'running', taskId: 'T1', keep: false, files: { old: 'x' } });
    const call = { stream: true, accept: [] };
    const slot = slotOf(record, { job: { ...specOf(record), files: { hash: 'a.png' }, call } });
    expect(begin(slot)?.record).toMatchObject({ keep: true, files: { hash: 'a.png' }, call });
    expect(begin({ ...slot, keep: false })?.record.keep).toBe(false);
    expect(begin({ ...slot, keep: false, record: { ...record, keep: true } })?.record.keep).toBe(true);
    expect(begin(slotOf(record))?.record.files).toEqual({ old: 'x' });
  });

  it('is submitted once it is ready, and polled in any case', () => {
    const pending = slotOf(imagineRecord(), { ready: false });
    expect([begin(pending), begin({ ...pending, ready: true })?.nextRequest]).toEqual([
      undefined,
      { kind: 'task-slot' },
    ]);
    const running = slotOf(imagineRecord({ status: 'running', taskId: 'T1' }), { ready: false });
    expect(begin(running)?.nextRequest).toEqual({ kind: 'fetch', taskId: 'T1', why: 'poll' });
  });

  it('is never submitted again unchanged where its request was in flight', () => {
    expect(() => begin(slotOf(imagineRecord({ status: 'submitting', attempts: 1 })))).toThrow(
      'Internal error',
    );
  });

  it.each<[string, JobRecord, object]>([
    ['running', imagineRecord({ status: 'running', taskId: 'T1' }), { kind: 'fetch', why: 'poll' }],
    [
      'saving',
      imagineRecord({ status: 'saving', taskId: 'T1', result: { buttons: [], imageUrl: 'https://i/1' } }),
      { kind: 'save', output: 1 },
    ],
    ['pending', imagineRecord(), { kind: 'task-slot' }],
    ['a text', textRecord(), { kind: 'ask' }],
    [
      'an open modal',
      clickRecord({ status: 'modal', modal: { taskId: 'M', sent: 0 } }),
      { kind: 'task-slot' },
    ],
    [
      'a confirm under way',
      clickRecord({ status: 'submitting', modal: { taskId: 'M', sent: 1 } }),
      { kind: 'fetch', taskId: 'M', why: 'modal' },
    ],
  ])('is resumed at its status: %s', (_, record, nextRequest) => {
    expect(adopt(record, 4, 'P1')).toMatchObject({
      record,
      nextRequest,
      depth: 4,
      misses: 0,
      parentTaskId: 'P1',
    });
  });
});

describe('a job that is done', () => {
  it('stays unchanged', () => {
    expect(begin(slotOf(done()))).toBeUndefined();
  });

  it('only downloads its files where a slot wants them now, by a fresh link', () => {
    expect(begin(slotOf(done(), { unsaved: true }))).toMatchObject({
      record: { status: 'saving', attempts: 1 },
      nextRequest: { kind: 'fetch', taskId: 'T1', why: 'link' },
    });
  });

  it('is redone when the user asks for it, once, and not in the run that made it', () => {
    const key = done().key;
    const redone = begin(slotOf(done()), {}, [key]);
    expect(redone?.record).toMatchObject({ status: 'pending', attempts: 1, former: { taskId: 'T1' } });
    expect(redone?.nextRequest).toEqual({ kind: 'task-slot' });
    expect(begin(slotOf(done()), {}, ['other'])).toBeUndefined();
    expect(begin(slotOf(done({ invocation: 2 })), {}, [key])).toBeUndefined();
    expect(begin(slotOf(done(), { waitsForRedo: true }), {}, [key])).toBeUndefined();
  });

  it('is redone where its parents were, whenever it was done, once they are ready', () => {
    const outdated = slotOf(done({ invocation: 2 }), { outdated: true });
    expect(begin(outdated, {}, [], { from: { p: 2 } })?.record).toMatchObject({
      status: 'pending',
      from: { p: 2 },
      former: { taskId: 'T1' },
    });
    expect(begin({ ...outdated, ready: false })).toBeUndefined();
  });
});

describe('a job that failed', () => {
  it.each<[string, JobRecord, Partial<Slot>, Partial<RunSettings>]>([
    ['the user does not say so', failed(), {}, {}],
    ['it failed in this run', failed({ invocation: 2 }), {}, { retryFailed: {} }],
    ['its slot calls it optional', failed(), { status: 'skipped' }, { retryFailed: {} }],
    ['no slot wants its files', failed(), { status: 'done' }, { retryFailed: {} }],
    ['another code is named', failed(), {}, { retryFailed: { code: 'task.failed' } }],
    ['its source is made again', failed(), { waitsForRedo: true }, { retryFailed: {} }],
  ])('is not tried again where %s', (_, record, slot, settings) => {
    expect(begin(slotOf(record, slot), settings)).toBeUndefined();
  });

  it('is submitted again when the user asks for it', () => {
    for (const retryFailed of [{}, { code: why.code }])
      expect(begin(slotOf(failed()), { retryFailed })).toMatchObject({
        earlierFailure: why.message,
        nextRequest: { kind: 'task-slot' },
        record: { status: 'pending', attempts: 1 },
      });
    expect(mayRetry(failed(), virtualSettings({ retryFailed: { code: why.code } }))).toBe(true);
  });

  it('is only downloaded where the service made its result, even while its source is redone', () => {
    const made = failed({ taskId: 'T1', result: { buttons: [], imageUrl: 'https://i/1' } });
    const slot = slotOf(made, { waitsForRedo: true });
    expect(begin(slot, { retryFailed: {} })).toMatchObject({
      earlierFailure: why.message,
      record: { status: 'saving' },
      nextRequest: { kind: 'fetch', taskId: 'T1', why: 'link' },
    });
    const { taskId: _, ...untold } = made;
    for (const lost of [{ ...made, error: { code: 'service.task-unknown' as const, message: 'm' } }, untold])
      expect(retryOf(lost, 1, undefined).record).toMatchObject({ status: 'pending' });
  });

  it('past its deadline has its task polled once in every later run, whatever the user asks', () => {
    const late = failed({ taskId: 'T1', error: { code: 'task.timeout', message: 'm' } });
    expect(begin(slotOf(late))).toMatchObject({ lastPoll: true, record: { status: 'running' } });
    expect(begin(slotOf(failed({ error: { code: 'task.timeout', message: 'm' } })))).toBeUndefined();
    expect(begin(slotOf(failed({ taskId: 'T1' })))).toBeUndefined();
    const click = clickRecord({ ...late, key: 'bb22', kind: 'click', request: clickRecord().request });
    // The parent's task is not needed for a poll.
    expect(begin(slotOf(click), {}, [], {})?.lastPoll).toBe(true);
  });
});

describe('a job in doubt', () => {
  const doubtful = imagineRecord({
    ...earlier,
    status: 'in-doubt',
    error: why,
    doubtful: { count: 1, since: epoch - 9000, cost: 2 },
  });

  it('stays in doubt, unless the user asked to submit it again (--in-doubt retry)', () => {
    expect(begin(slotOf(doubtful))).toBeUndefined();
    const again = begin(slotOf(doubtful), { inDoubt: 'retry' });
    expect(again?.record).toMatchObject({ status: 'pending', attempts: 1 });
    expect(again?.record.doubtful).toEqual({ count: 1, cost: 2 });
    expect(begin(slotOf({ ...doubtful, invocation: 2 }), { inDoubt: 'retry' })).toBeUndefined();
    expect(begin(slotOf(doubtful, { waitsForRedo: true }), { inDoubt: 'retry' })).toBeUndefined();
  });

  it('for a lost confirm has its task polled once', () => {
    const confirmed = clickRecord({ ...doubtful, kind: 'click', modal: { taskId: 'M', sent: 1 } });
    const lost: JobRecord = { ...confirmed, request: clickRecord().request };
    const polled = begin(slotOf(lost));
    expect(polled).toMatchObject({ record: { status: 'submitting' }, pollUntil: epoch });
    expect(polled?.record.finishedAt).toBeUndefined();
    expect(begin(slotOf({ ...lost, modal: { taskId: 'M', sent: 1, accepted: true } }))).toBeUndefined();
    expect(begin(slotOf({ ...lost, modal: { taskId: 'M', sent: 0 } }))).toBeUndefined();
  });

  it('whose dialog may still be open is not pressed again', () => {
    const fields = { prompt: 'a hat' };
    const request = { ...clickRecord().request, fields } as JobRecord['request'];
    const open = (status: 'failed' | 'in-doubt', modal: JobRecord['modal']): JobRecord =>
      clickRecord({ ...earlier, request, status, error: why, tries: 4, ...(modal && { modal }) });
    const again = (record: JobRecord) => begin(slotOf(record), { inDoubt: 'retry', retryFailed: {} });
    for (const status of ['failed', 'in-doubt'] as const) {
      const resumed = again(open(status, { taskId: 'M', sent: 1 }));
      expect(resumed).toMatchObject({ mayBeGone: status, record: { status: 'modal', tries: 0 } });
      expect([resumed?.record.error, resumed?.record.finishedAt]).toEqual([undefined, undefined]);
      const pressed = again(open(status, { taskId: 'M', sent: 1, accepted: true }));
      expect([pressed?.record.status, pressed?.mayBeGone, pressed?.record.modal]).toEqual([
        'pending',
        undefined,
        undefined,
      ]);
    }
    const silent = { ...open('failed', { taskId: 'M', sent: 0 }), request: clickRecord().request };
    expect(again(silent)?.record.status).toBe('pending');
  });
});

describe('a job that begins', () => {
  it('is written with its current parents, and none of its former ones', () => {
    const before = job(imagineRecord({ parentTaskId: 'old', from: { p: 0, q: 1 } }));
    expect(begunWith(before, { parentTaskId: 'P2', from: { p: 3 } }).record).toMatchObject({
      parentTaskId: 'P2',
      from: { p: 3, q: 1 },
    });
    expect(begunWith(before, {}).record.parentTaskId).toBeUndefined();
  });

  it('keeps the parents of its open submission, and uses the new ones for the next one', () => {
    const doubtful = { count: 1, since: epoch };
    const before = job(imagineRecord({ parentTaskId: 'old', doubtful }));
    expect(begunWith(before, { parentTaskId: 'P2' })).toEqual({ ...before, lineage: { parentTaskId: 'P2' } });
    const running = job(imagineRecord({ parentTaskId: 'old', status: 'running' }));
    expect(begunWith(running, { parentTaskId: 'P2' })).toBe(running);
  });

  it('waits for its parent only where it presses or extends a task that is not there', () => {
    const click = job(clickRecord());
    const { parentTaskId: _, ...orphan } = click;
    expect([waitsForParent(orphan), waitsForParent(click)]).toEqual([true, false]);
    const modal = { ...orphan, record: clickRecord({ modal: { taskId: 'M', sent: 0 } }) };
    for (const other of [
      modal,
      { ...orphan, lastPoll: true as const },
      { ...orphan, nextRequest: { kind: 'submit' } as const },
    ])
      expect(waitsForParent(other)).toBe(false);
  });
});

describe('a request that was in flight when an earlier run ended', () => {
  it('is one that was sent without a modal', () => {
    expect(isInterrupted(imagineRecord({ status: 'submitting' }))).toBe(true);
    expect(isInterrupted(imagineRecord({ status: 'running' }))).toBe(false);
    const confirm = clickRecord({ status: 'submitting', modal: { taskId: 'M', sent: 1 } });
    expect([isInterrupted(confirm), isConfirmSent(confirm)]).toEqual([false, true]);
  });

  it('is in doubt since before this run, with its possible cost; a text call is repeated, and counted as unanswered', () => {
    const sent = imagineRecord({ status: 'submitting', attempts: 1, submittedAt: epoch - 50 });
    expect(recoverInterrupted(sent, epoch, { cost: 2, tokens: 0 })).toMatchObject({
      status: 'in-doubt',
      attempts: 1,
      finishedAt: epoch - 1,
      doubtful: { count: 1, cost: 2, since: epoch - 50 },
      error: { code: 'submit.interrupted' },
    });
    const asked = textRecord({ status: 'submitting', attempts: 1, submittedAt: 5 });
    const text = recoverInterrupted(asked, epoch, { cost: 2, tokens: 30 });
    expect([text.status, text.attempts, text.submittedAt, text.doubtful]).toEqual([
      'pending',
      1,
      undefined,
      { count: 1, cost: 2, tokens: 30 },
    ]);
    // What it was estimated to use when it left goes before an estimate of today.
    const reserved = { ...asked, reserve: { cost: 1, tokens: 40 } };
    const again = recoverInterrupted(reserved, epoch, { cost: 2, tokens: 30 });
    expect([again.doubtful, again.reserve]).toEqual([{ count: 1, cost: 1, tokens: 40 }, undefined]);
  });
});

describe('a record that is reset', () => {
  it('has nothing of its last submission, and keeps everything that was paid', () => {
    const used: JobRecord = failed({
      tries: 3,
      resubmits: 2,
      cost: 5,
      usage: { total: 7 },
      taskId: 'T1',
      parentTaskId: 'P1',
      kept: { p: 1 },
      modal: { taskId: 'M', sent: 1 },
      pressed: { customId: 'c', label: 'U1', emoji: '' },
      named: {},
      result: { buttons: [] },
      artifacts: [{ output: 1, file: 'a', bytes: 1, sha256: 'h', mime: 'image/png' }],
      text: { candidates: [] },
      turns: ['x'],
      invalid: 2,
      from: { p: 1 },
      doubtful: { count: 2, since: 5, cost: 3 },
    });
    const { key, kind, request, origin, keep, invocation } = used;
    const unchanged = { key, kind, request, origin, keep, invocation, attempts: 1, cost: 5 };
    const reset = { status: 'pending', tries: 0, resubmits: 0, artifacts: [], usage: { total: 7 } };
    const doubtful = { count: 2, cost: 3 };
    expect(resetForResubmit(used)).toStrictEqual({ ...unchanged, ...reset, from: { p: 1 }, doubtful });
  });

  it('keeps the result of a done job, and its files, until there is a new one', () => {
    const artifacts = [{ output: 1, file: 'a', bytes: 1, sha256: 'h', mime: 'image/png' }];
    const reset = resetForResubmit(done({ artifacts, resubmits: 1 }));
    expect(reset).toMatchObject({ status: 'pending', artifacts, former: { taskId: 'T1', resubmits: 1 } });
    expect(resetForResubmit({ ...reset, status: 'failed', resubmits: 9 })).toMatchObject({
      artifacts,
      former: { taskId: 'T1', resubmits: 1 },
    });
  });
});
