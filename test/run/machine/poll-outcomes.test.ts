import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { FetchReason, Job, JobContext, JobEvent, NextRequest } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import { adopt } from '../../../src/run/machine/resume.ts';
import type { Task } from '../../../src/service/image-service.ts';
import { clickRecord, context, epoch, imagineRecord, job } from '../../rig/jobs.ts';

const finished = (changes: Partial<Task> = {}): Task => ({
  id: 'T9',
  state: 'success',
  status: 'SUCCESS',
  buttons: [],
  ...changes,
});

const fetched = (from: Job, why: FetchReason, value: Task) =>
  step(from, { type: 'fetched', why, result: { ok: true, value } }, context());

const button = (label: string, n = 1) => ({ customId: `IMG::${label}::${n}`, label, emoji: '' });

const pressing = (...press: Extract<JobRecord['request'], { readonly kind: 'click' }>['press']): Job =>
  job(clickRecord({ request: { kind: 'click', press, fields: {} } }), { nextRequest: { kind: 'answer' } });

describe('a parent that is read for its buttons', () => {
  it('ends the click where the parent has failed since', () => {
    const { record } = fetched(pressing({ kind: 'text', text: 'U1' }), 'parent', {
      ...finished(),
      state: 'failure',
      status: 'FAILURE',
    }).job;
    expect(record).toMatchObject({ status: 'failed', error: { code: 'parent.lost' }, attempts: 0 });
    expect(record.error?.message).toContain('is FAILURE on the service now');
  });

  it('names both buttons and presses neither where two match', () => {
    const buttons = [button('U1', 1), button('U1', 2)];
    const { record } = fetched(pressing({ kind: 'text', text: 'U1' }), 'parent', finished({ buttons })).job;
    expect(record).toMatchObject({ status: 'failed', error: { code: 'button.ambiguous' }, attempts: 0 });
  });

  it('names the missing buttons as they were written', () => {
    const asked = pressing({ kind: 'word', word: 'reroll' }, { kind: 'text', text: 'U9' }, {
      kind: 'pattern',
      source: 'upsample::9',
      flags: '',
    } as never);
    const { error } = fetched(asked, 'parent', finished({ buttons: [button('U1')] })).job.record;
    expect(error?.code).toBe('button.missing');
    expect(error?.message).toContain('"reroll" or "U9" or "/upsample::9/"');
  });
});

describe('a finished task without a link to its image', () => {
  const done = fetched(
    job(imagineRecord({ status: 'running', taskId: 'T9', submittedAt: epoch }), {
      nextRequest: { kind: 'answer' },
    }),
    'poll',
    finished({ buttons: [button('U1')] }),
  ).job;

  it('is polled again for a link', () => {
    expect(done.record.status).toBe('saving');
    expect(done.nextRequest).toEqual({ kind: 'fetch', taskId: 'T9', why: 'link' });
    const found = fetched(done, 'link', finished({ imageUrl: 'https://i.test/1.png' })).job;
    expect(found.nextRequest).toEqual({
      kind: 'save',
      source: { url: 'https://i.test/1.png', media: 'image' },
      output: 1,
    });
    expect(found.record.result).toEqual({ buttons: [button('U1')], imageUrl: 'https://i.test/1.png' });
  });

  it('fails when it never shows a link', () => {
    let now = done;
    let polls = 0;
    while (now.record.status === 'saving' && polls < 20) {
      polls += 1;
      now = fetched(now, 'link', finished()).job;
    }
    expect([polls, now.record.status, now.record.error?.code]).toEqual([6, 'failed', 'download.no-link']);
  });

  it('is polled again by the next run too, its buttons unknown', () => {
    const left = imagineRecord({ status: 'saving', taskId: 'T9' });
    const adopted = adopt(left, 0, undefined);
    expect(adopted.nextRequest).toEqual({ kind: 'fetch', taskId: 'T9', why: 'link' });
    const found = fetched(adopted, 'link', finished({ imageUrl: 'https://i.test/1.png' })).job;
    expect(found.record.result).toEqual({ buttons: [], imageUrl: 'https://i.test/1.png' });
  });
});

describe('an impossible event is a bug', () => {
  const bug = /^Internal error: /;
  const stepping = (from: Job, event: JobEvent) => () => step(from, event, context());
  const requesting = (nextRequest: NextRequest): Job => job(imagineRecord(), { nextRequest });
  const poll = (why: FetchReason): JobEvent => ({
    type: 'fetched',
    why,
    result: { ok: true, value: finished() },
  });

  it.each([
    { kind: 'nothing' },
    { kind: 'answer' },
    { kind: 'wait', until: epoch, next: { kind: 'task-slot' } },
  ] satisfies NextRequest[])('a grant to a job whose next request is $kind', (nextRequest) => {
    expect(stepping(requesting(nextRequest), { type: 'granted' })).toThrow(bug);
  });

  it('the end of a rest for a job that does not rest', () => {
    expect(stepping(requesting({ kind: 'task-slot' }), { type: 'elapsed' })).toThrow(bug);
  });

  it('a poll for a job without a task', () => {
    expect(stepping(requesting({ kind: 'answer' }), poll('poll'))).toThrow(bug);
  });

  it('a parent read for a job that is no click, and a click without a parent', () => {
    expect(stepping(requesting({ kind: 'answer' }), poll('parent'))).toThrow(bug);
    const { parentTaskId: _, ...orphan } = job(clickRecord());
    expect(stepping(orphan, { type: 'granted' })).toThrow(bug);
  });

  it('a new download for a job without a task', () => {
    expect(() => adopt(imagineRecord({ status: 'saving' }), 0, undefined)).toThrow(bug);
  });
});

describe('a task in an undocumented state, with all signs of an end', () => {
  const running = job(imagineRecord({ status: 'running', taskId: 'T9', submittedAt: epoch }), {
    nextRequest: { kind: 'answer' },
  });
  const word = (seems: Task, status = 'VERDE'): Task => ({ ...seems, state: 'unfinished', status, seems });
  const seen = (from: Job, value: Task, now: number) =>
    step(from, { type: 'fetched', why: 'poll', result: { ok: true, value } }, context({ now })).job;
  const done = finished({ imageUrl: 'https://i/1' });
  const failed = finished({ state: 'failure', status: 'VERDE', failReason: 'Invalid parameter' });

  it.each([
    [done, 'saving'],
    [failed, 'failed'],
  ] as const)('is judged by these signs once they have lasted 45 s: %#', (seems, status) => {
    const first = seen(running, word(seems), epoch);
    const second = seen(first, word(seems), epoch + 44_999);
    expect([first.record.status, second.record.status]).toEqual(['running', 'running']);
    expect(seen(second, word(seems), epoch + 45_000).record.status).toBe(status);
  });

  it('is waited for again where the state changes', () => {
    const first = seen(running, word(done), epoch);
    const other = seen(first, word(done, 'ROSSO'), epoch + 45_000);
    expect(other.record.status).toBe('running');
    expect(seen(other, word(done, 'ROSSO'), epoch + 90_000).record.status).toBe('saving');
  });

  it('names its reason when its time is over', () => {
    const stuck: Task = { ...failed, state: 'unfinished', status: 'IN_PROGRESS' };
    const { record } = seen(running, stuck, epoch + 1_200_000);
    expect(record.error?.code).toBe('task.timeout');
    expect(record.error?.message).toContain('The service said: Invalid parameter');
  });
});

describe('the time limit of a task', () => {
  const running = job(imagineRecord({ status: 'running', taskId: 'T9', submittedAt: epoch }), {
    nextRequest: { kind: 'answer' },
  });
  const minutes = 60_000;
  const queued = (stage: 'queued' | 'submitted'): Task => ({
    ...finished({ state: 'unfinished', status: stage === 'queued' ? 'NOT_START' : 'SUBMITTED' }),
    stage,
  });
  const working = finished({ state: 'unfinished', status: 'IN_PROGRESS' });
  const polled = (from: Job, task: Task, minute: number, changes: Partial<JobContext> = {}) =>
    step(
      from,
      { type: 'fetched', why: 'poll', result: { ok: true, value: task } },
      context({ now: epoch + minute * minutes, ...changes }),
    ).job;

  it('counts from the first sign of work', () => {
    const before = polled(running, queued('queued'), 60);
    const begun = polled(before, working, 70);
    expect(polled(begun, working, 89).record.status).toBe('running');
    expect(polled(begun, working, 90).record).toMatchObject({
      status: 'failed',
      error: { code: 'task.timeout', message: expect.stringContaining('(timeouts.task)') as string },
    });
  });

  it.each(['queued', 'submitted'] as const)('is that of the queue while it is %s', (stage) => {
    expect(polled(running, queued(stage), 119).record.status).toBe('running');
    expect(polled(running, queued(stage), 120).record).toMatchObject({
      status: 'failed',
      error: { code: 'task.timeout', message: expect.stringContaining('(timeouts.queue)') as string },
    });
  });

  it('leaves the queue when the task is overtaken, where SUBMITTED means either', () => {
    const overtakenAt = () => epoch + 30 * minutes;
    expect(polled(running, queued('submitted'), 49, { overtakenAt }).record.status).toBe('running');
    expect(polled(running, queued('submitted'), 50, { overtakenAt }).record.status).toBe('failed');
    expect(polled(running, queued('queued'), 50, { overtakenAt }).record.status).toBe('running');
  });

  it('does not return to that of the queue', () => {
    const begun = polled(running, working, 1);
    expect(polled(polled(begun, queued('submitted'), 5), queued('submitted'), 21).record.status).toBe(
      'failed',
    );
  });

  it('is that of the queue after code 22, until its task is shown', () => {
    const sent = job(imagineRecord({ status: 'submitting', attempts: 1, submittedAt: epoch }), {
      nextRequest: { kind: 'answer' },
    });
    const result = { ok: true, value: { kind: 'accepted', taskId: 'T9', code: 22 } } as const;
    expect(step(sent, { type: 'submitted', result }, context()).job.queued).toBe('queued');
  });
});
