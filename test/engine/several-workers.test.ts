import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { wallClock } from '../../src/cli/adapters/clock.ts';
import { lead } from '../../src/engine/coordinator.ts';
import { boundsOf } from '../../src/engine/limits/run-allowance.ts';
import { parseEngineAddress } from '../../src/engine/postgres/address.ts';
import { engineError } from '../../src/engine/postgres/engine-error.ts';
import type { EnginePool } from '../../src/engine/postgres/pool.ts';
import { LeaseQueue } from '../../src/engine/queue/lease-queue.ts';
import { engineSchema } from '../../src/engine/schema.ts';
import { runStatus, stopRun } from '../../src/engine/slices/runs.ts';
import { engineReader } from '../../src/engine/state/reader.ts';
import { redoOrders } from '../../src/engine/state/redos.ts';
import { registerRun } from '../../src/engine/state/slices.ts';
import { type Engine, workOn } from '../../src/engine/worker.ts';
import { manifestRows } from '../../src/manifest/rows.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { Clock } from '../../src/run/clock.ts';
import { maxDurationCode, type RunListener } from '../../src/run/events.ts';
import type { RunControl, RunReport, RunSettings } from '../../src/run/ports.ts';
import { stepsForRun } from '../../src/run/run-plan.ts';
import type { TextService } from '../../src/service/text-service.ts';
import { portsOf } from '../rig/engine/worker-ports.ts';
import { ScriptedGateway } from '../rig/gateway/scripted-gateway.ts';
import { planOf } from '../rig/plan.ts';
import { hasPostgres } from '../rig/postgres.ts';
import { noText } from '../rig/text-ports.ts';
import { textReply } from '../rig/text-reply.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { type TestEngine, testEngine } from './state/opened.ts';

let engine: TestEngine;
beforeAll(async () => {
  if (hasPostgres) engine = await testEngine();
});
afterAll(async () => {
  if (hasPostgres) await engine[Symbol.asyncDispose]();
});

const never: RunControl = { drain: new AbortController().signal, leave: new AbortController().signal };

interface Changes {
  readonly text?: TextService;
  readonly leaseMs?: number;
  readonly makesTasks?: boolean;
  readonly listener?: RunListener;
}

async function byWorkers(
  name: string,
  plan: Plan,
  workers: number,
  size: number,
  control = never,
  onSubmit = (_count: number) => {},
  more: Partial<RunSettings> & Partial<Pick<Engine, 'pool' | 'clock'>> & Changes = {},
) {
  const service = new ScriptedGateway({
    duration: ({ number }) => {
      onSubmit(number);
      return 30;
    },
  });
  const {
    pool = engine.pool,
    clock = wallClock,
    leaseMs = 3000,
    listener = () => undefined,
    text,
    makesTasks,
    ...changed
  } = more;
  const run = await registerRun(pool, name);
  const there = { address: parseEngineAddress(engine.database.url), pool, clock };
  const settings = virtualSettings({ poll: { minMs: 20, maxMs: 50 }, ...changed });
  const queueOf = (worker: string) => new LeaseQueue(pool, { worker: `${name} ${worker}`, leaseMs });
  const worker =
    (at: number) =>
    (invocation: number): Promise<RunReport> =>
      workOn(
        there,
        {
          run,
          invocation,
          name: `worker ${at}`,
          leaseMs,
          queue: queueOf(String(at)),
          plan: stepsForRun(plan, {}),
          selection: {},
          settings,
          service: name,
          ...(makesTasks === undefined ? {} : { makesTasks }),
          random: () => 0.5,
          ports: async (store) => ({
            ...(await portsOf(service)(store)),
            ...(text === undefined ? {} : { text }),
          }),
        },
        never,
        listener,
      );
  const led = await lead(
    there,
    {
      run,
      name,
      spec: name,
      queue: queueOf('coordinator'),
      cells: () => plan.matrix.cells(),
      size,
      groupings: [...plan.groups.values()],
      slots: 12,
      patienceMs: 60_000,
      bounds: boundsOf(settings.budget, settings.maxSubmits),
    },
    control,
    async (invocation) => {
      const working = Array.from({ length: workers }, (_unused, at) => worker(at)(invocation));
      // None is at work any more when the first error is told.
      await Promise.allSettled(working);
      return Promise.all(working);
    },
  );
  return { led, service, run };
}

it.runIf(hasPostgres)('two workers run all slices of a run, each job once', async () => {
  const { plan, cells } = await planOf(`name: several
matrix: { n: { from: 1, to: 40 } }
steps:
  grid: { imagine: "picture {{ n }}", path: U1 }
  one: { imagine: "the same for all" }
`);
  const { led, service, run } = await byWorkers('several', plan, 2, 4);
  expect(led).toEqual({ end: { kind: 'complete' } });
  const { rows } = await engine.pool.query<{ status: string; count: number }>(
    'SELECT status, count(*)::int AS count FROM promptpress.jobs WHERE run = $1 GROUP BY status',
    [run],
  );
  expect(rows).toEqual([{ status: 'done', count: 2 * cells.length + 1 }]);
  expect(service.submits.length).toBe(2 * cells.length + 1);
  const left = await engine.pool.query<{ done: boolean }>(
    'SELECT done FROM promptpress.slices WHERE run = $1',
    [run],
  );
  expect(left.rows).toHaveLength(10);
  expect(left.rows.every(({ done }) => done)).toBe(true);
});

let known: readonly string[] | undefined;
it.runIf(hasPostgres).each([1, 3, 8])(
  '%i workers make each group of cells and each pick of one once, and take no slice of groups before its cells are done',
  async (workers) => {
    // Groups over seeds are far apart, those over animals neighbours that slices of two split.
    const { plan, cells } = await planOf(`name: groups
matrix: { seed: { from: 1, to: 6 }, animal: [fox, owl, elk] }
steps:
  talk: { generate: { model: m, prompt: "Talk of {{ animal }} {{ seed }}." } }
  pair: { gather: { step: talk, over: [seed] }, imagine: "seeds of {{ animal }}" }
  row: { gather: { step: talk, over: [animal] }, imagine: "animals of {{ seed }}" }
  tell: { from: pair, generate: { model: m, prompt: "Tell of {{ animal }}." } }
  zoo: { gather: { step: tell, over: [animal] }, imagine: zoo }
  mark: { from: talk, generate: { model: m, prompt: "Mark {{ animal }} {{ seed }}: {{ seed | times: 5 | modulo: 7 }}" } }
  best: { best: { from: talk, by: "{{ steps.mark.text }}", top: 2, over: [seed] } }
  ode: { from: best, generate: { model: m, prompt: "Sing of {{ animal }} {{ seed }}: {{ steps.mark.text }}" } }
  finest: { best: { from: ode, by: "{{ steps.ode.text }}", over: [animal] } }
  crown: { from: finest, generate: { model: m, prompt: "Crown {{ animal }} {{ seed }}, {{ steps.ode.text }}." } }
`);
    const name = `groups of ${workers}`;
    const fed: string[] = [];
    const pool: EnginePool = {
      ...engine.pool,
      query: async (text, values) => {
        const found = await engine.pool.query<never>(text, values);
        // A worker has the second slice, and is gone: others get it once its lease has ended.
        if (text.includes('INSERT INTO promptpress.slices') && fed.push(text) === 1)
          await engine.pool.query(
            `UPDATE promptpress.slices SET lease_holder = 'gone', lease_until = clock_timestamp() + interval '1 s'
             WHERE n = 2 AND lease_holder IS NULL AND run = (SELECT run FROM promptpress.runs WHERE name = $1)`,
            [name],
          );
        return found;
      },
    };
    let calls = 0;
    const text: TextService = {
      ...noText.text,
      ask: (request) => {
        calls += 1;
        const [, points = 'a tale'] = /: (\d+)"/.exec(JSON.stringify(request)) ?? [];
        return Promise.resolve({ ok: true, value: textReply({ text: points }) });
      },
    };
    const more = { pool, text };
    const { led, service, run } = await byWorkers(name, plan, workers, 2, never, undefined, more);
    expect(led).toEqual({ end: { kind: 'complete' } });
    expect([calls, service.submits.length]).toEqual([2 * cells.length + 3 + 6 + 1, 3 + 6 + 1]);
    const rows: string[] = [];
    const reader = engineReader(engine.pool, run);
    for await (const { cell, slot, picked = '' } of manifestRows(plan, {}, reader))
      rows.push(`${cell.number} ${slot.step} ${slot.status} ${slot.job?.key} ${picked}`);
    const picks = ['best/1', 'best/2', 'finest/1'].map((name) =>
      rows.filter((row) => row.endsWith(` ${name}`)),
    );
    expect(picks.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(rows.filter((row) => row.includes(' done ')).length).toBe(calls + service.submits.length);
    known ??= rows;
    expect(rows).toEqual(known);
    const { rows: slices } = await engine.pool.query<{ epoch: number; waits: boolean }>(
      'SELECT epoch::int AS epoch, waits_from IS NOT NULL AS waits FROM promptpress.slices WHERE run = $1 AND n > 0 ORDER BY n',
      [run],
    );
    expect(slices.filter(({ waits }) => waits).length).toBeGreaterThan(2);
    expect(slices.map(({ epoch }) => epoch)).toEqual(slices.map(() => 1));
  },
);

it.runIf(hasPostgres)(
  'three workers run the items of lists that the run itself makes, equal items of all slices once',
  async () => {
    const { plan, cells } = await planOf(`name: lists
matrix: { n: { from: 1, to: 12 } }
steps:
  ideas:
    generate:
      model: m
      prompt: "Scenes of {{ n }}."
      responseSchema: { type: object, properties: { scenes: { type: array, items: { type: string } } }, required: [scenes] }
  scene:
    each: "{{ steps.ideas.json.scenes }}"
    max: 3
    imagine: "{{ item }}"
    path: U1
  tale:
    from: scene/U1
    generate: { model: m, prompt: "Tell {{ n }} of {{ item }}." }
`);
    const calls: string[] = [];
    const text: TextService = {
      ...noText.text,
      ask: (request) => {
        const [asked = '', n] = /(?:Scenes|Tell)[^."]*?(\d+)[^."]*/.exec(JSON.stringify(request)) ?? [];
        calls.push(asked);
        const scenes = ['a storm', `wave ${n}`, 'a storm', 'what is beyond'];
        const said = asked.startsWith('Scenes') ? JSON.stringify({ scenes }) : 'a tale';
        return Promise.resolve({ ok: true, value: textReply({ text: said }) });
      },
    };
    const { led, service, run } = await byWorkers('lists', plan, 3, 2, never, undefined, { text });
    expect(led).toEqual({ end: { kind: 'complete' } });
    expect(calls.length).toBe(3 * cells.length);
    expect(new Set(calls).size).toBe(calls.length);
    expect(service.submits.length).toBe(2 * (1 + cells.length));
    const { rows } = await engine.pool.query(
      'SELECT status, count(*)::int AS count FROM promptpress.jobs WHERE run = $1 GROUP BY status',
      [run],
    );
    expect(rows).toEqual([{ status: 'done', count: 3 * cells.length + 2 * (1 + cells.length) }]);
  },
);

it.runIf(hasPostgres)(
  'a run stopped by its coordinator ends for all workers, and the next invocation finishes it',
  async () => {
    const { plan, cells } = await planOf(`name: stopped
matrix: { n: { from: 1, to: 30 } }
steps:
  grid: { imagine: "picture {{ n }}" }
`);
    const drain = new AbortController();
    const stopped = byWorkers('stopped', plan, 2, 4, { ...never, drain: drain.signal }, (submits) => {
      if (submits === 8) drain.abort();
    });
    const first = await stopped;
    expect(first.led).toEqual({ end: { kind: 'interrupted', forced: false } });
    expect(first.service.submits.length).toBeLessThan(cells.length);
    const second = await byWorkers('stopped', plan, 2, 4);
    expect(second.led).toEqual({ end: { kind: 'complete' } });
    expect(first.service.submits.length + second.service.submits.length).toBe(cells.length);
  },
);

it.runIf(hasPostgres)('workers spend no more tokens than the budget, including calls in flight', async () => {
  const { plan } = await planOf(`name: tokens
matrix: { n: { from: 1, to: 60 } }
steps:
  line: { generate: { model: m, prompt: "Say {{ n }}" } }
`);
  let calls = 0;
  const text: TextService = {
    ...noText.text,
    ask: async () => {
      calls += 1;
      await new Promise<void>((resolve) => {
        wallClock.at(wallClock.now() + 30, resolve);
      });
      // About what is forecast of a call of which nothing is known.
      const usage = { prompt: 10, candidates: 990, total: 1000 };
      return { ok: true, value: textReply({ text: 'a line' }, { usage }) };
    },
  };
  const budget = { tokens: 20_500 };
  const { led } = await byWorkers('tokens', plan, 2, 8, never, undefined, { text, budget });
  expect(led).toMatchObject({ end: { kind: 'budget', code: 'budget.tokens' } });
  expect(calls).toBeLessThanOrEqual(20);
  expect(calls).toBeGreaterThan(15);
});

it.runIf(hasPostgres)(
  'text calls wait for no task slot, even if tasks of another run use all of them',
  async () => {
    const { plan } = await planOf(`name: lines
matrix: { n: { from: 1, to: 6 } }
steps:
  line: { generate: { model: m, prompt: "Say {{ n }}" } }
`);
    await engine.pool.query(
      `INSERT INTO promptpress.sessions (name, service, shared, seen, shares)
     VALUES ('another', 'lines', true, clock_timestamp() + interval '1 hour', $1)`,
      [JSON.stringify({ tasks: { granted: 1000, used: 1000, want: 1000, unit: 1, since: 0, window: 0 } })],
    );
    let calls = 0;
    const text: TextService = {
      ...noText.text,
      ask: () => {
        calls += 1;
        return Promise.resolve({ ok: true, value: textReply({ text: 'a line' }) });
      },
    };
    const { led } = await byWorkers('lines', plan, 2, 3, never, undefined, { text, makesTasks: false });
    expect(led).toEqual({ end: { kind: 'complete' } });
    expect(calls).toBe(6);
  },
);

it.runIf(hasPostgres)(
  'a worker that cannot send heartbeats sends nothing, and continues when it can',
  async () => {
    const { plan, cells } = await planOf(`name: silent
matrix: { n: { from: 1, to: 24 } }
steps:
  grid: { imagine: "picture {{ n }}" }
`);
    let isSilent = false;
    let isMended = false;
    const pool: EnginePool = {
      ...engine.pool,
      query: async (text, values) => {
        if (isSilent && text.includes('promptpress.share(')) throw engineError('away', 'engine');
        return await engine.pool.query(text, values);
      },
    };
    const submits: number[] = [];
    const note = (): void => {
      submits.push(wallClock.now());
      isSilent = !isMended;
    };
    // One task at a time takes 30 ms at least: not nearly all are sent in one and a half leases.
    const limits = { tasks: 1, requests: 4 };
    const working = byWorkers('silent', plan, 1, 24, never, note, { pool, leaseMs: 300, limits });
    await expect.poll(() => submits.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await expect
      .poll(() => wallClock.now() - (submits.at(-1) ?? 0), { timeout: 20_000, interval: 50 })
      .toBeGreaterThan(800);
    expect(submits.length).toBeLessThan(cells.length);
    isMended = true;
    isSilent = false;
    const { led, service } = await working;
    expect(led).toEqual({ end: { kind: 'complete' } });
    expect(service.submits.length).toBe(cells.length);
  },
);

it.runIf(hasPostgres)('a run is complete where its last worker did the rest before it left', async () => {
  const { plan } = await planOf(`name: last
matrix: { n: { from: 1, to: 4 } }
steps:
  grid: { imagine: "picture {{ n }}" }
`);
  const pool: EnginePool = {
    ...engine.pool,
    query: async (text, values) => {
      // The moment between the look at the slices and the look at the workers.
      if (text.includes('AS live '))
        await engine.pool.query('UPDATE promptpress.slices SET done = true WHERE run = $1', values);
      const found = await engine.pool.query<never>(text, values);
      if (text.includes('INSERT INTO promptpress.slices'))
        await stopRun(engine.pool, run, 1, { kind: 'budget', code: maxDurationCode, message: 'too long' });
      return found;
    },
  };
  const run = await registerRun(pool, 'last');
  const led = await lead(
    { address: parseEngineAddress(engine.database.url), pool, clock: wallClock },
    {
      run,
      name: 'last',
      spec: 'last',
      queue: new LeaseQueue(pool, { worker: 'last', leaseMs: 3000 }),
      cells: () => plan.matrix.cells(),
      size: 4,
      slots: 12,
      patienceMs: 60_000,
    },
    never,
  );
  expect(led).toEqual({ end: { kind: 'complete' } });
});

it.runIf(hasPostgres)('failures count over all workers, and time from the beginning of the run', async () => {
  const { plan } = await planOf(`name: ends
matrix: { n: { from: 1, to: 40 } }
steps:
  grid: { imagine: "picture {{ n }}" }
`);
  const { pool } = engine;
  const during = (name: string, change: string) => (count: number) => {
    if (count === 2) void pool.query(change, [name]);
  };
  const others = `INSERT INTO promptpress.totals (run, slice, status, code, failures)
    SELECT run, 0, '', '', 6 FROM promptpress.runs WHERE name = $1`;
  const limits = { tasks: 1, requests: 4 };
  const failed = await byWorkers('failures', plan, 1, 4, never, during('failures', others), {
    maxFailures: 6,
    limits,
  });
  expect(failed.led).toMatchObject({ end: { kind: 'fail-fast', code: 'run.max-failures' } });

  // The worker begins when the run has lasted for an hour.
  const late: EnginePool = {
    ...pool,
    query: async (text, values) => {
      const found = await pool.query<never>(text, values);
      if (!text.includes('"lastedMs"')) return found;
      return { rows: found.rows.map((row: object) => ({ ...row, lastedMs: 3_600_000 }) as never) };
    },
  };
  const bounds = { maxDurationMs: 1_800_000, limits, pool: late };
  const lasted = await byWorkers('lasted', plan, 1, 4, never, undefined, bounds);
  expect(lasted.led).toMatchObject({ end: { kind: 'budget', code: 'run.max-duration' } });
});

it.runIf(hasPostgres)(
  'a change of the engine by another release ends every worker with the reason',
  async () => {
    const { plan } = await planOf(`name: changed
matrix: { n: { from: 1, to: 40 } }
steps:
  grid: { imagine: "picture {{ n }}" }
`);
    const pool = await engine.connect({ connections: 8 });
    const change = (count: number): void => {
      if (count === 2) void engine.pool.query('UPDATE promptpress.schema_version SET version = 99');
    };
    const limits = { tasks: 1, requests: 4 };
    await expect(byWorkers('changed', plan, 2, 4, never, change, { pool, limits })).rejects.toMatchObject({
      code: 'engine.lost',
      message: expect.stringContaining('version 99') as string,
    });
    await engine.pool.query('UPDATE promptpress.schema_version SET version = $1', [engineSchema.version]);
  },
);

it.runIf(hasPostgres)('each failed redo is reported, also while others run', async () => {
  const { plan } = await planOf(`name: redos
matrix: { n: { from: 1, to: 3 } }
steps:
  line: { generate: { model: m, prompt: "Say {{ n }}" } }
`);
  const answered: TextService = {
    ...noText.text,
    ask: () => Promise.resolve({ ok: true, value: textReply({ text: 'a line' }) }),
  };
  const { run } = await byWorkers('redos', plan, 1, 3, never, undefined, {
    text: answered,
    makesTasks: false,
  });
  const { rows } = await engine.pool.query<{ key: string }>(
    'SELECT key FROM promptpress.jobs WHERE run = $1',
    [run],
  );
  await redoOrders(engine.pool, run).add({ keys: rows.map(({ key }) => key), again: false });

  let isTelling = false;
  let fails = 0;
  let asked = 0;
  const text: TextService = {
    ...noText.text,
    ask: async () => {
      asked += 1;
      if (asked > 1) await vi.waitUntil(() => isTelling, { timeout: 20_000 });
      return { ok: false, error: { code: 'service.rejected', class: 'permanent', message: 'No.' } };
    },
  };
  const listener: RunListener = (event) => {
    if (event.type === 'run:notice' && event.code === 'redo.failed') fails += 1;
  };
  const query: EnginePool['query'] = async (statement, values) => {
    if (statement.includes('redos_failed = redos_failed +')) {
      isTelling = true;
      await vi.waitUntil(() => fails === 3, { timeout: 20_000 });
    }
    return await engine.pool.query(statement, values);
  };
  // Twenty times as fast: what is done is told every few seconds.
  const began = wallClock.now();
  const clock: Clock = {
    now: () => began + (wallClock.now() - began) * 20,
    at: (atMs, call) => wallClock.at(began + (atMs - began) / 20, call),
  };
  const pool = { ...engine.pool, query };
  const more = { text, makesTasks: false, leaseMs: 60_000, listener, pool, clock };
  expect((await byWorkers('redos', plan, 1, 3, never, undefined, more)).led).toEqual({
    end: { kind: 'complete' },
  });
  expect(await runStatus(engine.pool, run)).toMatchObject({ redosFailed: 3 });
});
