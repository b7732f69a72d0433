import { describe, expect, it } from 'vitest';
import { framesError } from '../../../src/plan/graph/frames.ts';
import type { Artifact, JobRecord } from '../../../src/plan/job.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import type { Job } from '../../../src/run/machine/job.ts';
import { adopt, jobForSlot, resetForResubmit } from '../../../src/run/machine/resume.ts';
import type { Task } from '../../../src/service/image-service.ts';
import { failure } from '../../rig/failure.ts';
import { framesOf, gridButtons } from '../../rig/frames.ts';
import { epoch, imagineRecord, job } from '../../rig/jobs.ts';
import { transition } from '../../rig/transition.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';

const file: Artifact = {
  output: 1,
  file: 'images/aa/aa11-1.png',
  bytes: 5,
  sha256: 'h',
  mime: 'image/png',
  width: 8,
  height: 8,
};
const frames = framesOf('aa11', file);

const saving = (changes: Partial<JobRecord> = {}): Job =>
  job(
    imagineRecord({
      status: 'saving',
      taskId: 'T9',
      split: true,
      result: { imageUrl: 'https://i/1', buttons: gridButtons },
      ...changes,
    }),
    { nextRequest: { kind: 'answer' } },
  );

describe('a grid whose frames the service also offers', () => {
  const frameUrls = ['https://i/a', 'https://i/b', 'https://i/c', 'https://i/d'];
  const result = { imageUrl: 'https://i/1', frameUrls, buttons: gridButtons };

  it('downloads them instead of cutting, each durable before the next', () => {
    let step = transition(saving({ result })).saved({ ok: true, value: file });
    for (const [n, value] of frames.entries()) {
      expect(step.job.record).toMatchObject({ status: 'saving', artifacts: [file] });
      expect(step.job.nextRequest).toEqual({
        kind: 'save',
        source: { url: frameUrls[n], media: 'image' },
        output: n + 2,
      });
      step = transition(step.job).saved({ ok: true, value });
    }
    expect(step.job.record).toMatchObject({ status: 'done', artifacts: [file], frames: { files: frames } });
    expect(step.job.nextRequest).toEqual({ kind: 'nothing' });
  });

  it('continues with the next one after a restart', () => {
    const left = saving({ result, artifacts: [file], frames: { files: frames.slice(0, 2) } }).record;
    expect(adopt(left, 0, undefined).nextRequest).toMatchObject({ source: { url: frameUrls[2] }, output: 4 });
  });

  const from = (buttons = gridButtons): Job =>
    saving({ result: { ...result, buttons }, artifacts: [file], frames: { files: frames.slice(0, 1) } });
  const bad = (kind: 'permanent' | 'retry' | 'fresh-link') =>
    ({ ok: false, error: { code: 'download.status', class: kind, message: 'no' } }) as const;
  const task = { id: 'T9', state: 'success', status: 'SUCCESS', ...result } as Task;

  it.each([
    ['retry', 'save'],
    ['fresh-link', 'fetch'],
  ] as const)('retries one that may still come: %s', (kind, nextRequest) => {
    const first = transition(from()).saved(bad(kind)).job;
    expect(first.nextRequest).toMatchObject({ kind: 'wait', next: { kind: nextRequest } });
    const second = transition(first).saved(bad(kind)).job;
    expect(second.nextRequest).toMatchObject({ kind: 'wait', next: { kind: 'fetch', why: 'link' } });
    expect(second.record.frames?.files).toHaveLength(1);
    const fresh = { ...task, frameUrls: frameUrls.map((url) => `${url}?2`) };
    const linked = transition(second).fetched('link', fresh).job;
    expect(linked.nextRequest).toMatchObject({ kind: 'save', source: { url: 'https://i/b?2' }, output: 3 });
  });

  it.each(['permanent', 'retry', 'fresh-link'] as const)(
    'is cut where one cannot be downloaded, and reports it: %s',
    (kind) => {
      const last = { ...from(), misses: virtualSettings().retry.attempts - 1 };
      const { job: next } = transition(last).saved(bad(kind));
      expect(next.nextRequest).toEqual({ kind: 'cut' });
      expect(next.record).not.toHaveProperty('frames');
      const { record } = transition(next).cut({ ok: true, value: frames }).job;
      expect(record).toMatchObject({
        status: 'done',
        frames: { files: frames, error: { code: 'download.status' } },
      });
      expect(record.error).toBeUndefined();
    },
  );

  it('keeps the frames that it has where it cannot be cut', () => {
    const { job: next } = transition(from([])).saved(bad('permanent'));
    expect(next.record).toMatchObject({
      status: 'done',
      artifacts: [file],
      frames: { files: frames.slice(0, 1), error: { code: 'download.status' } },
    });
    expect(framesError(next.record)?.message).toContain('Frame 2');
  });

  it('is cut where the service has lost the task, or the links', () => {
    const last = { ...from(), misses: 99 };
    const gone = failure('service.task-unknown', 'permanent');
    const { frameUrls: _, ...linkless } = task;
    for (const answer of [gone, linkless as Task])
      expect(transition(last).fetched('link', answer).job).toMatchObject({
        nextRequest: { kind: 'cut' },
        record: { status: 'saving', artifacts: [file] },
      });
  });

  it('is left unchanged where no frames are wanted', () => {
    const { split: _, ...record } = saving({ result }).record;
    const { job: next } = transition(job(record)).saved({ ok: true, value: file });
    expect(next.record).toMatchObject({ status: 'done', artifacts: [file] });
  });
});

describe('a grid whose frames are wanted', () => {
  it('is durable in the record before it is cut', () => {
    const { job: next, send } = transition(saving()).saved({ ok: true, value: file });
    expect(next.record).toMatchObject({ status: 'saving', artifacts: [file], finishedAt: epoch });
    expect(next.nextRequest).toEqual({ kind: 'cut' });
    expect(send).toBeUndefined();
  });

  it('is done with its frames, at the time when its file was saved', () => {
    const cut = transition(saving({ artifacts: [file], finishedAt: epoch - 50 })).cut({
      ok: true,
      value: frames,
    });
    expect(cut.job.record).toMatchObject({
      status: 'done',
      artifacts: [file],
      frames: { files: frames },
      finishedAt: epoch - 50,
    });
    expect(cut.job.nextRequest).toEqual({ kind: 'nothing' });
  });

  it('is done without frames where its file cannot be cut, and the record says why', () => {
    const error = { code: 'frames.unreadable', class: 'permanent', message: 'damaged' } as const;
    const cut = transition(saving({ artifacts: [file] })).cut({ ok: false, error });
    expect(cut.job.record).toMatchObject({
      status: 'done',
      artifacts: [file],
      frames: { files: [], error: { code: 'frames.unreadable', message: 'damaged' } },
    });
    expect(cut.job.record.error).toBeUndefined();
  });

  it('is cut by the next run where this one was killed in between', () => {
    expect(adopt(saving({ artifacts: [file] }).record, 0, undefined).nextRequest).toEqual({ kind: 'cut' });
  });

  it('is done without a cut where no slot wants its frames, or where it is not a grid', () => {
    const { split: _, ...unwanted } = saving().record;
    const single = { imageUrl: 'https://i/1', buttons: gridButtons.slice(1) };
    for (const from of [job(unwanted), saving({ result: single })]) {
      const { record, nextRequest } = transition(from).saved({ ok: true, value: file }).job;
      expect([record.status, nextRequest.kind]).toEqual(['done', 'nothing']);
      expect(record).not.toHaveProperty('frames');
    }
  });

  it('loses the frames of another file when it is downloaded again', () => {
    const { job: next } = transition(saving({ frames: { files: frames } })).saved({ ok: true, value: file });
    expect(next.record).not.toHaveProperty('frames');
    expect(next.nextRequest).toEqual({ kind: 'cut' });
  });

  it('keeps its frames while it is redone, and has none of them with a new result', () => {
    const done = {
      ...saving({ artifacts: [file], frames: { files: frames } }).record,
      status: 'done',
    } as const;
    const redone = resetForResubmit(done);
    expect(redone).toMatchObject({ artifacts: [file], frames: { files: frames } });
    const running = job({ ...redone, status: 'running', taskId: 'T10', submittedAt: epoch });
    const shown = {
      id: 'T10',
      state: 'success',
      status: 'SUCCESS',
      imageUrl: 'https://i/2',
      buttons: gridButtons,
    };
    const { record } = transition(running).fetched('poll', shown as Task).job;
    expect(record).toMatchObject({ status: 'saving', artifacts: [] });
    expect(record).not.toHaveProperty('frames');
  });

  it('is submitted again without frames where its first result was not a success', () => {
    const failed = { ...saving({ frames: { files: frames } }).record, status: 'failed' } as const;
    expect(resetForResubmit(failed)).not.toHaveProperty('frames');
  });
});

describe('a finished grid whose frames are wanted', () => {
  const grid = imagineRecord({
    status: 'done',
    taskId: 'T9',
    attempts: 1,
    finishedAt: epoch - 1,
    result: { buttons: gridButtons },
    artifacts: [file],
  });
  const { key, kind, request } = grid;
  const slot = (changes: Partial<Slot>): Slot => ({
    cell: 1,
    step: 'grid',
    kind,
    branch: [],
    depth: 0,
    keep: true,
    split: true,
    id: 's1',
    job: { key, kind, request },
    status: 'done',
    ready: true,
    ...changes,
  });
  const begin = (changes: Partial<Slot>) =>
    jobForSlot(slot(changes), {}, virtualSettings(), new Set(), 2, epoch);

  it('is cut, and neither submitted nor downloaded, whichever run made it', () => {
    for (const invocation of [1, 2])
      expect(begin({ record: { ...grid, invocation }, status: 'saving', uncut: true })).toMatchObject({
        record: { status: 'saving', split: true, artifacts: [file], finishedAt: epoch - 1, attempts: 1 },
        nextRequest: { kind: 'cut' },
      });
  });

  it('is left unchanged where it has them', () => {
    expect(begin({ record: { ...grid, frames: { files: frames } } })).toBeUndefined();
  });

  it('is redone without frames where no slot wants them any more', () => {
    const { split: _, ...plain } = slot({ record: { ...grid, split: true, invocation: 1 } });
    const again = jobForSlot(plain, {}, virtualSettings(), new Set([key]), 2, epoch);
    expect(again?.record.status).toBe('pending');
    expect(again?.record).not.toHaveProperty('split');
  });

  it('is requested with frames from its first submission on', () => {
    expect(begin({ status: 'pending' })?.record.split).toBe(true);
  });
});
