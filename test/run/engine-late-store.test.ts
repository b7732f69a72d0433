import { describe, expect, it } from 'vitest';
import type { ImageService } from '../../src/service/image-service.ts';
import { StateError } from '../../src/state/store.ts';
import { type Fault, faultyStore } from '../rig/faulty-store.ts';
import type { ScriptedGateway } from '../rig/gateway/scripted-gateway.ts';
import { type LateStore, lateStore } from '../rig/late-store.ts';
import { type MemoryStore, memoryStore } from '../rig/memory-store.ts';
import { seededRandom } from '../rig/virtual-run.ts';
import { run, text } from './engine-rig.ts';

const many = { text: text.replace('to: 5', 'to: 12'), settings: { limits: { tasks: 6, requests: 8 } } };
const seeds = Array.from({ length: 5 }, (_, n) => n + 1);

/** A store in memory behind one that answers later. */
const late = (seed: number, faults: readonly Fault[] = []): { inner: MemoryStore; store: LateStore } => {
  const inner = memoryStore();
  return { inner, store: lateStore(faultyStore(inner, faults), seededRandom(seed)) };
};

const statuses = (store: MemoryStore): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(store.totals().jobs).filter(([, count]) => count > 0));

describe('the engine, with an asynchronous store', () => {
  it.each(seeds)('makes everything durable, one commit at a time (seed %i)', async (seed) => {
    const { inner, store } = late(seed);
    // The rig refuses a submission whose intent is not in the store.
    const { end, service, submits, events } = await run({ ...many, store });
    expect(end).toEqual({ kind: 'complete' });
    expect(statuses(inner)).toEqual({ done: 24 });
    expect([service.submits.length, submits, inner.totals().attempts]).toEqual([24, 24, 24]);
    expect([store.most, store.isWriting]).toEqual([1, false]);
    expect(events.filter(({ type }) => type === 'cell:close')).toHaveLength(12);
  });

  it('collects the events during a commit for the next one', async () => {
    // Each submission is answered some turns of the event loop after the one before, so that it is no part of the same burst.
    const oneByOne = {
      ...many,
      service: (port: ImageService): Partial<ImageService> => {
        let sent = 0;
        return {
          begin: async (...request) => {
            sent += 1;
            const result = await port.begin(...request);
            for (let turns = 4 * sent; turns > 0; turns--)
              await new Promise((resolve) => setImmediate(resolve));
            return result;
          },
        };
      },
    };
    const atOnce = faultyStore(memoryStore());
    await run({ ...oneByOne, store: atOnce });
    const slow = lateStore(memoryStore(), () => 0.9, { maxTurns: 30 });
    await run({ ...oneByOne, store: slow });
    expect(slow.commits).toBeLessThan(atOnce.writes);
  });

  it('emits a status only once the record is durable', async () => {
    const { inner, store } = late(3);
    const early: string[] = [];
    await run({
      ...many,
      store,
      listener: (event) => {
        if (event.type === 'job:status' && event.to === 'done' && inner.get(event.key)?.status !== 'done')
          early.push(event.key);
      },
    });
    expect(early).toEqual([]);
  });

  it.each(seeds)(
    'waits for a state that is busy, and sends nothing in the meantime (seed %i)',
    async (seed) => {
      const { inner, store } = late(
        seed,
        [3, 4, 7].map((at) => ({ at, fault: 'state.busy' as const })),
      );
      const { end, service } = await run({ ...many, store });
      expect(end).toEqual({ kind: 'complete' });
      expect([service.submits.length, inner.totals().attempts]).toEqual([24, 24]);
    },
  );

  it.each(seeds)('sends nothing of a commit that fails, and keeps what is paid (seed %i)', async (seed) => {
    for (let at = 1; at < 8; at++) {
      const { inner, store } = late(seed, [{ at, fault: 'state.full' }]);
      const { end, service } = await run({ ...many, store });
      expect(end).toMatchObject({ kind: 'disk', code: 'state.full' });
      expect(inner.totals().jobs).toMatchObject({ submitting: 0, 'in-doubt': 0 });
      expect(inner.totals().attempts, `commit ${at}`).toBe(service.submits.length);
      const known = [...inner.unfinished(), ...inner.withStatus('done')].map(({ taskId }) => taskId);
      expect([...service.tasks.keys()].filter((id) => !known.includes(id))).toEqual([]);
      expect(store.isWriting).toBe(false);
    }
  });

  it.each(seeds)(
    'sends no effect of a commit during which the user leaves, and puts no job in doubt (seed %i)',
    async (seed) => {
      const { inner, store } = late(seed);
      const leave = new AbortController();
      let submits = 0;
      let gateway: ScriptedGateway | undefined;
      let sent: number | undefined;
      const left = await run({
        ...many,
        store: {
          ...store,
          commit: (turn) => {
            submits += turn.submits ?? 0;
            const written = store.commit(turn);
            if (submits > 2) {
              sent ??= gateway?.submits.length;
              leave.abort();
            }
            return written;
          },
        },
        control: { leave: leave.signal },
        seen: (service) => {
          gateway = service;
        },
      });
      expect(left.end).toEqual({ kind: 'interrupted', forced: true });
      expect(left.service.submits.length).toBe(sent);
      expect(inner.totals().attempts).toBe(left.service.submits.length);
      expect([...inner.withStatus('in-doubt'), ...inner.withStatus('submitting')]).toEqual([]);
      expect(store.isWriting).toBe(false);
    },
  );

  it('settles jobs in flight before it ends when the user stops it during a commit', async () => {
    const { inner, store } = late(5);
    const drain = new AbortController();
    const { end, service, events } = await run({
      ...many,
      store,
      control: { drain: drain.signal },
      listener: (event) => {
        if (event.type === 'job:status' && event.to === 'running' && store.commits > 2) drain.abort();
      },
    });
    expect(end).toEqual({ kind: 'interrupted', forced: false });
    expect(inner.unfinished()).toEqual([]);
    expect(service.submits.length).toBe(inner.totals().jobs.done);
    expect(events.map(({ type }) => type).slice(-1)).toEqual(['run:end']);
    expect(events.filter(({ type }) => type === 'run:stopping')).toHaveLength(1);
  });

  it('ends with a bug of the store', async () => {
    const bug = new TypeError('Internal error: made up');
    const store = lateStore(
      {
        ...memoryStore(),
        commit: () => {
          throw bug;
        },
      },
      seededRandom(1),
    );
    await expect(run({ ...many, store })).rejects.toBe(bug);
  });

  it('keeps paid results when a bug ends it during a commit', async () => {
    const bug = new TypeError('Internal error: made up');
    for (const seed of seeds) {
      const { inner, store } = late(seed);
      let polls = 0;
      const running = run({
        ...many,
        store,
        service: (port) => ({
          fetchTask: (...poll) => {
            polls += 1;
            return polls === seed ? Promise.reject(bug) : port.fetchTask(...poll);
          },
        }),
      });
      await expect(running).rejects.toBe(bug);
      expect(inner.totals().jobs).toMatchObject({ submitting: 0, 'in-doubt': 0 });
      expect(store.isWriting).toBe(false);
    }
  });

  it('ends where submissions cannot be counted, sends none of them, and puts none in doubt', async () => {
    for (const seed of seeds) {
      const inner = memoryStore();
      let counts = 0;
      const { end, service } = await run({
        ...many,
        store: {
          ...lateStore(inner, seededRandom(seed)),
          countSubmissions: () => {
            counts += 1;
            return counts === 2
              ? Promise.reject(new StateError('state.io', 'The count could not be written.'))
              : Promise.resolve(inner.countSubmissions());
          },
        },
      });
      expect(end).toMatchObject({ kind: 'disk', code: 'state.io' });
      expect(inner.totals().jobs).toMatchObject({ submitting: 0, 'in-doubt': 0 });
      expect(inner.totals().attempts).toBe(service.submits.length);
    }
  });
});
