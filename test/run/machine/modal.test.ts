import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { adviceFor } from '../../../src/report/text/job/advice.ts';
import { takesTaskSlot } from '../../../src/run/machine/job.ts';
import { adopt, retryOf } from '../../../src/run/machine/resume.ts';
import { failure } from '../../rig/failure.ts';
import type { GatewayScript } from '../../rig/gateway/scripted-gateway.ts';
import { epoch } from '../../rig/jobs.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { type World, world } from '../../rig/world.ts';
import { after, answering, clicked, region, seen, submitted, waiting } from './modal-rig.ts';

describe('a click that opens a modal', () => {
  it.each([
    ['at once (21)', () => submitted(clicked(), { kind: 'modal', taskId: 'M1', code: 21 })],
    [
      'when it is polled',
      () => seen(waiting(region({ status: 'running', attempts: 1, taskId: 'M1' })), 'poll', {}),
    ],
  ])('has a durable state of its own before anything is sent: %s', (_, open) => {
    const { job: next, send } = open();
    expect(next.record).toMatchObject({
      status: 'modal',
      taskId: 'M1',
      modal: { taskId: 'M1', sent: 0 },
      attempts: 1,
    });
    expect([send, takesTaskSlot(next)]).toEqual([undefined, true]);
    expect(next.nextRequest).toMatchObject({ kind: 'wait', next: { kind: 'modal' } });
  });

  it('is confirmed with an intent of its own, which is not an attempt and begins the deadline', () => {
    const open = adopt(
      region({ status: 'modal', attempts: 1, taskId: 'M1', modal: { taskId: 'M1', sent: 0 } }),
      1,
      'T1',
    );
    // Left open by an earlier run, it takes no task slot before it is granted one.
    const { job: granted } = after(open, { type: 'granted' });
    expect([takesTaskSlot(open), takesTaskSlot(granted), granted.nextRequest]).toEqual([
      false,
      true,
      { kind: 'modal' },
    ]);
    const { job: next, send } = after(granted, { type: 'granted' }, { now: epoch + 9_000_000 });
    expect(send).toEqual({ kind: 'modal' });
    expect(next.record).toMatchObject({
      status: 'submitting',
      attempts: 1,
      modal: { taskId: 'M1', sent: 1 },
      submittedAt: epoch + 9_000_000,
    });
  });

  it.each([
    [0, undefined],
    [1, { kind: 'modal' }],
  ])(
    'is read before its first confirm where others submit too, and never after one that may have arrived (%i)',
    (sent, expected) => {
      const record = region({ status: 'modal', attempts: 1, taskId: 'M1', modal: { taskId: 'M1', sent } });
      const granted = { ...waiting(record), nextRequest: { kind: 'modal' } as const };
      const { job: next, send } = after(granted, { type: 'granted' }, { hasPeers: true });
      expect([send, next.nextRequest.kind]).toEqual([expected, sent === 0 ? 'fetch' : 'answer']);
    },
  );

  it.each(['M1', 'N2'])(
    'continues with the task that the answer names (%s), which may be the same',
    (taskId) => {
      const { job: next, attempt } = submitted(
        answering(),
        { kind: 'accepted', taskId, code: 1 },
        { price: () => 5 },
      );
      expect(next.record).toMatchObject({
        status: 'running',
        taskId,
        modal: { taskId: 'M1', sent: 1, accepted: true },
      });
      expect(next.record.cost).toBeUndefined();
      expect(attempt).toMatchObject({ outcome: 'modal.accepted', taskId });
      const lingering = seen({ ...next, nextRequest: { kind: 'answer' } }, 'poll', { id: taskId });
      expect(lingering.job.record.status).toBe('running');
      expect(lingering.job.nextRequest).toMatchObject({ next: { kind: 'fetch', taskId, why: 'poll' } });
    },
  );

  it('fails where the pipeline has no confirm, and names the keys to write', () => {
    const bare = clicked({ request: { kind: 'click', press: [], fields: {} } });
    const { record } = submitted(bare, { kind: 'modal', taskId: 'M1', code: 21 }).job;
    expect(record).toMatchObject({ status: 'failed', taskId: 'M1', error: { code: 'modal.unanswered' } });
    expect(record.error?.message).toMatch(/`prompt`.*`mask`/);
    expect(retryOf(record, 1, 'T1').record).toMatchObject({ status: 'pending', attempts: 1 });
    expect(retryOf(record, 1, 'T1').record.modal).toBeUndefined();
  });

  it('is a button of a describe, which has its prompt', () => {
    const bare = clicked({
      request: { kind: 'click', press: [], fields: {} },
      pressed: { customId: 'MJ::Job::PicReader::2', label: '', emoji: '2️⃣' },
    });
    const { job: next } = submitted(bare, { kind: 'modal', taskId: 'M1', code: 21 });
    expect(next).toMatchObject({ record: { status: 'modal' }, nextRequest: { next: { kind: 'modal' } } });
  });
});

describe('a click that opens no modal', () => {
  const success = { state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1' } as const;
  const ended = (
    fields: Record<string, string | boolean>,
    changes: Partial<JobRecord> = {},
    above = 'a fox',
  ) =>
    seen(
      waiting(
        region({
          status: 'running',
          taskId: 'M1',
          request: { kind: 'click', press: [], fields },
          ...changes,
        }),
      ),
      'poll',
      success,
      { promptAbove: () => above },
    ).job.record;
  const shapes = [{ rectangle: [0, 0, 1, 1] }] as const;
  const masked = { kind: 'click', press: [], fields: {}, mask: { shapes } } as const;

  it('fails where the step has another prompt or a mask, because its image was made without', () => {
    const failed = { status: 'failed', taskId: 'M1', error: { code: 'modal.not-opened' } };
    expect(ended({ prompt: 'an owl' })).toMatchObject(failed);
    expect(ended({}, { request: masked })).toMatchObject(failed);
    const { error } = ended({ prompt: 'an owl' }, { request: { ...masked, fields: { prompt: 'an owl' } } });
    expect(error?.message).toMatch(/Vary \(Region\).*`prompt` and `mask`.*`remix: true`/);
    expect(ended({ prompt: 'an owl', remix: true }).error?.message).not.toMatch(/write `remix/);
    expect(adviceFor('modal.not-opened', region())).toMatch(/paid again/);
  });

  it('is done where the prompt is the parent’s, or there is none', () => {
    for (const fields of [
      {},
      { remix: true },
      { prompt: '' },
      { prompt: 'a fox ' },
      { remix: true, prompt: 'a fox' },
    ])
      expect(ended(fields).status).toBe('saving');
  });

  it('is done where its modal was confirmed', () => {
    const modal = { taskId: 'M1', sent: 1, accepted: true } as const;
    expect(ended({ prompt: 'an owl' }, { modal }).status).toBe('saving');
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
    click: Custom Zoom
    prompt: "hat {{ n }} --zoom 1.5"
`;

const clicks = ({ service }: World): number =>
  service.submits.filter(({ pressed }) => pressed.endsWith('Custom Zoom')).length;

describe.each([
  // What is killed in several cells at once is the same for all.
  ['21, a new task', {}, 2],
  ['21, the same task', { sameTask: true }, 1],
  ['1 and MODAL, a new task', { modalCode: 1 }, 1],
  ['1 and MODAL, the same task', { modalCode: 1, sameTask: true }, 1],
] as const satisfies readonly (readonly [string, GatewayScript, number])[])(
  'modals in a run: %s',
  (_, script, cells) => {
    it('are confirmed once each, and counted with their clicks', async () => {
      const modals = await world(text, script);
      const { end, submits } = modals.run();
      expect([end, submits, clicks(modals), modals.service.modals.length]).toEqual([
        { kind: 'complete' },
        9,
        3,
        3,
      ]);
      expect(modals.statuses()).toEqual({ done: 9 });
    });

    it('press no button and confirm no modal twice wherever the run is killed, except where in doubt', async () => {
      const few = text.replace('to: 3', `to: ${cells}`);
      const calm = (await world(few, script)).run();
      let doubts = 0;
      for (let turn = 1; turn <= calm.turns; turn += cells) {
        const killed = await world(few, script);
        killed.run({ dieAfterTurns: turn });
        killed.run();
        const { 'in-doubt': inDoubt = 0 } = killed.statuses();
        doubts += inDoubt;
        expect(clicks(killed)).toBeLessThanOrEqual(cells);
        expect(killed.service.modals.length).toBeLessThanOrEqual(cells);
        killed.run({ settings: virtualSettings({ inDoubt: 'retry' }) });
        expect(killed.statuses()).toEqual({ done: 3 * cells });
        expect(killed.service.modals.length).toBe(cells);
      }
      expect(doubts).toBeGreaterThan(0);
    });
  },
);

it('confirms open modals also with a used-up budget', async () => {
  const modals = await world(text);
  const { end } = modals.run({ settings: virtualSettings({ maxSubmits: 9 }) });
  expect([end, modals.statuses()]).toEqual([{ kind: 'complete' }, { done: 9 }]);
});

it.each([
  ['once more after a 503', failure('service.unavailable', 'retry', { status: 503 }), 'hold'],
  ['again on the user’s word', failure('connection.lost', 'lost'), 'retry'],
] as const)(
  'a budget of money that is just enough covers a confirm that is sent %s',
  async (_, error, inDoubt) => {
    const modals = await world(text, { onModal: ({ number }) => (number === 1 ? { error } : undefined) });
    const settings = virtualSettings({ budget: { cost: 9 }, inDoubt });
    const price = () => 1;
    modals.run({ settings, price });
    const { end } = modals.run({ settings, price });
    expect([end, modals.statuses()]).toEqual([{ kind: 'complete' }, { done: 9 }]);
    expect(modals.store.totals().cost).toBe(9);
  },
);

it('confirms an open modal before it begins anything new', async () => {
  const modals = await world(text);
  modals.run({
    settings: virtualSettings({ limits: { tasks: 12, requests: 32, submit: { count: 6, perMs: 60_000 } } }),
  });
  const opened = modals.service.submits.filter(({ pressed }) => pressed.endsWith('Custom Zoom'));
  for (const { key, at } of opened) {
    const answered = modals.service.modals.find(({ record }) => record.key === key)?.at ?? 0;
    expect(modals.service.submits.filter((other) => other.at > at && other.at < answered)).toEqual([]);
  }
});
