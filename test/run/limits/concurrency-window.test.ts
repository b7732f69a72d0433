import { describe, expect, it } from 'vitest';
import { ConcurrencyWindow } from '../../../src/run/limits/concurrency-window.ts';
import type { ScriptedGateway } from '../../rig/gateway/scripted-gateway.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { grid, world } from '../../rig/world.ts';

const full = { kind: 'queue-full', code: 23, message: 'full' } as const;
const accepted = (code = 1, waiting?: number) =>
  ({ kind: 'accepted', taskId: 'T', code, ...(waiting === undefined ? {} : { waiting }) }) as const;

describe('the window that a full queue narrows', () => {
  it('leaves room for the tasks that the service has, and for one at least', () => {
    const concurrency = new ConcurrencyWindow(12);
    expect(concurrency.window).toBe(12);
    concurrency.note(full, 5);
    expect(concurrency.window).toBe(5);
    concurrency.note(full, 9);
    expect(concurrency.window).toBe(5);
    concurrency.note(full, 0);
    expect(concurrency.window).toBe(1);
  });

  it('grows by one after a full window of tasks that began at once, up to the limit', () => {
    const concurrency = new ConcurrencyWindow(4);
    concurrency.note(full, 2);
    const windows = Array.from({ length: 12 }, () => {
      concurrency.note(accepted(), 1);
      return concurrency.window;
    });
    expect(windows).toEqual([2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]);
  });

  it('grows when a task begins at once beside more tasks than it allowed', () => {
    const concurrency = new ConcurrencyWindow(12);
    // One row of a burst was refused before the others were taken.
    concurrency.note(full, 0);
    for (let held = 0; held < 5; held++) concurrency.note(accepted(), held);
    expect(concurrency.window).toBe(5);
  });

  it('does not grow while tasks wait on the service, with code 22 or code 1', () => {
    const concurrency = new ConcurrencyWindow(4);
    concurrency.note(full, 1);
    for (const answer of [accepted(22), accepted(1, 3), accepted(22, 0)]) concurrency.note(answer, 1);
    expect(concurrency.window).toBe(1);
    concurrency.note(accepted(1, 0), 1);
    expect(concurrency.window).toBe(2);
  });

  it('counts only tasks that begin at once, and restarts the count when it changes', () => {
    const concurrency = new ConcurrencyWindow(9);
    concurrency.note(full, 2);
    concurrency.note(accepted(), 1);
    concurrency.note({ kind: 'refused', code: 4, message: 'no' }, 1);
    concurrency.note(full, 2);
    concurrency.note(accepted(), 1);
    expect(concurrency.window).toBe(2);
    concurrency.note(accepted(), 1);
    expect(concurrency.window).toBe(3);
    concurrency.note(accepted(), 2);
    concurrency.note(accepted(), 3);
    expect(concurrency.window).toBe(4);
    for (let n = 0; n < 3; n += 1) concurrency.note(accepted(), 3);
    expect(concurrency.window).toBe(4);
    concurrency.note(accepted(), 3);
    expect(concurrency.window).toBe(5);
  });

  it('learns nothing from submissions that are refused', () => {
    const concurrency = new ConcurrencyWindow(9);
    concurrency.note(full, 2);
    for (let n = 0; n < 9; n += 1) concurrency.note({ kind: 'refused', code: 4, message: 'no' }, 9);
    expect(concurrency.window).toBe(2);
  });

  it('never exceeds the limit, whatever the service has', () => {
    const concurrency = new ConcurrencyWindow(4);
    concurrency.note(full, 2);
    concurrency.note(accepted(), 40);
    expect(concurrency.window).toBe(4);
    concurrency.note(accepted(), 40);
    expect(concurrency.window).toBe(4);
    concurrency.note(full, 40);
    expect(concurrency.window).toBe(4);
  });
});

it('a service that takes four tasks at a time refuses few submissions, and finishes all', async () => {
  const service: { now?: ScriptedGateway } = {};
  let refused = 0;
  const work = await world(grid(60), {
    duration: () => 20_000,
    onSubmit: ({ at }) => {
      if ((service.now?.inFlight(at) ?? 0) < 4) return undefined;
      refused += 1;
      return full;
    },
  });
  service.now = work.service;
  const { end } = work.run({ settings: virtualSettings({ limits: { tasks: 12, requests: 16 } }) });
  expect([end, work.statuses(), work.store.totals().attempts]).toEqual([
    { kind: 'complete' },
    { done: 60 },
    60,
  ]);
  // The first burst, and then one now and again that finds out whether there is more room.
  expect(refused).toBeLessThanOrEqual(12 + 60 / 4);
});
