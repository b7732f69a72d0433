import { describe, expect, it } from 'vitest';
import type { Job } from '../../../../src/run/machine/job.ts';
import {
  freshMs,
  hasItsTurn,
  isReadingAgain,
  needsButtonReading,
  needsRecheck,
  recheckButton,
  refusedBefore,
  refusedForGood,
} from '../../../../src/run/machine/retry/button-freshness.ts';
import type { SubmitResult } from '../../../../src/service/image-service.ts';
import { failure } from '../../../rig/failure.ts';
import { clickRecord, context, epoch, imagineRecord, job } from '../../../rig/jobs.ts';

const button = { customId: 'IMG::U1', label: 'U1', emoji: '' };
const fresh = { button, readAt: epoch };
const submit = { kind: 'submit' } as const;
const click = (changes: Partial<Job> = {}, record = {}): Job =>
  job(clickRecord(record), { nextRequest: submit, fresh, ...changes });
const without = (from: Job): Job => {
  const { fresh: _, ...rest } = from;
  return rest;
};
const refused = (code: number, message = 'no'): SubmitResult => ({ kind: 'refused', code, message });
const answered = (value: SubmitResult) => ({ ok: true, value }) as const;
const failed = (kind: Parameters<typeof failure>[1], status: number) =>
  ({ ok: false, error: failure('service.rejected', kind, { status }) }) as const;

describe('a reading of a button', () => {
  it.each([
    [freshMs, false],
    [freshMs + 1, true],
    [-freshMs, false],
    [-freshMs - 1, true],
  ])('of %i ms ago is outdated: %s', (age, outdated) => {
    expect(needsButtonReading(click(), epoch + age)).toBe(outdated);
  });

  it('is needed by a click whose turn it is, and by nothing else', () => {
    expect(needsButtonReading(without(click()), epoch)).toBe(true);
    expect(needsButtonReading(without(click({ nextRequest: { kind: 'task-slot' } })), epoch)).toBe(false);
    expect(needsButtonReading(job(imagineRecord(), { nextRequest: submit }), epoch)).toBe(false);
  });

  it.each<[string, Job, boolean]>([
    ['its answer', click({ nextRequest: { kind: 'answer' } }), true],
    ['its turn to be read', click({ nextRequest: { kind: 'fetch', taskId: 'T1', why: 'parent' } }), true],
    ['a poll of its own task', click({ nextRequest: { kind: 'fetch', taskId: 'T1', why: 'poll' } }), false],
    ['its turn to submit', click(), false],
    ['its answer for the first time', without(click({ nextRequest: { kind: 'answer' } })), false],
    [
      'the answer to its submission',
      click({ nextRequest: { kind: 'answer' } }, { status: 'submitting' }),
      false,
    ],
    [
      'its answer, its modal open',
      click({ nextRequest: { kind: 'answer' } }, { modal: { taskId: 'T', sent: 0 } }),
      false,
    ],
  ])('is being repeated where the next request of the click is %s: %#', (_what, from, again) => {
    expect(isReadingAgain(from)).toBe(again);
  });

  it('that was repeated keeps the turn of its click', () => {
    expect(hasItsTurn(click({ fresh: { ...fresh, again: true } }))).toBe(true);
    expect(hasItsTurn(click())).toBe(false);
    expect(hasItsTurn(click({ fresh: { ...fresh, again: true }, nextRequest: { kind: 'task-slot' } }))).toBe(
      false,
    );
  });
});

describe('a refusal is checked once more', () => {
  it.each([
    [3, true],
    [4, true],
    [2, false],
    [5, false],
    [24, false],
  ])('where its code is %i: %s', (code, checked) => {
    expect(needsRecheck(click(), answered(refused(code)), 6)).toBe(checked);
  });

  it.each([
    ['permanent', 404, true],
    ['permanent', 400, false],
    ['permanent', 410, false],
    ['retry', 404, false],
  ] as const)('where it is %s with status %i: %s', (kind, status, checked) => {
    expect(needsRecheck(click(), failed(kind, status), 6)).toBe(checked);
  });

  it('where its status is 400 and its message is about the customId', () => {
    const error = failure('service.rejected', 'permanent', {
      status: 400,
      message: 'custom_id is not valid',
    });
    expect(needsRecheck(click(), { ok: false, error }, 6)).toBe(true);
  });

  const shown = (record = {}) => click({ fresh: { ...fresh, shown: true } }, record);

  it.each([
    ['a wrong parameter in any words', answered(refused(4, 'custom_id is not valid')), true],
    ['an unknown code', answered(refused(77)), true],
    ['a banned prompt', answered(refused(24)), false],
    ['several tasks', answered({ ...refused(4), made: true } as SubmitResult), false],
    ['a full queue', answered({ kind: 'queue-full', code: 23, message: 'full' }), false],
    ['400', failed('permanent', 400), true],
    ['403', failed('permanent', 403), true],
    ['404', failed('permanent', 404), true],
    ['409', failed('permanent', 409), true],
    ['422', failed('permanent', 422), true],
    ['413', failed('permanent', 413), false],
    ['401', failed('stop', 401), false],
    ['503', failed('retry', 503), false],
    ['400 that hides a time-out', failed('lost', 400), false],
  ])('where a button that was only shown is refused by %s: %#', (_what, result, checked) => {
    expect(needsRecheck(shown(), result, 6)).toBe(checked);
    expect(needsRecheck(shown({ tries: 5 }), result, 6)).toBe(checked);
  });

  it('not where a task of the press exists', () => {
    const exists = failure('service.rejected', 'permanent', { status: 409, message: 'task already exists' });
    expect(needsRecheck(shown(), { ok: false, error: exists }, 6)).toBe(false);
  });

  it.each<[string, Job, boolean]>([
    ['a click', click(), true],
    ['no click', job(imagineRecord(), { fresh }), false],
    ['an answer to a modal', click({}, { modal: { taskId: 'T', sent: 1 } }), false],
    ['a click whose button nobody read', without(click()), false],
    ['a click before its last try', click({}, { tries: 4 }), true],
    ['a click at its last try', click({}, { tries: 5 }), false],
  ])('of %s: %#', (_what, from, checked) => {
    expect(needsRecheck(from, answered(refused(4)), 6)).toBe(checked);
    expect(
      recheckButton(from, answered(refused(4)), { code: 'service.rejected', message: 'm' }, context()) !==
        undefined,
    ).toBe(checked);
  });

  it('by a click that counts a try, waits for its turn, and then reads its button again', () => {
    const error = { code: 'submit.refused' as const, message: 'no' };
    const step = recheckButton(click({}, { status: 'submitting' }), answered(refused(4)), error, context());
    expect(step?.job.record).toMatchObject({ status: 'pending', tries: 1, error });
    expect(step?.job.nextRequest).toEqual({ kind: 'wait', until: epoch, next: submit });
    expect(step?.job.refused).toEqual({ customId: 'IMG::U1', error });
    expect(needsButtonReading({ ...(step?.job as Job), nextRequest: submit }, epoch)).toBe(true);
  });
});

describe('a button that was refused and read again', () => {
  const before = (message: string) =>
    click({ refused: { customId: 'IMG::U1', error: { code: 'submit.refused', message } } }, { tries: 2 });

  it('is pressed where its customId has changed, or was never refused', () => {
    for (const from of [before('no'), click()]) {
      const step = refusedBefore(from, 'IMG::U1::new', context());
      expect(step.job).toMatchObject({ nextRequest: submit, record: { status: 'pending' } });
      expect(step.job).not.toHaveProperty('refused');
    }
  });

  it('is pressed at once, even the same one, where it was only shown when it was refused', () => {
    const error = { code: 'submit.refused' as const, message: 'no' };
    const from = click({ refused: { customId: 'IMG::U1', error, shown: true } });
    expect(refusedBefore(from, 'IMG::U1', context()).job).toMatchObject({
      nextRequest: submit,
      record: { status: 'pending' },
    });
  });

  it.each(['关联任务不存在或已失效', '关联任务不存在或失效', '关联任务状态错误', 'TASK_STATUS_NOT_SUCCESS'])(
    'is pressed again after a delay where the refusal may pass: %s',
    (message) => {
      const { job: again } = refusedBefore(before(message), 'IMG::U1', context());
      expect(again.nextRequest).toEqual({ kind: 'wait', until: epoch + 1000, next: submit });
      expect(again).not.toHaveProperty('refused');
      expect(needsButtonReading({ ...again, nextRequest: submit }, epoch)).toBe(true);
    },
  );

  it('fails for good where its refusal cannot pass, and reports the words of the refusal to the route', () => {
    const step = refusedBefore(before('no'), 'IMG::U1', context());
    expect(step).toMatchObject({
      refusal: 'no',
      job: {
        nextRequest: { kind: 'nothing' },
        record: { status: 'failed', tries: 0, error: { message: 'no' } },
      },
    });
  });

  it('names the number of tries, if there were several', () => {
    const messageAfter = (tries: number) =>
      refusedForGood(click({}, { tries }), { code: 'service.rejected', message: 'No.' }, epoch).job.record;
    expect(messageAfter(0)).toMatchObject({ status: 'failed', tries: 0, error: { message: 'No.' } });
    expect(messageAfter(1)).toMatchObject({ tries: 0, error: { message: 'No. (after 2 tries)' } });
  });
});
