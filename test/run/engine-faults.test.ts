import { describe, expect, it } from 'vitest';
import { learnedFact } from '../../src/run/limits/learned.ts';
import { serviceText } from '../../src/run/limits/learned-limits.ts';
import type { ImageService } from '../../src/service/image-service.ts';
import { StateError } from '../../src/state/store.ts';
import { failure } from '../rig/failure.ts';
import { faultyStore } from '../rig/faulty-store.ts';
import type { ScriptedGateway } from '../rig/gateway/scripted-gateway.ts';
import { type MemoryStore, memoryStore } from '../rig/memory-store.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { jumpingClock, run, text } from './engine-rig.ts';

/** Twelve submissions that are answered a while after they were sent. */
const slowly = () => ({
  text: text.replace('to: 5', 'to: 12'),
  settings: { limits: { tasks: 12, requests: 16 } },
  service: (port: ImageService): Partial<ImageService> => ({
    begin: async (...request) => {
      const result = await port.begin(...request);
      const [, signal] = request;
      for (let turns = 0; turns < 6 && !signal.aborted; turns++)
        await new Promise((resolve) => setImmediate(resolve));
      return signal.aborted ? { ok: false, error: failure('connection.aborted', 'lost') } : result;
    },
  }),
});

const inDoubt = (store: MemoryStore): readonly string[] =>
  store.unfinished().flatMap(({ key, status }) => (status === 'submitting' ? [key] : []));

describe('the engine', () => {
  it('ends with the disk’s error, and sends nothing of a turn that could not be made durable', async () => {
    const store = memoryStore();
    const faulty = faultyStore(store, [{ at: 3, fault: 'state.full' }]);
    const { end, service } = await run({ store: faulty });
    expect(end).toMatchObject({ kind: 'disk', code: 'state.full' });
    // The fourth is the last try of all, with the results received since.
    expect([faulty.writes, faulty.turns.length]).toEqual([4, 3]);
    expect(service.submits.length).toBe(store.totals().attempts);
    expect(store.unfinished().filter(({ status }) => status === 'submitting')).toEqual([]);
  });

  it('tries a commit again only once it has rested, however many results come meanwhile', async () => {
    const store = memoryStore();
    const tries: number[] = [];
    const clock = jumpingClock(30);
    const busy = {
      ...store,
      commit: (turn: Parameters<typeof store.commit>[0]) => {
        tries.push(clock.now());
        if (tries.length > 3 && tries.length < 7) throw new StateError('state.busy', 'another program reads');
        store.commit(turn);
      },
    };
    let begun = 0;
    const service = (port: ImageService): Partial<ImageService> => ({
      begin: async (...request) => {
        begun += 1;
        // One answer after the other.
        for (let turns = 3 * begun; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
        return await port.begin(...request);
      },
    });
    const { end } = await run({ ...slowly(), service, store: busy, clock });
    expect(end).toEqual({ kind: 'complete' });
    const { baseMs } = virtualSettings().retry;
    const rests = [4, 5, 6].map((at) => (tries[at] ?? 0) - (tries[at - 1] ?? 0));
    expect(rests.map((rest) => rest >= baseMs)).toEqual([true, true, true]);
  });

  it.each(['state.full', 'state.io', 'state.busy'])(
    'keeps the results of requests in flight when a commit fails once (%s) at any moment',
    async (fault) => {
      let kept = 0;
      for (let at = 1; at < 12; at++) {
        const store = memoryStore();
        const { end, service, submits } = await run({
          ...slowly(),
          store: faultyStore(store, [{ at, fault: fault as 'state.full' }]),
          settings: {
            limits: { tasks: 12, requests: 16 },
            retry: { ...virtualSettings().retry, attempts: 1 },
          },
        });
        expect(inDoubt(store), `commit ${at}`).toEqual([]);
        expect([store.totals().attempts, submits]).toEqual([service.submits.length, service.submits.length]);
        const known = new Set(
          [...store.unfinished(), ...store.withStatus('done')].map(({ taskId }) => taskId),
        );
        expect([...service.tasks.keys()].filter((id) => !known.has(id))).toEqual([]);
        if (end.kind === 'disk') kept += 1;
      }
      expect(kept).toBeGreaterThan(5);
    },
  );

  it('waits for a state that another program locks, and sends nothing meanwhile', async () => {
    for (let at = 1; at < 10; at++) {
      const store = memoryStore();
      const busy = [at, at + 1, at + 2].map((one) => ({ at: one, fault: 'state.busy' as const }));
      const faulty = faultyStore(store, busy);
      const { end, service } = await run({ ...slowly(), store: faulty });
      expect(end).toEqual({ kind: 'complete' });
      expect([service.submits.length, store.totals().attempts]).toEqual([24, 24]);
    }
  });

  it('waits each time that another program locks the state, however often it did before', async () => {
    const busy = [1, 3, 5, 7, 9, 11, 13].map((at) => ({ at, fault: 'state.busy' as const }));
    const { end, service } = await run({ store: faultyStore(memoryStore(), busy) });
    expect(end).toEqual({ kind: 'complete' });
    expect(service.submits.length).toBe(10);
  });

  it('ends when another program locks the state for retry.attempts tries', async () => {
    const store = memoryStore();
    const faulty = faultyStore(store, [{ at: 2, fault: 'state.busy', lasting: true }]);
    const { end } = await run({ store: faulty });
    expect(end).toMatchObject({ kind: 'disk', code: 'state.busy' });
    // One, six tries, one before what is paid is waited for, and the last of all.
    expect(faulty.writes).toBe(1 + 6 + 1 + 1);
  });

  it('ends with sent submissions in doubt when the disk stays full', async () => {
    const store = memoryStore();
    const { end, service } = await run({
      ...slowly(),
      store: faultyStore(store, [{ at: 2, fault: 'state.full', lasting: true }]),
    });
    expect(end).toMatchObject({ kind: 'disk', code: 'state.full' });
    expect(inDoubt(store)).toHaveLength(service.submits.length);
  });

  it('ends at once at a second signal after a disk failure', async () => {
    const store = memoryStore();
    // A service that was served before gets more than one at a time.
    const served = { served: ['submit/imagine'], hasAnswered: true, showsButtons: true };
    store.setFact(learnedFact('service'), serviceText({ address: '', ...served }));
    const leave = new AbortController();
    const { end } = await run({
      store: faultyStore(store, [{ at: 2, fault: 'state.full' }]),
      settings: { limits: { tasks: 2, requests: 4 } },
      control: { leave: leave.signal },
      listener: (event) => {
        if (event.type === 'run:stopping') leave.abort();
      },
      service: (port) => {
        let sent = 0;
        return {
          begin: async (...request) => {
            const [, signal] = request;
            sent += 1;
            if (sent > 1) return await port.begin(...request);
            return await new Promise((resolve) => {
              const abort = (): void => resolve({ ok: false, error: failure('connection.aborted', 'lost') });
              signal.addEventListener('abort', abort);
            });
          },
        };
      },
    });
    expect(end).toMatchObject({ kind: 'disk', code: 'state.full' });
    expect(inDoubt(store)).toHaveLength(1);
    expect([...store.withStatus('running')]).toHaveLength(1);
  });

  it('keeps results that have come, and those of requests in flight, when a bug ends it', async () => {
    const bug = new TypeError('Internal error: made up');
    for (let at = 1; at < 12; at++) {
      const store = memoryStore();
      let fetches = 0;
      const slow = slowly();
      let service: ScriptedGateway | undefined;
      const running = run({
        ...slow,
        store,
        service: (port) => ({
          ...slow.service(port),
          fetchTask: (...request) => {
            fetches += 1;
            return fetches === at ? Promise.reject(bug) : port.fetchTask(...request);
          },
        }),
        listener: () => undefined,
        seen: (one) => {
          service = one;
        },
      });
      await expect(running).rejects.toBe(bug);
      expect(inDoubt(store)).toEqual([]);
      expect(store.totals().attempts).toBe(service?.submits.length);
    }
  });

  it('ends with the disk’s error where submissions cannot be counted, sends none of them, and puts none in doubt', async () => {
    for (let at = 1; at < 6; at++) {
      const inner = memoryStore();
      let counts = 0;
      const store: MemoryStore = {
        ...inner,
        countSubmissions: () => {
          counts += 1;
          if (counts >= at) throw new StateError('state.io', 'The count could not be written.');
          inner.countSubmissions();
        },
      };
      const { end, submits, service } = await run({ store, settings: { limits: { tasks: 4, requests: 4 } } });
      expect(end).toMatchObject({ kind: 'disk', code: 'state.io' });
      expect(inner.totals().jobs).toMatchObject({ submitting: 0, 'in-doubt': 0 });
      expect([inner.totals().attempts, submits]).toEqual([service.submits.length, service.submits.length]);
      const keys = [...inner.withStatus('running'), ...inner.withStatus('done')].map(({ key }) => key);
      for (const key of keys) expect(inner.attempts(key)).toHaveLength(1);
    }
  });

  it('ends with a bug of the store, not with a disk error', async () => {
    const bug = new TypeError('Internal error: made up');
    const store = memoryStore();
    const broken = {
      ...store,
      commit: () => {
        throw bug;
      },
    };
    await expect(run({ store: broken })).rejects.toBe(bug);
  });
});
