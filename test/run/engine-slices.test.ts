import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Clock } from '../../src/run/clock.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { become } from '../../src/run/machine/job.ts';
import type { CellSource, OtherRecords } from '../../src/run/ports.ts';
import { type LateFact, StateError, type Turn } from '../../src/state/store.ts';
import { failure } from '../rig/failure.ts';
import { FencedState } from '../rig/fenced/fenced-state.ts';
import { fencedSource, fencedStore } from '../rig/fenced/fenced-store.ts';
import { WorkerView } from '../rig/fenced/worker-view.ts';
import type { ScriptedGateway } from '../rig/gateway/scripted-gateway.ts';
import { planOf } from '../rig/plan.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { jobRecord } from '../state/records.ts';
import { jumpingClock, run } from './engine-rig.ts';

const text = `name: t
matrix: { turn: { from: 1, to: 2 }, n: { from: 1, to: 3 } }
steps:
  grid: { imagine: "picture {{ n }}", path: U1 }
`;

/** What a run of two slices needs that ask for the same jobs. */
async function worker(state = new FencedState()) {
  const { plan, cells } = await planOf(text);
  const view = new WorkerView(state);
  const slices = [cells.slice(0, 3), cells.slice(3)];
  const source = fencedSource(state, view, slices);
  const key = (cells[0] && plan.resolve(cells[0], () => undefined)[0]?.job?.key) ?? '';
  return { state, view, source, key, store: fencedStore(state, view) };
}

const settings = { limits: { tasks: 6, requests: 8 } };

const forbidden = failure('service.rejected', 'permanent', {
  status: 403,
  message: 'no credit',
  serviceMessage: 'no credit',
});

const statuses = (state: FencedState): readonly string[] =>
  [...state.rows.values()].map(({ record }) => record.status);

/** Another worker writes this record for a slice of its own. */
function writesElsewhere(state: FencedState, record: JobRecord, number: number): void {
  state.commit({
    number,
    turn: {
      records: [record],
      attempts: [],
      slices: { of: new Map([[record.key, 9]]), epochs: new Map([[9, state.epochOf(9)]]), basis: new Map() },
    },
  });
}

describe('the engine, on one of several machines', () => {
  it('runs the slices that it is given, and ends each when that is durable', async () => {
    const { state, source, store } = await worker();
    const open: number[] = [];
    const listener = (event: RunEvent): void => {
      if (event.type === 'slice:end') open.push(statuses(state).filter((status) => status !== 'done').length);
    };
    const { end, service, submits } = await run({ text, store, source, settings, listener });
    expect(end).toEqual({ kind: 'complete' });
    expect(source.ends.toSorted()).toEqual(['1/1 closed', '2/1 closed']);
    expect(open).toEqual([0, 0]);
    expect(statuses(state)).toEqual(Array.from({ length: 6 }, () => 'done'));
    expect([service.submits.length, submits]).toEqual([6, 6]);
    // What was served the workers keep together.
    expect(['limits', 'service'].map((name) => store.fact(`learned.${name}`) === undefined)).toEqual([
      false,
      true,
    ]);
  });

  it('leaves the rows of unserved kinds to a later run, requests each once a run, and reports it', async () => {
    const { state, ...before } = await worker();
    const service = () => ({ begin: () => Promise.resolve({ ok: false, error: forbidden } as const) });
    const { end, events, submits } = await run({ text, ...before, settings, service });
    expect([submits, statuses(state), before.source.ends.length]).toEqual([
      3,
      Array.from({ length: 3 }, () => 'pending'),
      2,
    ]);
    expect(end).toEqual({
      kind: 'stopped',
      code: 'route.refused',
      message:
        'The service served none of the imagine requests of a worker. Its answer: no credit. 3 jobs of imagine wait for a later run.',
    });
    expect(events.some((event) => event.type === 'run:notice')).toBe(false);
    const again = await run({ text, ...(await worker(state)), settings, service });
    expect([again.submits, statuses(state)]).toEqual([3, Array.from({ length: 3 }, () => 'pending')]);
    expect(again.end).toEqual(end);
  });

  it('does not send a request that another slice wrote first, and continues from its result', async () => {
    const before = await worker();
    await run({ text, ...before, settings });
    const done = before.state.rows.get(before.key)?.record;
    if (done === undefined) throw new Error('no record');

    const { state, source, store, key } = await worker();
    state.claim(9);
    let looks = 0;
    const others: OtherRecords = {
      ...whole(store.others),
      read: (keys) => {
        expect(keys).toEqual([key]);
        looks += 1;
        if (looks === 3) writesElsewhere(state, done, 2);
        return whole(store.others).read(keys);
      },
    };
    const slices: CellSource = {
      ...source,
      next: async (most, signal) => {
        const batch = await source.next(most, signal);
        // It is written once the worker has read what its cells ask for.
        if (looks === 0) writesElsewhere(state, become(done, 'running'), 1);
        return batch;
      },
    };
    const { end, service } = await run({ text, store: { ...store, others }, source: slices, settings });
    expect([end, looks]).toEqual([{ kind: 'complete' }, 3]);
    expect(service.submits.map((submit) => submit.key)).not.toContain(key);
    expect(service.submits).toHaveLength(5);
    expect(statuses(state)).toEqual(Array.from({ length: 6 }, () => 'done'));
  });

  it('forgets a slice that is lost, and keeps its late results as facts', async () => {
    const { state, source, store } = await worker();
    const { end, service } = await run({
      text,
      store,
      source,
      service: (port) => ({
        begin: async (...request) => {
          // Somebody else takes each slice while its first submission is under way.
          for (const slice of [1, 2]) {
            if (state.epochOf(slice) !== 1) continue;
            state.claim(slice);
            source.lose({ slice, epoch: 1 });
          }
          return port.begin(...request);
        },
      }),
    });
    expect(end).toEqual({ kind: 'complete' });
    expect(source.ends.toSorted()).toEqual(['1/1 lost', '2/1 lost']);
    expect(statuses(state)).toEqual(service.submits.map(() => 'submitting'));
    const left = [1, 2].flatMap((slice) => state.claim(slice).left);
    expect(left.map(({ lateFact }) => lateFact?.taskId)).toEqual(
      service.submits.map(() => expect.any(String)),
    );
    expect(left.every(({ sender }) => sender === undefined)).toBe(true);
  });
});

describe('the results of paid requests, on one of several machines', () => {
  /** A log of results, and those that were reported as durable though the state did not have them. */
  function logOf(state: FencedState) {
    const noted: LateFact[] = [];
    const early: LateFact[] = [];
    let told = 0;
    const resultLog = {
      note: (fact: LateFact) => noted.push(fact),
      durable: (upTo: number) => {
        const isKept = ({ key, taskId }: LateFact): boolean =>
          state.attempts(key).some((attempt) => attempt.taskId === taskId);
        early.push(...noted.slice(told, upTo).filter((fact) => !isKept(fact)));
        told = upTo;
      },
    };
    return { noted, early, resultLog, told: () => told };
  }

  it('are reported as durable once the state has them, however commits wait and fail', async () => {
    const { state, source, store } = await worker();
    const { noted, early, resultLog, told } = logOf(state);
    let commits = 0;
    const slow = {
      ...store,
      commit: async (turn: Turn) => {
        commits += 1;
        for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
        if (commits % 2 === 0) throw new StateError('state.busy', 'another program reads');
        return await store.commit(turn);
      },
    };
    const retry = { ...virtualSettings().retry, attempts: 9 };
    const { end } = await run({ text, store: slow, source, settings: { ...settings, retry }, resultLog });
    expect([end, noted.length, told(), early]).toEqual([{ kind: 'complete' }, 6, 6, []]);
  });

  it('are those of submissions and calls, not of confirms, which are durable with their click', async () => {
    const zoom = `name: t
steps:
  grid: { imagine: a fox, path: U1 }
  wide: { from: grid/U1, click: Custom Zoom, prompt: a fox --zoom 2 }
`;
    const { cells } = await planOf(zoom);
    const { state, view, store } = await worker();
    const { noted, resultLog } = logOf(state);
    let gateway: ScriptedGateway | undefined;
    const clock = jumpingClock();
    const { end, service } = await run({
      text: zoom,
      store,
      source: fencedSource(state, view, [cells]),
      resultLog,
      clock,
      seen: (seen) => {
        gateway = seen;
      },
      service: () => ({
        modal: ({ taskId }) => {
          const record = [...state.rows.values()].find((row) => row.record.modal?.taskId === taskId)?.record;
          const answered = record && gateway?.modal(record, clock.now()).result;
          if (answered === undefined || 'unread' in answered) throw new Error('no modal');
          return Promise.resolve(answered);
        },
      }),
    });
    expect([end, service.modals.length, noted.length]).toEqual([
      { kind: 'complete' },
      1,
      service.submits.length,
    ]);
  });

  it('are logged for slices only: on one machine nobody else could ask for them', async () => {
    const { noted, resultLog } = logOf(new FencedState());
    const { end } = await run({ text, resultLog });
    expect([end, noted]).toEqual([{ kind: 'complete' }, []]);
  });
});

describe('the engine that ends, on one of several machines', () => {
  it('keeps a result as a fact where the last commit finds its slice lost', async () => {
    const { state, source, store } = await worker();
    const leave = new AbortController();
    const noted: LateFact[] = [];
    let told = 0;
    const { end, service } = await run({
      text,
      store,
      source,
      resultLog: {
        note: (fact) => noted.push(fact),
        durable: (upTo) => {
          for (const fact of noted.slice(0, upTo)) expect(state.hasFact(fact)).toBe(true);
          told = upTo;
        },
      },
      control: { leave: leave.signal },
      service: (port) => ({
        begin: async (...request) => {
          const result = await port.begin(...request);
          state.claim(1);
          leave.abort();
          return result;
        },
      }),
    });
    expect(end).toEqual({ kind: 'interrupted', forced: true });
    expect(state.claim(1).left.map(({ lateFact }) => lateFact?.taskId)).toEqual([...service.tasks.keys()]);
    expect([service.tasks.size, noted.length, told]).toEqual([1, 1, 1]);
  });

  it('takes up no job of a slice that comes when the user has left', async () => {
    const { state, view, source, store, key } = await worker();
    // An earlier worker of the slice died while it submitted.
    const { epoch } = state.claim(1);
    const record = { ...jobRecord(key, 'submitting'), submittedAt: 1, submittedBy: `1/${epoch}` };
    const slices = { of: new Map([[key, 1]]), epochs: new Map([[1, epoch]]), basis: new Map() };
    state.commit({ number: 1, turn: { records: [record], attempts: [], slices } });
    const leave = new AbortController();
    const slow: CellSource = {
      ...source,
      next: async (most, signal) => {
        const batch = await source.next(most, signal);
        expect(batch.of?.left).toHaveLength(1);
        const isOver = new Promise((resolve) => signal.addEventListener('abort', resolve));
        leave.abort();
        await isOver;
        return batch;
      },
    };
    const { end, events } = await run({ text, store, source: slow, control: { leave: leave.signal } });
    expect([end, events.map(({ type }) => type)]).toEqual([
      { kind: 'interrupted', forced: true },
      ['run:start', 'run:end'],
    ]);
    expect([statuses(state), view.get(key)?.status]).toEqual([['submitting'], 'submitting']);
  });

  it('waits for the cells that are being read', async () => {
    const { source, store } = await worker();
    const drain = new AbortController();
    let isReading = false;
    const slow: CellSource = {
      ...source,
      next: async (most, signal) => {
        if (!drain.signal.aborted && source.ends.length === 0) {
          const batch = await source.next(most, signal);
          if (!batch.last) return batch;
        }
        isReading = true;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
        isReading = false;
        return { cells: [], last: true };
      },
    };
    const { end } = await run({
      text,
      store,
      source: slow,
      settings,
      control: { drain: drain.signal },
      listener: () => {
        if (isReading) drain.abort();
      },
    });
    expect([end, isReading]).toEqual([{ kind: 'interrupted', forced: false }, false]);
  });

  it('leaves no timer behind', async () => {
    const { state, source, store, key } = await worker();
    state.claim(9);
    const leave = new AbortController();
    const inner = jumpingClock();
    /** Those that would fire after the user has left. */
    const timers = new Set<unknown>();
    const clock: Clock = {
      now: () => inner.now(),
      at: (atMs, call) => {
        const timer = {};
        timers.add(timer);
        const cancel = inner.at(atMs, () => {
          if (leave.signal.aborted) return;
          timers.delete(timer);
          call();
        });
        return () => {
          timers.delete(timer);
          cancel();
        };
      },
    };
    const slices: CellSource = {
      ...source,
      next: async (most, signal) => {
        const batch = await source.next(most, signal);
        writesElsewhere(state, { ...jobRecord(key, 'running'), taskId: '7' }, 1);
        return batch;
      },
    };
    let looks = 0;
    const others: OtherRecords = {
      ...whole(store.others),
      read: (keys) => {
        looks += 1;
        return whole(store.others).read(keys);
      },
    };
    await run({
      text,
      clock,
      settings,
      store: { ...store, others },
      source: slices,
      control: { leave: leave.signal },
      listener: (event) => {
        if (looks > 0 && event.type === 'job:status') leave.abort();
      },
    });
    expect([looks > 0, timers.size]).toEqual([true, 0]);
  });
});

function whole<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('nothing is there');
  return value;
}
