import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import type { SubmitResult } from '../../../src/service/image-service.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { failure } from '../../rig/failure.ts';
import { clickRecord, context, epoch, imagineRecord, job } from '../../rig/jobs.ts';
import { submitted } from './machine-rig.ts';
import { buttons, task } from './table-rig.ts';

describe('before the first request', () => {
  it('an imagine requests its turn to submit as soon as it has a slot, and records its intent only then', () => {
    const granted = step(job(imagineRecord()), { type: 'granted' }, context()).job;
    expect(granted.nextRequest).toEqual({ kind: 'submit' });
    expect(granted.record.status).toBe('pending');
    const sent = step(granted, { type: 'granted' }, context());
    expect(sent.job.record).toMatchObject({
      status: 'submitting',
      attempts: 1,
      speed: 'fast',
      submittedAt: epoch,
    });
    expect(sent.send).toEqual({ kind: 'submit' });
  });

  it('a click reads its parent first, and presses the button that is there now', () => {
    const granted = step(job(clickRecord()), { type: 'granted' }, context()).job;
    expect(granted.nextRequest).toEqual({ kind: 'fetch', taskId: 'T1', why: 'parent' });
    const read = step(
      granted,
      { type: 'fetched', why: 'parent', result: { ok: true, value: task({ state: 'success', buttons }) } },
      context(),
    ).job;
    const sent = step(read, { type: 'granted' }, context());
    expect(sent.job.record.pressed).toEqual(buttons[0]);
    expect(sent.job.record.status).toBe('submitting');
  });

  it('a click whose reading is older than ten seconds reads again before it submits', () => {
    const aged = job(clickRecord(), {
      nextRequest: { kind: 'submit' },
      fresh: { button: buttons[0] ?? { customId: '', label: '', emoji: '' }, readAt: epoch },
    });
    const step2 = step(aged, { type: 'granted' }, context({ now: epoch + 10_001 }));
    expect(step(aged, { type: 'granted' }, context({ now: epoch + 10_000 })).send).toEqual({
      kind: 'submit',
    });
    expect(step2.send).toBeUndefined();
    expect(step2.job.nextRequest).toEqual({ kind: 'fetch', taskId: 'T1', why: 'parent' });
    expect(step2.job.record.status).toBe('pending');
  });

  describe('a click that is refused because of its button or task', () => {
    const parent = (customId: string) =>
      ({
        type: 'fetched',
        why: 'parent',
        result: {
          ok: true,
          value: task({ state: 'success', buttons: [{ customId, label: 'U1', emoji: '' }] }),
        },
      }) as const;
    const outdated = { kind: 'refused', code: 4, message: 'customId is outdated' } as const;
    const gone = { kind: 'refused', code: 3, message: '(code 3): 关联任务不存在或失效' } as const;
    const notFound = failure('service.not-found', 'permanent', { status: 404 });
    /** Pressed with one customId, answered so, and its parent read again with another. */
    const pressed = (result: SubmitResult | ServiceFailure, then: string, from?: Job) => {
      const looking = from ?? { ...job(clickRecord()), nextRequest: { kind: 'answer' } as const };
      const read = step(looking, parent('c1'), context()).job;
      const sent = step(read, { type: 'granted' }, context()).job;
      const answered = submitted(result, sent).job;
      if (answered.nextRequest.kind !== 'wait') return { answered, job: answered };
      return { answered, ...step({ ...answered, nextRequest: { kind: 'answer' } }, parent(then), context()) };
    };

    it.each([
      ['code 4', outdated],
      ['code 3', gone],
      ['404', notFound],
    ])('is pressed again with the customId that its task has now: %s', (_, result) => {
      const { answered, job: next } = pressed(result, 'c2');
      expect(answered.nextRequest).toMatchObject({ kind: 'wait', next: { kind: 'submit' } });
      const turn = step({ ...answered, nextRequest: { kind: 'submit' } }, { type: 'granted' }, context()).job;
      expect(turn.nextRequest).toEqual({ kind: 'fetch', taskId: 'T1', why: 'parent' });
      expect(answered.record).toMatchObject({ status: 'pending', attempts: 1, tries: 1 });
      const again = step(next, { type: 'granted' }, context());
      expect(again.send).toEqual({ kind: 'submit' });
      expect(again.job.record).toMatchObject({ pressed: { customId: 'c2' }, attempts: 2 });
    });

    it('is pressed again after a delay where the refusal of the same customId may pass', () => {
      const { job: next } = pressed(gone, 'c1');
      expect(next.record).toMatchObject({ status: 'pending', tries: 1 });
      expect(next.nextRequest).toMatchObject({ kind: 'wait', until: epoch + 500, next: { kind: 'submit' } });
      const turn = step({ ...next, nextRequest: { kind: 'submit' } }, { type: 'granted' }, context()).job;
      expect(turn.nextRequest).toMatchObject({ kind: 'fetch', why: 'parent' });
      expect(next.refused).toBeUndefined();
    });

    it.each([
      ['code 4', outdated, 'submit.refused'],
      ['404', notFound, 'service.not-found'],
    ])('fails where its customId is unchanged: %s', (_, result, code) => {
      const { job: next, refusal } = pressed(result, 'c1') as { job: Job; refusal?: string };
      expect(next.record).toMatchObject({ status: 'failed', attempts: 1, tries: 0, error: { code } });
      expect(next.record.doubtful).toBeUndefined();
      expect(refusal).toBe(result.message);
    });

    it('is not pressed more often than retry.attempts', () => {
      let now = pressed(outdated, 'c2').job;
      let presses = 1;
      while (now.record.status === 'pending') {
        const sent = step({ ...now, nextRequest: { kind: 'submit' } }, { type: 'granted' }, context()).job;
        presses += 1;
        const answered = submitted(outdated, sent).job;
        now =
          answered.nextRequest.kind === 'wait'
            ? step({ ...answered, nextRequest: { kind: 'answer' } }, parent(`c${presses + 1}`), context()).job
            : answered;
      }
      expect(presses).toBe(6);
      expect(now.record).toMatchObject({ status: 'failed', attempts: 6, tries: 0 });
    });
  });

  it('without its button fails with the offered labels', () => {
    const record = clickRecord({
      request: { kind: 'click', press: [{ kind: 'text', text: 'Vary (Region)' }], fields: {} },
    });
    const read = step(
      job(record),
      { type: 'fetched', why: 'parent', result: { ok: true, value: task({ state: 'success', buttons }) } },
      context(),
    );
    expect(read.job.record).toMatchObject({ status: 'failed', error: { code: 'button.missing' } });
    expect(read.job.record.error?.message).toContain('U1');
    expect(read.job.record.attempts).toBe(0);
  });

  it('fails instead of hanging where its parent is never finished again', () => {
    let now: Job = job(clickRecord());
    let polls = 0;
    while (now.record.status === 'pending') {
      polls += 1;
      expect(polls).toBeLessThan(20);
      now = step(
        now,
        { type: 'fetched', why: 'parent', result: { ok: true, value: task({}) } },
        context(),
      ).job;
    }
    expect([polls, now.record.error?.code]).toEqual([6, 'parent.lost']);
  });
});
