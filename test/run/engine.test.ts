import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/run/clock.ts';
import type { RunEvent } from '../../src/run/events.ts';
import type { TextService } from '../../src/service/text-service.ts';
import { failure } from '../rig/failure.ts';
import { faultyStore } from '../rig/faulty-store.ts';
import { type MemoryStore, memoryStore } from '../rig/memory-store.ts';
import { textReply } from '../rig/text-reply.ts';
import { jumpingClock, run, text } from './engine-rig.ts';

/** What was said of the disk; this clock's jumps look like sleep, and that is said too. */
const saidOfDisk = (events: readonly RunEvent[]): readonly RunEvent[] =>
  events.filter((event) => event.type === 'run:notice' && event.code === 'disk.low');

describe('the engine', () => {
  it('runs a plan, each intent durable before its request', async () => {
    const { end, submits, service, events } = await run();
    expect([end, submits, service.works.size]).toEqual([{ kind: 'complete' }, 10, 10]);
    expect(events[0]?.type).toBe('run:start');
    expect(events.at(-1)).toEqual({ type: 'run:end', end: { kind: 'complete' } });
  });

  it('waits while a shared allowance is used up, continues when it is refilled, and removes its listener at the end', async () => {
    let left = 3;
    const listeners = new Set<() => void>();
    const refills: number[] = [];
    const { end, submits } = await run({
      shared: {
        allowance: {
          refusal: () => {
            if (left > 0) return void (left -= 1);
            // Others refill it, once each, while this run waits.
            setImmediate(() => {
              refills.push((left += 2));
              for (const listener of listeners) listener();
            });
            return 'wait';
          },
        },
        onMore: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
    });
    expect([end, submits]).toEqual([{ kind: 'complete' }, 10]);
    expect(refills.length).toBeGreaterThan(1);
    expect(listeners.size).toBe(0);
  });

  it('checks the free disk space at its start and every minute, and warns of low space before it sends anything', async () => {
    const directory = '/work/runs/t';
    const disk = (free: (checks: number) => number) => {
      let checks = 0;
      return {
        directory,
        jobsLeft: 10,
        made: { jobs: 0, bytes: 0 },
        freeBytes: () => free((checks += 1)),
        checks: () => checks,
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

    const filling = disk((checks) => (checks < 3 ? 1e12 : 1_000));
    expect(saidOfDisk((await run({ disk: filling })).events)).toHaveLength(1);
    // At the third check, and there is no other.
    expect(filling.checks()).toBe(3);

    const wide = disk(() => 1e12);
    const { events, startedAt, finishedAt } = await run({ disk: wide });
    expect(saidOfDisk(events)).toEqual([]);
    expect(wide.checks()).toBeGreaterThan(2);
    expect(wide.checks()).toBeLessThanOrEqual(1 + (finishedAt - startedAt) / 60_000);
  });

  it('estimates the space for later files by the files that it has made', async () => {
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

  it('leaves no timer behind that would keep the process alive', async () => {
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

  it('continues when a listener throws, and reports the error', async () => {
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

  it('keeps a round of function calls whose next call is never sent', async () => {
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
    const store: MemoryStore = {
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
          begin: (...request) => sent(() => port.begin(...request)),
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

  it('reports how each request ended, in the service’s words where it failed', async () => {
    let refused = false;
    const { events } = await run({
      service: (port) => ({
        begin: (...request) => {
          if (refused) return port.begin(...request);
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

  it('sends the extra fields of a step, and runs only the chosen steps', async () => {
    const extra: unknown[] = [];
    const { end, submits } = await run({
      text: `name: t
steps:
  grid: { imagine: a fox, extra: { notify: no } }
  other: { imagine: an owl }
`,
      steps: new Set(['grid']),
      service: (port) => ({
        begin: (request, signal) => {
          extra.push(request.extra);
          return port.begin(request, signal);
        },
      }),
    });
    expect([end, submits, extra]).toEqual([{ kind: 'complete' }, 1, [{ notify: 'no' }]]);
  });
});

describe('text calls of the engine', () => {
  const captions = `name: t
matrix: { n: { from: 1, to: 3 } }
steps:
  caption: { generate: { model: text-pro, prompt: "Caption {{ n }}." } }
`;

  it('have a durable intent before the request and a durable end after it', async () => {
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
    ).toEqual(Array.from({ length: 3 }, () => ['A fox.', 0]));
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

  it('stay in submitting when the run is left before their replies', async () => {
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
