import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { adviceFor } from '../../../src/report/text/job/advice.ts';
import { type Job, takesTaskSlot } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import { adopt, retryOf } from '../../../src/run/machine/resume.ts';
import { upscaledButtons } from '../../rig/fake-task.ts';
import { clickRecord, context, job } from '../../rig/jobs.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { world } from '../../rig/world.ts';

const region = (changes: Partial<JobRecord> = {}): JobRecord =>
  clickRecord({
    request: {
      kind: 'click',
      press: [{ kind: 'text', text: 'Vary (Region)' }],
      fields: { prompt: 'a hat' },
      mask: { sha256: 'm1' },
    },
    ...changes,
  });
const granted = (from: Job) => step(from, { type: 'granted' }, context());
/** A job with a task slot that waits for the result of its mask check. */
const looking = (changes: Partial<JobRecord> = {}): Job => granted(granted(job(region(changes))).job).job;

const tooSmall = { code: 'mask.size', class: 'permanent', message: 'It is smaller.' } as const;
const broken = { code: 'disk.io', class: 'retry', message: 'It was not read.' } as const;

describe('a click with a mask', () => {
  it('makes the mask before any request or record, then reads its buttons and is sent', () => {
    const { job: checking, send } = granted(granted(job(region())).job);
    expect([send, checking.nextRequest, takesTaskSlot(checking)]).toEqual([
      { kind: 'mask' },
      { kind: 'answer' },
      true,
    ]);
    expect(checking.record).toEqual(region());
    const fits = step(checking, { type: 'masked' }, context()).job;
    expect([fits.record, fits.nextRequest]).toEqual([
      region(),
      { kind: 'fetch', taskId: 'T1', why: 'parent' },
    ]);
    const buttons = upscaledButtons(1).map(({ customId, label, emoji }) => ({ customId, label, emoji }));
    const value = { id: 'T1', state: 'success', status: 'SUCCESS', buttons } as const;
    const asked = granted(fits).job;
    const ready = step(asked, { type: 'fetched', why: 'parent', result: { ok: true, value } }, context()).job;
    expect(granted(ready)).toMatchObject({ send: { kind: 'submit' }, job: { record: { attempts: 1 } } });
  });

  it.each([
    'Vary (Strong)',
    'Vary (Subtle)',
    'Custom Zoom',
    'Zoom Out 2x',
    'Upscale (Subtle)',
    'Animate (Low motion)',
  ])('of a button that takes none (%s) fails without an attempt: nothing is pressed', (label) => {
    const wild = region({
      request: { kind: 'click', press: [{ kind: 'text', text: label }], fields: {}, mask: { sha256: 'm1' } },
    });
    const fits = step(granted(granted(job(wild)).job).job, { type: 'masked' }, context()).job;
    const buttons = upscaledButtons(1).map((one) => ({ ...one }));
    const value = { id: 'T1', state: 'success', status: 'SUCCESS', buttons } as const;
    const { job: next } = step(
      granted(fits).job,
      { type: 'fetched', why: 'parent', result: { ok: true, value } },
      context(),
    );
    expect(next.record).toMatchObject({ status: 'failed', attempts: 0, error: { code: 'mask.unused' } });
    expect(next.record.error?.message).toContain(label);
    expect(adviceFor('mask.unused', next.record)).toMatch(/nothing is paid/);
  });

  it('fails without an attempt where the mask does not fit, and is checked again before --retry-failed clicks', () => {
    const { job: failed, send, attempt } = step(looking(), { type: 'masked', error: tooSmall }, context());
    expect(failed).toMatchObject({
      nextRequest: { kind: 'nothing' },
      record: { status: 'failed', attempts: 0, error: { code: 'mask.size' } },
    });
    expect([send, attempt, failed.record.submittedAt]).toEqual([undefined, undefined, undefined]);
    expect(granted(retryOf(failed.record, 1, 'T1')).job.nextRequest).toEqual({ kind: 'mask' });
  });

  it('reads its mask again after a failed read, at most retry.attempts times', () => {
    let now = looking();
    for (let tries = 1; tries < 6; tries++) {
      now = step(now, { type: 'masked', error: broken }, context()).job;
      expect(now).toMatchObject({
        record: { status: 'pending', tries, attempts: 0 },
        nextRequest: { kind: 'wait', next: { kind: 'mask' } },
      });
      now = granted(step(now, { type: 'elapsed' }, context()).job).job;
    }
    const { record } = step(now, { type: 'masked', error: broken }, context()).job;
    expect(record).toMatchObject({ status: 'failed', attempts: 0, error: { code: 'disk.io' } });
  });

  it('reports no error where the end of the run prevented the read of the mask', () => {
    const left = { code: 'download.aborted', class: 'retry', message: 'The run was left.' } as const;
    const { job: next } = step(looking(), { type: 'masked', error: left }, context());
    expect([next.record, next.nextRequest]).toMatchObject([region(), { next: { kind: 'mask' } }]);
  });

  it('is confirmed by a later run where its modal is open, with the mask made for the confirm', () => {
    const open = region({ status: 'modal', attempts: 1, taskId: 'M1', modal: { taskId: 'M1', sent: 0 } });
    const { job: answering, send } = granted(granted(adopt(open, 1, 'T1')).job);
    expect([send, answering.record.modal]).toEqual([{ kind: 'modal' }, { taskId: 'M1', sent: 1 }]);
  });
});

const text = `name: test
matrix: { n: { from: 1, to: 3 } }
steps:
  grid:
    imagine: "picture {{ n }}"
    path: U1
  hat:
    from: grid/U1
    click: Vary (Region)
    prompt: "hat {{ n }}"
    mask: { shapes: [{ rectangle: [0, 0, 0.5, 0.5] }] }
`;

describe('a run with masks', () => {
  it('clicks nothing where they do not fit', async () => {
    const masks = await world(text, { onMask: () => tooSmall });
    const { end, submits } = masks.run();
    expect([end, submits]).toEqual([{ kind: 'complete' }, 6]);
    expect([masks.service.submits.length, masks.service.modals.length]).toEqual([6, 0]);
    expect(masks.statuses()).toEqual({ done: 6, failed: 3 });
  });

  it('makes each mask once before its click, and once more where the task of a confirmed modal fails', async () => {
    let failures = 0;
    const masks = await world(text, {
      fails: ({ pressed }) =>
        pressed.endsWith('Vary (Region)') && failures++ === 0
          ? '[Internal error] Something went wrong'
          : undefined,
    });
    expect(masks.run().end).toEqual({ kind: 'complete' });
    expect([masks.service.masks.length, masks.service.modals.length]).toEqual([4, 4]);
    expect(masks.statuses()).toEqual({ done: 9 });
  });

  it('presses no button twice, and none without its mask, wherever it is killed', async () => {
    const two = text.replace('to: 3', 'to: 2');
    const calm = (await world(two)).run();
    for (let turn = 1; turn <= calm.turns; turn++) {
      const killed = await world(two);
      killed.run({ dieAfterTurns: turn });
      killed.run();
      const clicks = killed.service.submits.filter(({ pressed }) => pressed.endsWith('Vary (Region)'));
      expect(clicks.length).toBeLessThanOrEqual(2);
      for (const { key } of clicks) expect(killed.service.masks).toContain(key);
      killed.run({ settings: virtualSettings({ inDoubt: 'retry' }) });
      expect(killed.statuses()).toEqual({ done: 6 });
    }
  });
});
