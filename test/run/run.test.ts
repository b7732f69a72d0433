import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/run/clock.ts';
import type { RunEvent } from '../../src/run/events.ts';
import type { RunPorts, RunReport, RunSettings } from '../../src/run/ports.ts';
import { runPlan } from '../../src/run/run.ts';
import type { ImageService } from '../../src/service/image-service.ts';
import type { TextService } from '../../src/service/text-service.ts';
import { StateError, type StateStore } from '../../src/state/store.ts';
import { faultyStore } from '../rig/faulty-store.ts';
import { epoch } from '../rig/jobs.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { planOf } from '../rig/plan.ts';
import { keptNowhere, noText } from '../rig/text-ports.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { failure, textReply, VirtualService } from '../rig/virtual-service.ts';

const text = `name: t
matrix: { n: { from: 1, to: 5 } }
steps:
  grid: { imagine: "picture {{ n }}", path: U1 }
`;

/** A clock that jumps to the next moment that is waited for, once everything else has had its turn. */
function jumpingClock(): Clock {
  let now = epoch;
  return {
    now: () => now,
    at: (atMs, call) => {
      const immediate = setImmediate(() => {
        now = Math.max(now, atMs);
        call();
      });
      return () => clearImmediate(immediate);
    },
  };
}

/** What was said of the disk; this clock's jumps look like sleep, and that is said too. */
const saidOfDisk = (events: readonly RunEvent[]): readonly RunEvent[] =>
  events.filter((event) => event.type === 'run:notice' && event.code === 'disk.low');

/** The virtual service behind the port, with what a test puts in between. */
function portOf(
  service: VirtualService,
  clock: Clock,
  store: StateStore,
  before: Partial<ImageService> = {},
): ImageService {
  const submit = ({ tag = '', taskId }: { readonly tag?: string; readonly taskId?: string }) => {
    const record = store.get(tag);
    // The intent is durable before the request leaves; a request without one is a bug that this finds.
    if (record?.status !== 'submitting') throw new Error('A submission left before its intent was durable.');
    return service.submit(record, taskId, clock.now());
  };
  return {
    imagine: (request) => Promise.resolve(submit(request)),
    action: (request) => Promise.resolve(submit(request)),
    modal: (request) => Promise.resolve(submit(request)),
    begin: (request) => Promise.resolve(submit(request.tag === undefined ? {} : { tag: request.tag })),
    fetchTask: (id) => Promise.resolve(service.fetch(id, clock.now())),
    fetchTasks: (ids) => {
      const answers = ids.map((id) => service.fetch(id, clock.now()));
      return Promise.resolve({
        ok: true,
        value: answers.flatMap((answer) => (answer.ok ? answer.value : [])),
      });
    },
    close: () => Promise.resolve(),
    ...before,
  };
}

async function run(
  change: {
    readonly store?: StateStore;
    readonly service?: (port: ImageService) => Partial<ImageService>;
    readonly settings?: Partial<RunSettings>;
    readonly listener?: (event: RunEvent) => void;
    readonly control?: { readonly drain?: AbortSignal; readonly leave?: AbortSignal };
    readonly text?: string;
    readonly ask?: TextService['ask'];
    readonly steps?: ReadonlySet<string>;
    readonly artifacts?: Partial<RunPorts['artifacts']>;
    readonly disk?: RunPorts['disk'];
    readonly clock?: Clock;
    /** Is shown the service before the run begins. */
    readonly seen?: (service: VirtualService) => void;
  } = {},
): Promise<RunReport & { readonly service: VirtualService; readonly events: readonly RunEvent[] }> {
  const { plan } = await planOf(change.text ?? text);
  const store = change.store ?? memoryStore();
  const clock = change.clock ?? jumpingClock();
  const service = new VirtualService();
  change.seen?.(service);
  const port = portOf(service, clock, store);
  const ports: RunPorts = {
    store,
    clock,
    random: () => 0.5,
    service: { ...port, ...change.service?.(port) },
    ...noText,
    ...(change.ask === undefined ? {} : { text: { ...noText.text, ask: change.ask } }),
    artifacts: {
      save: ({ key }) => Promise.resolve(service.save(key)),
      keep: keptNowhere,
      close: () => Promise.resolve(),
      ...change.artifacts,
    },
    ...(change.disk && { disk: change.disk }),
  };
  const events: RunEvent[] = [];
  const never = new AbortController().signal;
  const report = await runPlan(
    {
      cells: (selection) => plan.matrix.cells(selection),
      resolve: (cell, lookup) => plan.resolve(cell, lookup),
      price: () => undefined,
      ...(change.steps === undefined ? {} : { steps: change.steps }),
    },
    {},
    virtualSettings({ limits: { tasks: 1, requests: 4 }, ...change.settings }),
    ports,
    { drain: change.control?.drain ?? never, leave: change.control?.leave ?? never },
    (event) => {
      events.push(event);
      change.listener?.(event);
    },
  );
  return { ...report, service, events };
}

describe('the engine', () => {
  it('carries a plan out, each intent durable before its request', async () => {
    const { end, submits, service, events } = await run();
    expect([end, submits, service.made.size]).toEqual([{ kind: 'complete' }, 10, 10]);
    expect(events[0]?.type).toBe('run:start');
    expect(events.at(-1)).toEqual({ type: 'run:end', end: { kind: 'complete' } });
  });

  it('looks how much of the disk is free when it begins, and each minute after; low space is said before anything is sent', async () => {
    const directory = '/work/runs/t';
    const disk = (free: (looks: number) => number) => {
      let looks = 0;
      return {
        directory,
        jobsLeft: 10,
        made: { jobs: 0, bytes: 0 },
        freeBytes: () => free((looks += 1)),
        looks: () => looks,
      };
    };
    const order: string[] = [];
    const store = memoryStore();
    const full = await run({
      store: {
        ...store,
        unfinished: () => {
          order.push('state');
          return store.unfinished();
        },
      },
      disk: disk(() => {
        order.push('disk');
        return 1_000;
      }),
    });
    expect(order).toEqual(['disk', 'state']);
    expect(full.end).toEqual({ kind: 'complete' });
    expect(full.events.slice(0, 2)).toMatchObject([
      { type: 'run:start' },
      { type: 'run:notice', code: 'disk.low', message: expect.stringContaining(directory) },
    ]);
    expect(saidOfDisk(full.events)).toHaveLength(1);

    const filling = disk((looks) => (looks < 3 ? 1e12 : 1_000));
    expect(saidOfDisk((await run({ disk: filling })).events)).toHaveLength(1);
    // At the third look, and nobody looks again.
    expect(filling.looks()).toBe(3);

    const wide = disk(() => 1e12);
    const { events, startedAt, finishedAt } = await run({ disk: wide });
    expect(saidOfDisk(events)).toEqual([]);
    expect(wide.looks()).toBeGreaterThan(2);
    expect(wide.looks()).toBeLessThanOrEqual(1 + (finishedAt - startedAt) / 60_000);
  });

  it('counts what it makes as what the rest of it will need', async () => {
    const large = await run({
      text: text.replace('to: 5', 'to: 20'),
      artifacts: {
        save: ({ key }) =>
          Promise.resolve({
            ok: true,
            value: { output: 1, file: `images/${key}.png`, bytes: 1e9, sha256: key, mime: 'image/png' },
          }),
      },
      disk: { directory: '/d', jobsLeft: 40, made: { jobs: 0, bytes: 0 }, freeBytes: () => 20e9 },
    });
    expect(large.end).toEqual({ kind: 'complete' });
    expect(saidOfDisk(large.events)).toMatchObject([
      { code: 'disk.low', message: expect.stringContaining('20.0 GB are free for /d, and the files') },
    ]);
  });

  it('ends with the disk’s error, and sends nothing of a turn that could not be made durable', async () => {
    const store = memoryStore();
    const faulty = faultyStore(store, [{ at: 3, fault: 'state.full' }]);
    const { end, service } = await run({ store: faulty });
    expect(end).toMatchObject({ kind: 'disk', code: 'state.full' });
    // The fourth is the last try of all, with what was heard since.
    expect([faulty.writes, faulty.turns.length]).toEqual([4, 3]);
    expect(service.submits.length).toBe(store.totals().attempts);
    expect(store.unfinished().filter(({ status }) => status === 'submitting')).toEqual([]);
  });

  it('sets no alarm that outlives it: nothing keeps a process from its end', async () => {
    const inner = jumpingClock();
    const alarms = new Set<object>();
    const clock: Clock = {
      now: () => inner.now(),
      at: (atMs, call) => {
        const alarm = {};
        alarms.add(alarm);
        const cancel = inner.at(atMs, () => {
          alarms.delete(alarm);
          call();
        });
        return () => {
          alarms.delete(alarm);
          cancel();
        };
      },
    };
    expect((await run({ clock })).end).toEqual({ kind: 'complete' });
    expect(alarms.size).toBe(0);
    const leave = new AbortController();
    const listener = (event: RunEvent): void => {
      if (event.type === 'request:end') leave.abort();
    };
    const left = await run({ clock, listener, control: { leave: leave.signal } });
    expect(left.end).toEqual({ kind: 'interrupted', forced: true });
    expect(alarms.size).toBe(0);
  });

  it('goes on whatever a listener throws, and reports it', async () => {
    const oops = new Error('oops');
    const { end, listenerError } = await run({
      listener: () => {
        throw oops;
      },
    });
    expect([end, listenerError]).toEqual([{ kind: 'complete' }, oops]);
  });

  it('rejects with a bug instead of hanging or hiding it', async () => {
    const bug = new TypeError('Internal error: made up');
    await expect(run({ service: () => ({ fetchTask: () => Promise.reject(bug) }) })).rejects.toBe(bug);
  });

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
          const answer = await port.imagine(...request);
          leave.abort();
          return answer;
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

  /** Twelve submissions that are answered a while after they were sent. */
  const slowly = (more: { readonly heard?: () => void; readonly signal?: AbortSignal } = {}) => ({
    text: text.replace('to: 5', 'to: 12'),
    settings: { limits: { tasks: 12, requests: 16 } },
    service: (port: ImageService): Partial<ImageService> => ({
      imagine: async (...request) => {
        const answer = await port.imagine(...request);
        const [, signal] = request;
        for (let turns = 0; turns < 6 && !signal.aborted; turns++)
          await new Promise((resolve) => setImmediate(resolve));
        more.heard?.();
        return signal.aborted ? { ok: false, error: failure('connection.aborted', 'lost') } : answer;
      },
    }),
  });
  const inDoubt = (store: StateStore): readonly string[] =>
    store.unfinished().flatMap(({ key, status }) => (status === 'submitting' ? [key] : []));

  it.each(['state.full', 'state.io', 'state.busy'])(
    'ended by a commit that failed once (%s) at any moment, keeps what the requests under way come to',
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

  it('waits for a state that another program holds, and sends nothing in the meantime', async () => {
    for (let at = 1; at < 10; at++) {
      const store = memoryStore();
      const busy = [at, at + 1, at + 2].map((one) => ({ at: one, fault: 'state.busy' as const }));
      const faulty = faultyStore(store, busy);
      const { end, service } = await run({ ...slowly(), store: faulty });
      expect(end).toEqual({ kind: 'complete' });
      expect([service.submits.length, store.totals().attempts]).toEqual([24, 24]);
    }
  });

  it('gives a state up that is held for as long as a request is tried', async () => {
    const store = memoryStore();
    const faulty = faultyStore(store, [{ at: 2, fault: 'state.busy', lasting: true }]);
    const { end } = await run({ store: faulty });
    expect(end).toMatchObject({ kind: 'disk', code: 'state.busy' });
    // One, six tries, and the last of all.
    expect(faulty.writes).toBe(1 + 6 + 1);
  });

  it('whose disk stays full ends as it is, what was sent in doubt', async () => {
    const store = memoryStore();
    const { end, service } = await run({
      ...slowly(),
      store: faultyStore(store, [{ at: 2, fault: 'state.full', lasting: true }]),
    });
    expect(end).toMatchObject({ kind: 'disk', code: 'state.full' });
    expect(inDoubt(store)).toHaveLength(service.submits.length);
  });

  it('whose disk has failed is still left at once by a second signal', async () => {
    const store = memoryStore();
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
          imagine: async (...request) => {
            const [, signal] = request;
            sent += 1;
            if (sent > 1) return await port.imagine(...request);
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

  it('ended by a bug, keeps what was heard, and what the requests under way come to', async () => {
    const bug = new TypeError('Internal error: made up');
    for (let at = 1; at < 12; at++) {
      const store = memoryStore();
      let heard = 0;
      const slow = slowly();
      let service: VirtualService | undefined;
      const running = run({
        ...slow,
        store,
        service: (port) => ({
          ...slow.service(port),
          fetchTask: (...look) => {
            heard += 1;
            return heard === at ? Promise.reject(bug) : port.fetchTask(...look);
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

  it('of an answer that calls functions keeps the round, though its next one is never sent', async () => {
    const store = memoryStore();
    const weather = `name: t
steps:
  weather:
    generate: { model: text-pro, prompt: How is the weather?, functions: { wind: { answer: calm } } }
`;
    let asked = 0;
    const ask: TextService['ask'] = () => {
      asked += 1;
      return Promise.resolve({ ok: true, value: textReply({ functionCalls: [{ name: 'wind', args: {} }] }) });
    };
    await run({ text: weather, store: faultyStore(store, [{ at: 2, fault: 'state.full' }]), ask });
    const [record] = store.withStatus('pending');
    expect([asked, record?.turns?.length, record?.attempts, record?.usage?.total]).toEqual([1, 2, 1, 15]);
  });

  it('counts a submission once its intent is durable, and sends it once it is counted', async () => {
    const inner = memoryStore();
    const steps: string[] = [];
    const store: StateStore = {
      ...inner,
      commit: (turn) => {
        inner.commit(turn);
        if (turn.submits !== undefined && turn.submits > 0) steps.push(`commit ${turn.submits}`);
      },
      countSubmissions: () => {
        inner.countSubmissions();
        steps.push('count');
      },
    };
    const counts: number[] = [];
    const { end, submits } = await run({
      store,
      settings: { limits: { tasks: 2, requests: 4 } },
      service: (port) => {
        const sent = <T>(send: () => T): T => {
          steps.push('send');
          counts.push(inner.submissions().counted);
          return send();
        };
        return {
          imagine: (...request) => sent(() => port.imagine(...request)),
          action: (...request) => sent(() => port.action(...request)),
        };
      },
    });
    expect([end, submits]).toEqual([{ kind: 'complete' }, 10]);
    expect(inner.submissions()).toEqual({ known: 10, counted: 10 });
    // One count a turn, between the commit of its intents and the first of its requests.
    let turn: string[] = [];
    for (const step of steps) {
      if (step.startsWith('commit')) turn = [step];
      else turn.push(step);
      expect(turn.slice(0, 2)).toEqual([turn[0], 'count'].slice(0, turn.length));
      expect(turn.filter((one) => one === 'count').length).toBeLessThanOrEqual(1);
    }
    expect(counts.every((counted, at) => counted >= at + 1)).toBe(true);
  });

  it('ends for want of a disk where submissions cannot be counted: none of them is sent, none is in doubt', async () => {
    for (let at = 1; at < 6; at++) {
      const inner = memoryStore();
      let counts = 0;
      const store: StateStore = {
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

  it('makes a bug of the store its own end, not a full disk', async () => {
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

  it('says how each request ended, in the service’s words where it failed', async () => {
    let refused = false;
    const { events } = await run({
      service: (port) => ({
        imagine: (...request) => {
          if (refused) return port.imagine(...request);
          refused = true;
          return Promise.resolve({ ok: false, error: failure('service.throttled', 'throttle') });
        },
      }),
    });
    const ends = events.filter((event) => event.type === 'request:end');
    expect(ends[0]).toMatchObject({ outcome: 'service.throttled', message: 'service.throttled (made up)' });
    const outcomes = new Set(ends.map(({ route, outcome }) => `${route} ${outcome}`));
    expect([...outcomes]).toEqual(
      expect.arrayContaining(['submit accepted', 'poll SUCCESS', 'download saved']),
    );
  });

  it('sends the extra fields of a step, and runs only the steps it was told to', async () => {
    const extra: unknown[] = [];
    const { end, submits } = await run({
      text: `name: t
steps:
  grid: { imagine: a fox, extra: { notify: no } }
  other: { imagine: an owl }
`,
      steps: new Set(['grid']),
      service: (port) => ({
        imagine: (request, signal) => {
          extra.push(request.extra);
          return port.imagine(request, signal);
        },
      }),
    });
    expect([end, submits, extra]).toEqual([{ kind: 'complete' }, 1, [{ notify: 'no' }]]);
  });

  it('told to stop before it began, does nothing', async () => {
    const { end, service } = await run({ control: { drain: AbortSignal.abort() } });
    expect([end, service.submits.length]).toEqual([{ kind: 'interrupted', forced: false }, 0]);
  });
});

describe('text calls of the engine', () => {
  const captions = `name: t
matrix: { n: { from: 1, to: 3 } }
steps:
  caption: { generate: { model: text-pro, prompt: "Caption {{ n }}." } }
`;

  it('are made from their durable intent to their durable end', async () => {
    const store = memoryStore();
    const prompts: unknown[] = [];
    const { end, submits, tokens, events } = await run({
      text: captions,
      store,
      ask: ({ fields }) => {
        prompts.push(fields['prompt']);
        expect(store.unfinished().some(({ request }) => request.fields['prompt'] === fields['prompt'])).toBe(
          true,
        );
        return Promise.resolve({ ok: true, value: textReply({ text: 'A fox.' }) });
      },
    });
    expect([end, submits, tokens]).toEqual([{ kind: 'complete' }, 3, 45]);
    expect(new Set(prompts)).toEqual(new Set(['Caption 1.', 'Caption 2.', 'Caption 3.']));
    expect(
      [...store.withStatus('done')].map(({ text, artifacts }) => [
        text?.candidates[0]?.text,
        artifacts.length,
      ]),
    ).toEqual(Array.from({ length: 3 }, () => ['A fox.', 1]));
    const ends = events.filter((event) => event.type === 'request:end');
    expect(ends.map(({ route, outcome }) => [route, outcome])).toEqual(
      Array.from({ length: 3 }, () => ['text', 'done']),
    );
    expect(events.filter((event) => event.type === 'job:status' && event.to === 'done')).toMatchObject([
      { usage: { total: 15 } },
      { usage: { total: 15 } },
      { usage: { total: 15 } },
    ]);
  });

  it('that are broken off when the run is left stay as they were sent', async () => {
    const store = memoryStore();
    const leave = new AbortController();
    const { end } = await run({
      text: captions,
      store,
      control: { leave: leave.signal },
      ask: (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () =>
            resolve({ ok: false, error: failure('connection.aborted', 'retry') }),
          );
          leave.abort();
        }),
    });
    expect(end).toEqual({ kind: 'interrupted', forced: true });
    expect(store.totals().jobs).toMatchObject({ submitting: 3, 'in-doubt': 0 });
    const { end: next } = await run({
      text: captions,
      store,
      ask: () => Promise.resolve({ ok: true, value: textReply({ text: 'A fox.' }) }),
    });
    expect([next, store.totals().attempts]).toEqual([{ kind: 'complete' }, 6]);
  });
});
