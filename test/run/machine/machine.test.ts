import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import type { Task } from '../../../src/service/image-service.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { failure } from '../../rig/failure.ts';
import { context, epoch } from '../../rig/jobs.ts';
import { transition } from '../../rig/transition.ts';
import { submitted } from './machine-rig.ts';
import { buttons, events, jobs, nextOf, running, saving, task } from './table-rig.ts';

const polled = (result: Task | ServiceFailure, from = running(), changes = {}) =>
  transition(from, changes).fetched('poll', result);

/** The table in the comment of the machine: status, events, status after each, what follows. */
const table = readFileSync(new URL('../../../src/run/machine/machine.ts', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^ \* \| (?!status|-)/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  .flatMap(([from = '', names = '', status = '', next = '']) =>
    names.split('; ').map((event) => [from, event, status, next] as const),
  );

describe('the table of the state machine', () => {
  it.each(table)('%s: after %s it is %s: %s', (from, event, status, next) => {
    const [before, happens] = [jobs[from], events[event]];
    if (before === undefined || happens === undefined) throw new Error(`unknown: ${from}, ${event}`);
    const after = happens(before);
    expect([after.job.record.status, nextOf(after)]).toEqual([status, next]);
  });

  it('names every job and every event that is tried here', () => {
    expect(new Set(table.map(([from]) => from))).toEqual(new Set(Object.keys(jobs)));
    expect(new Set(table.map(([, event]) => event))).toEqual(new Set(Object.keys(events)));
  });
});

describe('a task that is watched', () => {
  it('continues while its status is not a known end', () => {
    expect(polled(task({ status: '' })).job.nextRequest).toEqual({
      kind: 'wait',
      until: epoch + 5000,
      next: { kind: 'fetch', taskId: 'T9', why: 'poll' },
    });
  });

  it('is saved when it succeeded; its result is kept before the download', () => {
    const { record, nextRequest } = polled(
      task({ state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1', buttons }),
    ).job;
    expect(record).toMatchObject({ status: 'saving', result: { imageUrl: 'https://i/1' } });
    expect(record.result?.buttons).toHaveLength(9);
    expect(nextRequest).toEqual({ kind: 'save', source: { url: 'https://i/1', media: 'image' }, output: 1 });
  });

  it('is done at once where no slot keeps the image', () => {
    const { record } = polled(
      task({ state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1', buttons }),
      running({ keep: false }),
    ).job;
    expect(record).toMatchObject({ status: 'done', artifacts: [], finishedAt: epoch });
  });

  it('is submitted again twice after a transient failure, and never after a permanent one', () => {
    const transient = task({
      state: 'failure',
      status: 'FAILURE',
      failReason: '[Internal error] Something went wrong',
    });
    const once = polled(transient).job;
    expect(once.record).toMatchObject({ status: 'pending', resubmits: 1, attempts: 1 });
    expect(once.record.taskId).toBeUndefined();
    expect(polled(transient).attempt).toMatchObject({
      outcome: 'task.failed',
      taskId: 'T9',
      error: { code: 'task.failed' },
    });
    expect(polled(transient, running({ resubmits: 2 })).job.record).toMatchObject({
      status: 'failed',
      error: { code: 'task.failed' },
    });
    const banned = task({ state: 'failure', status: 'FAILURE', failReason: '[Banned prompt detected] x' });
    expect(polled(banned).job.record).toMatchObject({
      status: 'failed',
      error: { code: 'task.moderated' },
      resubmits: 0,
    });
  });

  it('fails past its deadline and keeps its task id', () => {
    const { record } = polled(task({}), running(), { now: epoch + 1_200_000 }).job;
    expect(record).toMatchObject({
      status: 'failed',
      taskId: 'T9',
      error: { code: 'task.timeout', message: expect.stringContaining('IN_PROGRESS') },
    });
    expect(record.error?.message).toContain('20 min after');
    const soon = polled(task({}), running(), { now: epoch + 3000, taskMs: 2000 }).job.record;
    expect(soon.error?.message).toContain('3 s after');
  });

  it('is watched from the start of this run, as long as any other, where an earlier run left it', () => {
    const startedAt = epoch + 7 * 86_400_000;
    const polledAt = (now: number) =>
      polled(task({}), running(), { watchedSince: startedAt, now }).job.record;
    expect(polledAt(startedAt + 1_199_999).status).toBe('running');
    expect(polledAt(startedAt + 1_200_000)).toMatchObject({
      status: 'failed',
      taskId: 'T9',
      error: { code: 'task.timeout', message: expect.stringContaining('10100 min after its submission') },
    });
  });

  it('succeeds even if it ended after its deadline', () => {
    const late = polled(
      task({ state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1', buttons }),
      running(),
      { now: epoch + 9_000_000 },
    );
    expect(late.job.record.status).toBe('saving');
  });

  it('never fails before its deadline for unanswered polls', () => {
    let now = running();
    for (let n = 0; n < 50; n++)
      now = polled(failure('service.unavailable', 'retry', { status: 503 }), now).job;
    expect(now.record.status).toBe('running');
    expect(
      polled(failure('connection.lost', 'lost'), now, { now: epoch + 1_200_000 }).job.record.error?.code,
    ).toBe('task.timeout');
  });

  it('is polled until its deadline where the service does not know it, and keeps its id', () => {
    const unknown = failure('service.task-unknown', 'retry', { status: 404 });
    let now = running();
    for (let n = 0; n < 50; n++) now = polled(unknown, now).job;
    expect(now.record.status).toBe('running');
    expect(polled(unknown, now, { now: epoch + 1_200_000 }).job.record).toMatchObject({
      status: 'failed',
      taskId: 'T9',
      error: { code: 'task.timeout' },
    });
  });

  it('is not given up after its deadline for one failed poll', () => {
    let now = running();
    const statuses: string[] = [];
    while (statuses.length < 6) {
      now = polled(failure('connection.lost', 'retry'), now, { now: epoch + 9_000_000 }).job;
      statuses.push(now.record.status);
    }
    expect(statuses).toEqual(['running', 'running', 'running', 'running', 'running', 'failed']);
  });

  it('fails with modal.unanswered for a dialog without a confirm', () => {
    expect(polled(task({ state: 'modal', status: 'MODAL' })).job.record.error?.code).toBe('modal.unanswered');
    const at21 = submitted({ kind: 'modal', taskId: 'T9', code: 21 }).job.record;
    expect([at21.error?.code, at21.taskId]).toEqual(['modal.unanswered', 'T9']);
  });
});

describe('an image that is downloaded', () => {
  const saved = (kind: 'fresh-link' | 'retry' | 'throttle' | 'permanent' | 'stop', from = saving()) =>
    step(
      from,
      {
        type: 'saved',
        result: { ok: false, error: { code: 'download.status', class: kind, message: 'm' } },
      },
      context(),
    ).job;

  it('is done once its file is saved', () => {
    const artifact = { output: 1, file: 'images/aa/aa11-1.png', bytes: 5, sha256: 'h', mime: 'image/png' };
    const { record } = step(
      saving(),
      { type: 'saved', result: { ok: true, value: artifact } },
      context(),
    ).job;
    expect(record).toMatchObject({ status: 'done', artifacts: [artifact], finishedAt: epoch });
  });

  it('fetches a fresh link when the old one is refused, and continues with it', () => {
    const asked = saved('fresh-link');
    expect(asked.nextRequest).toMatchObject({
      kind: 'wait',
      next: { kind: 'fetch', taskId: 'T9', why: 'link' },
    });
    const fresh = step(
      asked,
      {
        type: 'fetched',
        why: 'link',
        result: {
          ok: true,
          value: task({ state: 'success', status: 'SUCCESS', imageUrl: 'https://i/2', buttons }),
        },
      },
      context(),
    ).job;
    expect(fresh.nextRequest).toEqual({
      kind: 'save',
      source: { url: 'https://i/2', media: 'image' },
      output: 1,
    });
    expect(fresh.record.result?.imageUrl).toBe('https://i/2');
  });

  it('tries the same link once more, and then fetches a fresh one before each try (gateway 4.7)', () => {
    const nextOf = ({ nextRequest }: Job): unknown =>
      nextRequest.kind === 'wait' ? nextRequest.next : nextRequest;
    const save = (url: string) => ({ kind: 'save', source: { url, media: 'image' }, output: 1 });
    const poll = { kind: 'fetch', taskId: 'T9', why: 'link' };
    const linked = (from: Job, imageUrl: string): Job =>
      step(
        from,
        {
          type: 'fetched',
          why: 'link',
          result: { ok: true, value: task({ state: 'success', status: 'SUCCESS', imageUrl, buttons }) },
        },
        context(),
      ).job;
    const once = saved('retry');
    expect(nextOf(once)).toEqual(save('https://i/1'));
    let now = saved('retry', once);
    for (let n = 2; n < 6; n++) {
      expect(nextOf(now)).toEqual(poll);
      now = linked(now, `https://i/${n}`);
      expect(nextOf(now)).toEqual(save(`https://i/${n}`));
      now = saved('retry', now);
    }
    // However many links it is given, the tries are those of one file.
    expect([now.record.status, now.record.error?.code]).toEqual(['failed', 'download.status']);
  });

  it('fails after the tries with its result, so that a retry only downloads it', () => {
    let now = saving();
    for (let n = 0; n < 6; n++) now = saved('retry', now);
    expect(now.record).toMatchObject({ status: 'failed', taskId: 'T9', result: { imageUrl: 'https://i/1' } });
  });

  it('stays in saving when the disk is full or the route is paused', () => {
    expect(saved('stop').record.status).toBe('saving');
    expect(saved('throttle').record.status).toBe('saving');
  });
});
