import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import type { SubmitAnswer, Task } from '../../../src/service/image-service.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { gridButtons } from '../../rig/fake-task.ts';
import { clickRecord, context, epoch, imagineRecord, job } from '../../rig/jobs.ts';
import { failure } from '../../rig/virtual-service.ts';
import { submitted } from './machine-rig.ts';

const buttons = gridButtons(1).map(({ customId, label, emoji }) => ({ customId, label, emoji }));

const task = (changes: Partial<Task>): Task => ({
  id: 'T9',
  state: 'unfinished',
  status: 'IN_PROGRESS',
  buttons: [],
  ...changes,
});

const running = (changes = {}): Job =>
  job(imagineRecord({ status: 'running', attempts: 1, taskId: 'T9', submittedAt: epoch, ...changes }), {
    want: { kind: 'answer' },
  });

const polled = (answer: Task | ServiceFailure, from = running(), changes = {}) =>
  step(
    from,
    {
      type: 'fetched',
      why: 'poll',
      answer: 'class' in answer ? { ok: false, error: answer } : { ok: true, value: answer },
    },
    context(changes),
  );

const saving = (): Job =>
  job(imagineRecord({ status: 'saving', taskId: 'T9', result: { imageUrl: 'https://i/1', buttons } }), {
    want: { kind: 'answer' },
  });

describe('before the first request', () => {
  it('an imagine wants its turn to submit as soon as it has room, and records its intent only then', () => {
    const roomed = step(job(imagineRecord()), { type: 'granted' }, context()).job;
    expect(roomed.want).toEqual({ kind: 'submit' });
    expect(roomed.record.status).toBe('pending');
    const sent = step(roomed, { type: 'granted' }, context());
    expect(sent.job.record).toMatchObject({
      status: 'submitting',
      attempts: 1,
      speed: 'fast',
      submittedAt: epoch,
    });
    expect(sent.send).toEqual({ kind: 'submit' });
  });

  it('a click reads its parent first, and presses the button that is there now', () => {
    const roomed = step(job(clickRecord()), { type: 'granted' }, context()).job;
    expect(roomed.want).toEqual({ kind: 'fetch', taskId: 'T1', why: 'parent' });
    const read = step(
      roomed,
      { type: 'fetched', why: 'parent', answer: { ok: true, value: task({ state: 'success', buttons }) } },
      context(),
    ).job;
    const sent = step(read, { type: 'granted' }, context());
    expect(sent.job.record.pressed).toEqual(buttons[0]);
    expect(sent.job.record.status).toBe('submitting');
  });

  it('a click whose reading has aged ten seconds in line reads again before it submits', () => {
    const aged = job(clickRecord(), {
      want: { kind: 'submit' },
      fresh: { button: buttons[0] ?? { customId: '', label: '', emoji: '' }, readAt: epoch },
    });
    const step2 = step(aged, { type: 'granted' }, context({ now: epoch + 10_001 }));
    expect(step(aged, { type: 'granted' }, context({ now: epoch + 10_000 })).send).toEqual({
      kind: 'submit',
    });
    expect(step2.send).toBeUndefined();
    expect(step2.job.want).toEqual({ kind: 'fetch', taskId: 'T1', why: 'parent' });
    expect(step2.job.record.status).toBe('pending');
  });

  describe('a click that is refused for what it names', () => {
    const parent = (customId: string) =>
      ({
        type: 'fetched',
        why: 'parent',
        answer: {
          ok: true,
          value: task({ state: 'success', buttons: [{ customId, label: 'U1', emoji: '' }] }),
        },
      }) as const;
    const outdated = { kind: 'refused', code: 4, message: 'customId is outdated' } as const;
    const gone = { kind: 'refused', code: 3, message: '(code 3): 关联任务不存在或失效' } as const;
    const notFound = failure('service.not-found', 'permanent', { status: 404 });
    /** Pressed with one customId, answered so, and its parent read again with another. */
    const pressed = (answer: SubmitAnswer | ServiceFailure, then: string, from?: Job) => {
      const looking = from ?? { ...job(clickRecord()), want: { kind: 'answer' } as const };
      const read = step(looking, parent('c1'), context()).job;
      const sent = step(read, { type: 'granted' }, context()).job;
      const told = submitted(answer, sent).job;
      if (told.want.kind !== 'wait') return { told, job: told };
      return { told, ...step({ ...told, want: { kind: 'answer' } }, parent(then), context()) };
    };

    it.each([
      ['code 4', outdated],
      ['code 3', gone],
      ['404', notFound],
    ])('is pressed again with the customId that its task has now: %s', (_, answer) => {
      const { told, job: next } = pressed(answer, 'c2');
      expect(told.want).toMatchObject({ kind: 'wait', next: { kind: 'submit' } });
      const turn = step({ ...told, want: { kind: 'submit' } }, { type: 'granted' }, context()).job;
      expect(turn.want).toEqual({ kind: 'fetch', taskId: 'T1', why: 'parent' });
      expect(told.record).toMatchObject({ status: 'pending', attempts: 1, tries: 1 });
      const again = step(next, { type: 'granted' }, context());
      expect(again.send).toEqual({ kind: 'submit' });
      expect(again.job.record).toMatchObject({ pressed: { customId: 'c2' }, attempts: 2 });
    });

    it('is pressed again after a rest where the same customId was refused in words that pass', () => {
      const { job: next } = pressed(gone, 'c1');
      expect(next.record).toMatchObject({ status: 'pending', tries: 1 });
      expect(next.want).toMatchObject({ kind: 'wait', until: epoch + 500, next: { kind: 'submit' } });
      const turn = step({ ...next, want: { kind: 'submit' } }, { type: 'granted' }, context()).job;
      expect(turn.want).toMatchObject({ kind: 'fetch', why: 'parent' });
      expect(next.refused).toBeUndefined();
    });

    it.each([
      ['code 4', outdated, 'submit.refused'],
      ['404', notFound, 'service.not-found'],
    ])('has failed where its customId is what it was: %s', (_, answer, code) => {
      const { job: next, refusal } = pressed(answer, 'c1') as { job: Job; refusal?: string };
      expect(next.record).toMatchObject({ status: 'failed', attempts: 1, tries: 0, error: { code } });
      expect(next.record.doubtful).toBeUndefined();
      expect(refusal).toBe(answer.message);
    });

    it('is not pressed more often than retry.attempts', () => {
      let now = pressed(outdated, 'c2').job;
      let presses = 1;
      while (now.record.status === 'pending') {
        const sent = step({ ...now, want: { kind: 'submit' } }, { type: 'granted' }, context()).job;
        presses += 1;
        const told = submitted(outdated, sent).job;
        now =
          told.want.kind === 'wait'
            ? step({ ...told, want: { kind: 'answer' } }, parent(`c${presses + 1}`), context()).job
            : told;
      }
      expect(presses).toBe(6);
      expect(now.record).toMatchObject({ status: 'failed', attempts: 6, tries: 0 });
    });
  });

  it('a button that is not there fails with the labels that are', () => {
    const record = clickRecord({
      request: { kind: 'click', press: [{ kind: 'text', text: 'Vary (Region)' }], fields: {} },
    });
    const read = step(
      job(record),
      { type: 'fetched', why: 'parent', answer: { ok: true, value: task({ state: 'success', buttons }) } },
      context(),
    );
    expect(read.job.record).toMatchObject({ status: 'failed', error: { code: 'button.missing' } });
    expect(read.job.record.error?.message).toContain('U1');
    expect(read.job.record.attempts).toBe(0);
  });

  it('a parent that is never finished again ends the click instead of hanging it', () => {
    let now: Job = job(clickRecord());
    let looks = 0;
    while (now.record.status === 'pending') {
      looks += 1;
      expect(looks).toBeLessThan(20);
      now = step(
        now,
        { type: 'fetched', why: 'parent', answer: { ok: true, value: task({}) } },
        context(),
      ).job;
    }
    expect([looks, now.record.error?.code]).toEqual([6, 'parent.lost']);
  });
});

describe('a task that is watched', () => {
  it('goes on while its status is not a known end, whatever it is called', () => {
    expect(polled(task({ status: '' })).job.want).toEqual({
      kind: 'wait',
      until: epoch + 5000,
      next: { kind: 'fetch', taskId: 'T9', why: 'poll' },
    });
  });

  it('is saved when it succeeded; its result is kept before the download', () => {
    const { record, want } = polled(
      task({ state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1', buttons }),
    ).job;
    expect(record).toMatchObject({ status: 'saving', result: { imageUrl: 'https://i/1' } });
    expect(record.result?.buttons).toHaveLength(9);
    expect(want).toEqual({ kind: 'save', source: { url: 'https://i/1', media: 'image' }, output: 1 });
  });

  it('is done at once where nobody keeps the image', () => {
    const { record } = polled(
      task({ state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1', buttons }),
      running({ keep: false }),
    ).job;
    expect(record).toMatchObject({ status: 'done', artifacts: [], finishedAt: epoch });
  });

  it('a transient failure is submitted anew twice, a permanent one never', () => {
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

  it('past its deadline it fails and keeps its task id', () => {
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

  it('that an earlier run left is watched for as long as any other, from when this run began', () => {
    const startedAt = epoch + 7 * 86_400_000;
    const looked = (now: number) => polled(task({}), running(), { watchedSince: startedAt, now }).job.record;
    expect(looked(startedAt + 1_199_999).status).toBe('running');
    expect(looked(startedAt + 1_200_000)).toMatchObject({
      status: 'failed',
      taskId: 'T9',
      error: { code: 'task.timeout', message: expect.stringContaining('10100 min after its submission') },
    });
  });

  it('that ended after its deadline is a success all the same', () => {
    const late = polled(
      task({ state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1', buttons }),
      running(),
      { now: epoch + 9_000_000 },
    );
    expect(late.job.record.status).toBe('saving');
  });

  it('looks that get no answer never fail a paid task before its deadline', () => {
    let now = running();
    for (let n = 0; n < 50; n++)
      now = polled(failure('service.unavailable', 'retry', { status: 503 }), now).job;
    expect(now.record.status).toBe('running');
    expect(
      polled(failure('connection.lost', 'lost'), now, { now: epoch + 1_200_000 }).job.record.error?.code,
    ).toBe('task.timeout');
  });

  it('a task that the service does not know may lag: it is looked for until its deadline, and its id is kept', () => {
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

  it('past its deadline it is not given up for one look that failed', () => {
    let now = running();
    const looks: string[] = [];
    while (looks.length < 6) {
      now = polled(failure('connection.lost', 'retry'), now, { now: epoch + 9_000_000 }).job;
      looks.push(now.record.status);
    }
    expect(looks).toEqual(['running', 'running', 'running', 'running', 'running', 'failed']);
  });

  it('a dialog that this version cannot answer fails the job and says so', () => {
    expect(polled(task({ state: 'modal', status: 'MODAL' })).job.record.error?.code).toBe('modal.unanswered');
    const at21 = submitted({ kind: 'modal', taskId: 'T9', code: 21 }).job.record;
    expect([at21.error?.code, at21.taskId]).toEqual(['modal.unanswered', 'T9']);
  });
});

describe('an image that is brought in', () => {
  const saved = (kind: 'fresh-link' | 'retry' | 'throttle' | 'permanent' | 'stop', from = saving()) =>
    step(
      from,
      {
        type: 'saved',
        answer: { ok: false, error: { code: `download.${kind}`, class: kind, message: 'm' } },
      },
      context(),
    ).job;

  it('is done once the artifact is there', () => {
    const artifact = { output: 1, file: 'images/aa/aa11-1.png', bytes: 5, sha256: 'h', mime: 'image/png' };
    const { record } = step(
      saving(),
      { type: 'saved', answer: { ok: true, value: artifact } },
      context(),
    ).job;
    expect(record).toMatchObject({ status: 'done', artifacts: [artifact], finishedAt: epoch });
  });

  it('asks for a fresh link when the old one is refused, and goes on with that', () => {
    const asked = saved('fresh-link');
    expect(asked.want).toMatchObject({ kind: 'wait', next: { kind: 'fetch', taskId: 'T9', why: 'link' } });
    const fresh = step(
      asked,
      {
        type: 'fetched',
        why: 'link',
        answer: {
          ok: true,
          value: task({ state: 'success', status: 'SUCCESS', imageUrl: 'https://i/2', buttons }),
        },
      },
      context(),
    ).job;
    expect(fresh.want).toEqual({ kind: 'save', source: { url: 'https://i/2', media: 'image' }, output: 1 });
    expect(fresh.record.result?.imageUrl).toBe('https://i/2');
  });

  it('asks for the same link once more, and then for a fresh one before each try (gateway 4.7)', () => {
    const nextOf = ({ want }: Job): unknown => (want.kind === 'wait' ? want.next : want);
    const save = (url: string) => ({ kind: 'save', source: { url, media: 'image' }, output: 1 });
    const look = { kind: 'fetch', taskId: 'T9', why: 'link' };
    const linked = (from: Job, imageUrl: string): Job =>
      step(
        from,
        {
          type: 'fetched',
          why: 'link',
          answer: { ok: true, value: task({ state: 'success', status: 'SUCCESS', imageUrl, buttons }) },
        },
        context(),
      ).job;
    const once = saved('retry');
    expect(nextOf(once)).toEqual(save('https://i/1'));
    let now = saved('retry', once);
    for (let n = 2; n < 6; n++) {
      expect(nextOf(now)).toEqual(look);
      now = linked(now, `https://i/${n}`);
      expect(nextOf(now)).toEqual(save(`https://i/${n}`));
      now = saved('retry', now);
    }
    // However many links it is given, the tries are those of one file.
    expect([now.record.status, now.record.error?.code]).toEqual(['failed', 'download.retry']);
  });

  it('gives up after the tries, its result kept, so that a retry only brings it in', () => {
    let now = saving();
    for (let n = 0; n < 6; n++) now = saved('retry', now);
    expect(now.record).toMatchObject({ status: 'failed', taskId: 'T9', result: { imageUrl: 'https://i/1' } });
  });

  it('stays in saving when the disk is full or the route is paused', () => {
    expect(saved('stop').record.status).toBe('saving');
    expect(saved('throttle').record.status).toBe('saving');
  });
});
