import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { ImageService } from '../../src/service/image-service.ts';
import { StateError } from '../../src/state/store.ts';
import { failure } from '../rig/failure.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { jumpingClock, run, text } from './engine-rig.ts';

/** An imagine during which the user leaves, aborted before or after it left. */
const leftWhileSending =
  (leave: AbortController, kind: 'unsent' | 'lost'): ImageService['begin'] =>
  (_, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () =>
        resolve({ ok: false, error: failure('connection.aborted', kind) }),
      );
      leave.abort();
    });

describe('the engine', () => {
  it('aborts all requests when the user leaves, and keeps the rest for the next run', async () => {
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

  it('keeps results that have come when the user leaves, and no intent that was never sent', async () => {
    const store = memoryStore();
    const leave = new AbortController();
    const { end, service } = await run({
      store,
      settings: { limits: { tasks: 3, requests: 4 } },
      control: { leave: leave.signal },
      service: (port) => ({
        begin: async (...request) => {
          const result = await port.begin(...request);
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

  it('counts no submission that was not sent, whenever the user leaves while the first cells are read', async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const leave = new AbortController();
      const store = memoryStore();
      let counted = 0;
      const { service } = await run({
        store: {
          ...store,
          commit: (turn) => {
            counted += turn.submits ?? 0;
            store.commit(turn);
          },
        },
        control: { leave: leave.signal },
        cells: async function* (all) {
          yield* all;
          let left = turns;
          const count = (): void => {
            left -= 1;
            if (left < 0) leave.abort();
            else void Promise.resolve().then(count);
          };
          count();
        },
      });
      expect([counted, store.totals().attempts]).toEqual([service.submits.length, service.submits.length]);
    }
  });

  it('emits the decisions of the last turn before it left', async () => {
    const leave = new AbortController();
    const { events } = await run({
      control: { leave: leave.signal },
      service: (port) => ({
        begin: async (...request) => {
          const result = await port.begin(...request);
          leave.abort();
          return result;
        },
      }),
    });
    const said = events.flatMap((event) => (event.type === 'job:status' ? [event.to] : [event.type]));
    expect(said.slice(said.indexOf('running'))).toEqual(['running', 'run:end']);
  });

  it('puts no job in doubt whose request never left when the user leaves', async () => {
    const store = memoryStore();
    const leave = new AbortController();
    await run({
      store,
      control: { leave: leave.signal },
      service: () => ({ begin: leftWhileSending(leave, 'unsent') }),
    });
    expect([store.unfinished(), store.totals().attempts]).toEqual([[], 0]);
  });

  it('keeps unanswered submissions in submitting when the user leaves', async () => {
    const store = memoryStore();
    const leave = new AbortController();
    const { end } = await run({
      store,
      control: { leave: leave.signal },
      service: () => ({ begin: leftWhileSending(leave, 'lost') }),
    });
    expect(end).toEqual({ kind: 'interrupted', forced: true });
    expect(store.unfinished().map(({ status }) => status)).toEqual(['submitting']);
    const { events } = await run({ store });
    expect(events).toContainEqual(expect.objectContaining({ type: 'job:status', to: 'in-doubt' }));
  });

  it('adopts no job when the user leaves before the start', async () => {
    const { end, service, events } = await run({ control: { leave: AbortSignal.abort() } });
    expect([end, service.submits.length]).toEqual([{ kind: 'interrupted', forced: true }, 0]);
    expect(events.map(({ type }) => type)).toEqual(['run:start', 'run:end']);
  });

  it('aborts a download without an error when the user leaves, and the next run downloads the image', async () => {
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

  it('does nothing when the user stops it before the start', async () => {
    const { end, service } = await run({ control: { drain: AbortSignal.abort() } });
    expect([end, service.submits.length]).toEqual([{ kind: 'interrupted', forced: false }, 0]);
  });

  it('leaves no listeners on the signals of the user', async () => {
    const [drain, leave] = [new AbortController(), new AbortController()];
    const { end } = await run({ control: { drain: drain.signal, leave: leave.signal } });
    expect(end).toEqual({ kind: 'complete' });
    expect([drain, leave].flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([]);
  });

  it('closes the plan that it reads cells from, even where it ends before the last cell', async () => {
    const drain = new AbortController();
    const many = text.replace('to: 5', 'to: 500');
    let isClosed = false;
    const { submits } = await run({
      text: many,
      control: { drain: drain.signal },
      cells: async function* (all) {
        try {
          yield* all;
        } finally {
          isClosed = true;
        }
      },
      listener: ({ type }) => {
        if (type === 'cell:open') drain.abort();
      },
    });
    expect(submits).toBeLessThan(500);
    expect(isClosed).toBe(true);
  });

  it('ends with the disk’s error where results cannot be written when the user leaves', async () => {
    const leave = new AbortController();
    const store = memoryStore();
    const { end } = await run({
      store: {
        ...store,
        commit: (turn) => {
          if (leave.signal.aborted) throw new StateError('state.full', 'no space');
          return store.commit(turn);
        },
      },
      control: { leave: leave.signal },
      listener: (event) => {
        if (event.type === 'request:end') leave.abort();
      },
    });
    expect(end).toEqual({ kind: 'disk', code: 'state.full', message: 'no space' });
  });

  it('reacts to a drain between two cells that each take long', async () => {
    const drain = new AbortController();
    const inner = jumpingClock();
    let asked = 0;
    const { end, events } = await run({
      text: text.replace('to: 5', 'to: 1000').replace('path: U1', 'path: U1, when: n == 0'),
      clock: { ...inner, now: () => inner.now() + 100 * ++asked },
      control: { drain: drain.signal },
      listener: ({ type }) => {
        if (type === 'cell:open') drain.abort();
      },
    });
    expect(end).toEqual({ kind: 'interrupted', forced: false });
    expect(events.filter(({ type }) => type === 'cell:open').length).toBeLessThan(4);
  });

  it('reacts to a drain between two of the cells that wait for one job and each take long', async () => {
    const drain = new AbortController();
    const inner = jumpingClock();
    let isMade = false;
    let asked = 0;
    const { end, events } = await run({
      text: text.replace('to: 5', 'to: 300').replace('picture {{ n }}', 'a fox'),
      settings: { limits: { tasks: 2, requests: 4 } },
      clock: { ...inner, now: () => inner.now() + (isMade ? 100 * ++asked : 0) },
      service: (port) => ({
        fetchTask: async (...task) => {
          const result = await port.fetchTask(...task);
          isMade = result.ok && result.value.state === 'success';
          return result;
        },
      }),
      control: { drain: drain.signal },
      listener: (event) => {
        if (event.type === 'job:status' && event.to === 'saving') drain.abort();
      },
    });
    expect(end).toEqual({ kind: 'interrupted', forced: false });
    // At least the first 64 cells were open. Those that were resolved before it was heard wait for the next job of theirs, which has begun.
    expect(events.filter(({ type }) => type === 'cell:left').length).toBeGreaterThan(32);
  });
});
