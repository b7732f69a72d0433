import { describe, expect, it } from 'vitest';
import type { Button } from '../../../src/plan/job.ts';
import type { Press } from '../../../src/plan/job-request.ts';
import type { Job } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import type { Task } from '../../../src/service/image-service.ts';
import { gridButtons } from '../../rig/fake-task.ts';
import { clickRecord, context, imagineRecord, job } from '../../rig/jobs.ts';
import { grid, world } from '../../rig/world.ts';

/** The rules of the gateway that a run keeps, each by its section. The client's share of them is in test/service. */

const text = (label: string): Press => ({ kind: 'text', text: label });
const customIds = (of: readonly { customId: string; label: string; emoji: string }[]): readonly Button[] =>
  of.map(({ customId, label, emoji }) => ({ customId, label, emoji }));

/** A click whose parent's task is polled, and what comes of the poll. */
const parentPolled = (press: readonly Press[], task: Partial<Task>): Job => {
  const record = clickRecord({ request: { kind: 'click', press, fields: {} } });
  const value: Task = { id: 'T1', state: 'success', status: 'SUCCESS', buttons: [], ...task };
  const asked = job(record, { nextRequest: { kind: 'answer' }, parentTaskId: 'T1' });
  return step(asked, { type: 'fetched', why: 'parent', result: { ok: true, value } }, context()).job;
};

describe('gateway 4.3', () => {
  it('gateway 4.1: polls the task of every submission until it is finished, and no longer', async () => {
    const minutes = 7;
    const polls = new Map<string, number>();
    const { run, service } = await world(grid(2, 'U1'), {
      duration: () => minutes * 60_000,
      onFetch: (taskId, fetches) => {
        polls.set(taskId, fetches);
        return undefined;
      },
    });
    const { endedAt } = run();
    expect(service.submits).toHaveLength(4);
    for (const { id, endsAt } of service.tasks.values()) {
      expect(polls.get(id)).toBeGreaterThan(1);
      expect(endsAt).toBeLessThanOrEqual(endedAt);
    }
    // With the second one of a chain the first is read once more, for its button; then nobody asks any more.
    const before = new Map(polls);
    run();
    expect(polls).toEqual(before);
  });

  it('gateway 4.3: reads buttons after SUCCESS only', () => {
    const early = parentPolled([text('U1')], {
      state: 'unfinished',
      status: 'IN_PROGRESS',
      buttons: customIds(gridButtons(1)),
    });
    expect(early).toMatchObject({ nextRequest: { kind: 'wait', next: { kind: 'fetch', why: 'parent' } } });
    expect(early.fresh).toBeUndefined();
  });
});

describe('gateway 5.6', () => {
  it('gateway 5.6: presses the customId of a new reading of the task, not that of the record', () => {
    const [old, now] = [1, 2].map((seed) => customIds(gridButtons(seed)));
    const pressed = parentPolled([text('U1')], { buttons: now ?? [] });
    expect(pressed.fresh?.button.customId).toBe(now?.[0]?.customId);
    expect(now?.[0]?.customId).not.toBe(old?.[0]?.customId);
    expect(step(pressed, { type: 'granted' }, context()).job.record.pressed).toEqual(now?.[0]);
  });

  it('gateway 5.3: Vary (Region) on a grid fails with the buttons of the grid, and presses nothing', () => {
    const { record } = parentPolled([text('Vary (Region)')], { buttons: customIds(gridButtons(1)) });
    expect(record).toMatchObject({ status: 'failed', attempts: 0, error: { code: 'button.missing' } });
    expect(record.error?.message).toContain('U1, U2, U3, U4, reroll, V1, V2, V3, V4');
  });

  it('gateway 4.6: confirms a task in MODAL, and does not poll it before', async () => {
    const pipeline = `${grid(1, 'U1')}  far:
    from: grid/U1
    click: Custom Zoom
    prompt: far away --zoom 1.5
`;
    const polls: string[] = [];
    const { run, service, statuses } = await world(pipeline, {
      onFetch: (taskId) => {
        polls.push(taskId);
        return undefined;
      },
    });
    run();
    expect(statuses()).toEqual({ done: 3 });
    const [modal] = service.modals;
    expect([service.modals.length, polls.includes(modal?.taskId ?? '')]).toEqual([1, false]);
  });

  it('gateway 4.3: waits for the buttons of a task in progress, and accepts none of a finished one', () => {
    const early = parentPolled([text('U1')], { state: 'unfinished', status: '' });
    expect(early.nextRequest).toMatchObject({ kind: 'wait' });
    const { record } = parentPolled([text('U1')], {});
    expect(record.error).toMatchObject({ code: 'button.missing' });
    expect(record.error?.message).toContain('no buttons');
  });
});

describe('gateway 9', () => {
  it('gateway 9.4: polls within poll.min and poll.max until timeouts.task, as no service gives an interval', async () => {
    const times: number[] = [];
    const { run, store, service } = await world(grid(1), {
      duration: () => 24 * 3_600_000,
      onFetch: (_, __, at) => {
        times.push(at);
        return undefined;
      },
    });
    const { endedAt } = run();
    const gaps = times.slice(1).map((at, n) => at - (times[n] ?? at));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
    // A poll takes a moment itself.
    expect(Math.max(...gaps)).toBeLessThan(15_500);
    const [submitted] = service.submits;
    expect(endedAt - (submitted?.at ?? 0)).toBeGreaterThanOrEqual(20 * 60_000);
    expect(endedAt - (submitted?.at ?? 0)).toBeLessThan(20 * 60_000 + 15_500);
    expect(store.get(submitted?.key ?? '')?.error?.code).toBe('task.timeout');
  });
});

describe('buttons that begin no single task (gateway 3.4, 5.3)', () => {
  it.each([
    [{ customId: 'MJ::Job::PicReader::all', label: 'Imagine all', emoji: '🎉' }, text('Imagine all')],
    [{ customId: 'MJ::BOOKMARK::7', label: '', emoji: '❤️' }, text('❤️')],
  ] as const)(
    '%o is not pressed: the job fails and says what it does, and nothing is paid',
    (button, press) => {
      const one = { customId: 'MJ::Job::PicReader::1', label: '', emoji: '1️⃣' };
      const { record, nextRequest } = parentPolled([press], { buttons: [one, button] });
      expect([nextRequest.kind, record.status, record.attempts]).toEqual(['nothing', 'failed', 0]);
      expect(record.error).toMatchObject({ code: 'button.no-task' });
    },
  );

  it('a job whose prompt has paragraphs draws an image, whatever list its finalPrompt looks like', () => {
    const value: Task = {
      id: 'T1',
      state: 'success',
      status: 'SUCCESS',
      buttons: [],
      imageUrl: 'https://i/1',
      prompts: ['a fox', 'in the snow'],
    };
    const running = job(imagineRecord({ status: 'running', taskId: 'T1' }), {
      nextRequest: { kind: 'answer' },
    });
    const next = step(running, { type: 'fetched', why: 'poll', result: { ok: true, value } }, context()).job;
    expect(next.nextRequest).toMatchObject({ kind: 'save', source: { url: 'https://i/1', media: 'image' } });
    expect(next.record.result?.prompts).toBeUndefined();
  });
});
