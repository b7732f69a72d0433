import { describe, expect, it } from 'vitest';
import type { JobRecord, JobStatus } from '../../../src/plan/job.ts';
import type { Job, JobEvent } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import { retryOf } from '../../../src/run/machine/resume.ts';
import type { SubmitResult, Task } from '../../../src/service/image-service.ts';
import { failure } from '../../rig/failure.ts';
import { clickRecord, context, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';
import { askedOf, textReply } from '../../rig/text-reply.ts';

/**
 * What is counted belongs to one thing that is tried: a submission, a poll, a file, an answer. When a job goes on to the next thing, or is
 * begun again, its counts begin again: a count that is carried over ends the next thing too early. So every transition is run on jobs
 * whose counts are not zero.
 */
const counts = { tries: 3, resubmits: 1, invalid: 1 } as const;
const misses = 4;
const buttons = [{ customId: 'IMG::JOB::upsample::1::x', label: 'U1', emoji: '' }];
const region = {
  request: {
    kind: 'click',
    press: [{ kind: 'text', text: 'Vary (Region)' }],
    fields: { prompt: 'a hat' },
  },
  pressed: { customId: 'IMG::Inpaint::1', label: 'Vary (Region)', emoji: '' },
} as const;

const counted = (record: JobRecord): Job =>
  job({ ...record, ...counts }, { misses, nextRequest: { kind: 'answer' } });
const submitted = (value: SubmitResult): JobEvent => ({ type: 'submitted', result: { ok: true, value } });
const seen = (why: 'poll' | 'modal' | 'link', task: Partial<Task>): JobEvent => ({
  type: 'fetched',
  why,
  result: { ok: true, value: { id: 'T9', state: 'unfinished', status: 'IN_PROGRESS', buttons: [], ...task } },
});
const success = { state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1', buttons } as const;
const saved = (output: number): JobEvent => ({
  type: 'saved',
  result: {
    ok: true,
    value: { output, file: `images/aa/aa11-${output}.png`, bytes: 1, sha256: 'x', mime: 'image/png' },
  },
});

const submitting = imagineRecord({ status: 'submitting', attempts: 1, submittedAt: epoch });
const running = imagineRecord({ status: 'running', attempts: 1, taskId: 'T9', submittedAt: epoch });
const clicking = clickRecord({ ...region, status: 'submitting', attempts: 1, submittedAt: epoch });
const clicked = clickRecord({
  ...region,
  status: 'running',
  attempts: 1,
  taskId: 'T9',
  submittedAt: epoch,
});
const answering = { ...clicking, taskId: 'T9', modal: { taskId: 'T9', sent: 1 } };
const saving = imagineRecord({
  kind: 'video',
  request: { kind: 'video', fields: {}, images: [] },
  status: 'saving',
  taskId: 'T9',
  result: { videoUrls: ['https://v/1', 'https://v/2'], buttons: [] },
});
const asking = textRecord({ status: 'submitting', attempts: 1, submittedAt: epoch });
const calling = textRecord({
  status: 'submitting',
  attempts: 1,
  submittedAt: epoch,
  request: {
    kind: 'generate',
    fields: {
      model: 'text-pro',
      prompt: 'What is the weather?',
      functions: { weather: { answer: 'sunny' } },
    },
  },
});

describe('a job counts its tries from 0 after progress', () => {
  it.each<[what: string, record: JobRecord, event: JobEvent, to: JobStatus]>([
    ['its task is taken', submitting, submitted({ kind: 'accepted', taskId: 'T9', code: 1 }), 'running'],
    ['its modal opens at once (21)', clicking, submitted({ kind: 'modal', taskId: 'T9', code: 21 }), 'modal'],
    ['its modal is seen to be open', clicked, seen('poll', { state: 'modal', status: 'MODAL' }), 'modal'],
    ['its modal is answered', answering, submitted({ kind: 'accepted', taskId: 'T10', code: 1 }), 'running'],
    ['its modal is seen to have been answered', answering, seen('modal', {}), 'running'],
    ['its task is finished', running, seen('poll', success), 'saving'],
    ['one file of several is there', saving, saved(1), 'saving'],
  ])('%s', (_what, record, event, to) => {
    const next = step(counted(record), event, context()).job;
    expect([next.record.status, next.misses]).toEqual([to, 0]);
    // A file is no submission: it has no tries of its own, and those of the submission were over with its task.
    const mayKeep = (record.status === 'running' && to !== 'modal') || record.status === 'saving';
    expect(mayKeep ? 0 : next.record.tries).toBe(0);
  });

  it('a text that was answered', () => {
    const result = askedOf(asking, textReply({ text: 'Hello.' }));
    const next = step(counted(asking), { type: 'asked', result }, context()).job;
    expect([next.record.status, next.record.tries, next.misses]).toEqual(['done', 0, 0]);
  });

  it('a text that calls a function', () => {
    const reply = textReply({ functionCalls: [{ name: 'weather', args: {} }] });
    const result = askedOf(calling, reply);
    const verdict = result.kind === 'answered' ? result.asked.verdict.kind : result.kind;
    const next = step(counted(calling), { type: 'asked', result }, context()).job;
    expect([verdict, next.record.status, next.record.tries, next.misses]).toEqual(['calls', 'pending', 0, 0]);
  });

  it('a text with an unusable reply, whose count of invalid replies stays', () => {
    const result = askedOf(asking, textReply({ text: '' }));
    const next = step(counted(asking), { type: 'asked', result }, context()).job;
    expect([next.record.tries, next.record.invalid]).toEqual([0, counts.invalid + 1]);
  });
});

describe('a job counts its tries from 0 where the user asks for a retry', () => {
  it.each([
    ['an image', imagineRecord({ status: 'failed', error: { code: 'task.failed', message: 'x' } })],
    ['a click', clickRecord({ status: 'failed', error: { code: 'submit.refused', message: 'x' } })],
    ['a text', textRecord({ status: 'failed', error: { code: 'text.empty', message: 'x' } })],
    ['one in doubt', imagineRecord({ status: 'in-doubt', error: { code: 'connection.lost', message: 'x' } })],
  ])('%s', (_what, record) => {
    const again = retryOf({ ...record, ...counts, attempts: 5 }, 0, 'T1');
    expect(again.misses).toBe(0);
    expect(again.record).toMatchObject({ status: 'pending', tries: 0, resubmits: 0, attempts: 5 });
    expect(again.record.invalid).toBeUndefined();
  });

  it('an open modal', () => {
    const failed = clickRecord({
      ...region,
      status: 'failed',
      taskId: 'T9',
      modal: { taskId: 'T9', sent: 0 },
      error: { code: 'service.unavailable', message: 'x' },
    });
    const again = retryOf({ ...failed, ...counts }, 0, 'T1');
    expect([again.record.status, again.record.tries, again.misses]).toEqual(['modal', 0, 0]);
  });
});

describe('two rules at once', () => {
  it('waits for the Retry-After of a failed submission, where it is longer than the job’s own delay', () => {
    const error = failure('service.unavailable', 'retry', { status: 500, retryAfterMs: 45_000 });
    const next = step(job(submitting), { type: 'submitted', result: { ok: false, error } }, context()).job;
    expect(next.nextRequest).toMatchObject({ kind: 'wait', until: epoch + 45_000 });
    const short = { ...error, retryAfterMs: 1 };
    const rested = step(
      job(submitting),
      { type: 'submitted', result: { ok: false, error: short } },
      context(),
    ).job;
    expect(rested.nextRequest.kind === 'wait' && rested.nextRequest.until - epoch).toBeGreaterThan(1);
  });
});
