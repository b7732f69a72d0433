import { describe, expect, it } from 'vitest';
import { memoryStore } from '../rig/memory-store.ts';
import { failure } from '../rig/virtual-service.ts';
import { run } from './engine-rig.ts';

describe('the engine', () => {
  it('told to leave, aborts what is under way and leaves the rest for the next run', async () => {
    const leave = new AbortController();
    let aborted = false;
    const { end, service } = await run({
      control: { leave: leave.signal },
      service: () => ({
        fetchTask: (_, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted = true;
              reject(new Error('aborted'));
            });
            leave.abort();
          }),
      }),
    });
    expect([end, aborted, service.submits.length]).toEqual([{ kind: 'interrupted', forced: true }, true, 1]);
  });

  it('told to leave, keeps the answers that have come, and no intent that was never sent', async () => {
    const store = memoryStore();
    const leave = new AbortController();
    const { end, service } = await run({
      store,
      settings: { limits: { tasks: 3, requests: 4 } },
      control: { leave: leave.signal },
      service: (port) => ({
        imagine: async (...request) => {
          const result = await port.imagine(...request);
          leave.abort();
          return result;
        },
      }),
    });
    expect(end).toEqual({ kind: 'interrupted', forced: true });
    expect([...store.withStatus('submitting')]).toEqual([]);
    const kept = [...store.withStatus('running')].map(({ taskId }) => taskId);
    expect(new Set(kept)).toEqual(new Set(service.tasks.keys()));
    expect(service.tasks.size).toBeGreaterThan(0);
    expect(store.totals().attempts).toBe(service.submits.length);
  });

  it('told to leave, knows of a request that never left that nothing is in doubt', async () => {
    const store = memoryStore();
    const leave = new AbortController();
    await run({
      store,
      control: { leave: leave.signal },
      service: () => ({
        imagine: (_, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () =>
              resolve({ ok: false, error: failure('connection.aborted', 'unsent') }),
            );
            leave.abort();
          }),
      }),
    });
    expect([store.unfinished(), store.totals().attempts]).toEqual([[], 0]);
  });

  it('told to leave, keeps in submitting what was sent and gave no answer', async () => {
    const store = memoryStore();
    const leave = new AbortController();
    const { end } = await run({
      store,
      control: { leave: leave.signal },
      service: () => ({
        imagine: (_, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () =>
              resolve({ ok: false, error: failure('connection.aborted', 'lost') }),
            );
            leave.abort();
          }),
      }),
    });
    expect(end).toEqual({ kind: 'interrupted', forced: true });
    expect(store.unfinished().map(({ status }) => status)).toEqual(['submitting']);
    const { events } = await run({ store });
    expect(events).toContainEqual(expect.objectContaining({ type: 'job:status', to: 'in-doubt' }));
  });

  it('told to leave before it began, does not even take up what was left', async () => {
    const { end, service, events } = await run({ control: { leave: AbortSignal.abort() } });
    expect([end, service.submits.length]).toEqual([{ kind: 'interrupted', forced: true }, 0]);
    expect(events.map(({ type }) => type)).toEqual(['run:start', 'run:end']);
  });

  it('told to leave while an image comes in, says nothing of it: the next run brings it in', async () => {
    const store = memoryStore();
    const leave = new AbortController();
    const one = 'name: t\nsteps: { grid: { imagine: a fox } }\n';
    const { end, events } = await run({
      text: one,
      store,
      control: { leave: leave.signal },
      artifacts: {
        save: (_, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () =>
              resolve({ ok: false, error: { code: 'download.aborted', class: 'retry', message: 'aborted' } }),
            );
            leave.abort();
          }),
      },
    });
    expect(end).toEqual({ kind: 'interrupted', forced: true });
    expect(events.some((event) => event.type === 'request:end' && event.route === 'download')).toBe(false);
    expect(store.unfinished().map(({ status }) => status)).toEqual(['saving']);
    expect((await run({ text: one, store })).submits).toBe(0);
    expect([...store.withStatus('done')]).toHaveLength(1);
  });

  it('told to stop before it began, does nothing', async () => {
    const { end, service } = await run({ control: { drain: AbortSignal.abort() } });
    expect([end, service.submits.length]).toEqual([{ kind: 'interrupted', forced: false }, 0]);
  });
});
