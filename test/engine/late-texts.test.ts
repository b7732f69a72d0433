import { afterAll, beforeAll, expect, it } from 'vitest';
import { wallClock } from '../../src/cli/adapters/clock.ts';
import { lead } from '../../src/engine/coordinator.ts';
import { parseEngineAddress } from '../../src/engine/postgres/address.ts';
import { engineError } from '../../src/engine/postgres/engine-error.ts';
import type { EnginePool } from '../../src/engine/postgres/pool.ts';
import { LeaseQueue } from '../../src/engine/queue/lease-queue.ts';
import { registerRun } from '../../src/engine/state/slices.ts';
import { workOn } from '../../src/engine/worker.ts';
import type { RunControl } from '../../src/run/ports.ts';
import { stepsForRun } from '../../src/run/run-plan.ts';
import { cutNowhere } from '../rig/frames.ts';
import { planOf } from '../rig/plan.ts';
import { hasPostgres } from '../rig/postgres.ts';
import { keptNowhere, noText } from '../rig/text-ports.ts';
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
const leaseMs = 400;

it.runIf(hasPostgres)('texts answered while their worker is disconnected are requested once', async () => {
  const { plan, cells } = await planOf(`name: cut
matrix: { n: { from: 1, to: 24 } }
steps:
  line: { generate: { model: m, prompt: "Say {{ n }}" } }
`);
  const asked = new Map<string, number>();
  let isCut = false;
  let cutFor: Promise<void> | undefined;
  const pool: EnginePool = {
    ...engine.pool,
    query: async (text, values) => {
      if (isCut) throw engineError('away', 'engine');
      return await engine.pool.query(text, values);
    },
  };
  const later = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      wallClock.at(wallClock.now() + ms, resolve);
    });
  const cut = async (): Promise<void> => {
    isCut = true;
    await engine.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'promptpress lock' AND datname = current_database()",
    );
    await later(6 * leaseMs);
    isCut = false;
  };
  const run = await registerRun(engine.pool, 'cut');
  const settings = virtualSettings({ timeouts: { taskMs: 60_000, textMs: 20_000 } });
  const queueOf = (worker: string, of: EnginePool) => new LeaseQueue(of, { worker, leaseMs });
  const worker = (name: string, of: EnginePool, invocation: number) =>
    workOn(
      { address: parseEngineAddress(engine.database.url), pool: of, clock: wallClock },
      {
        run,
        invocation,
        name,
        leaseMs,
        queue: queueOf(name, of),
        plan: stepsForRun(plan, {}),
        selection: {},
        settings,
        service: 'cut',
        makesTasks: false,
        random: () => 0.5,
        ports: () => ({
          ...noText,
          service: {
            action: () => Promise.reject(new Error('no image is made here')),
            modal: () => Promise.reject(new Error('no image is made here')),
            begin: () => Promise.reject(new Error('no image is made here')),
            fetchTask: () => Promise.reject(new Error('no image is made here')),
            fetchTasks: () => Promise.reject(new Error('no image is made here')),
            close: () => Promise.resolve(),
          },
          text: {
            ...noText.text,
            ask: async (request) => {
              const prompt = JSON.stringify(request.fields);
              asked.set(prompt, (asked.get(prompt) ?? 0) + 1);
              if (of === pool) cutFor ??= cut();
              // Answered while the cable is cut.
              await later(of === pool ? 2 * leaseMs : 20);
              return { ok: true, value: textReply({ text: 'a line' }) };
            },
          },
          artifacts: {
            save: () => Promise.reject(new Error('nothing is saved here')),
            cut: cutNowhere,
            keep: keptNowhere,
            close: () => Promise.resolve(),
          },
        }),
      },
      never,
      () => undefined,
    );
  const led = await lead(
    { address: parseEngineAddress(engine.database.url), pool: engine.pool, clock: wallClock },
    {
      run,
      name: 'cut',
      spec: 'cut',
      queue: queueOf('coordinator', engine.pool),
      cells: () => plan.matrix.cells(),
      size: 4,
      slots: 12,
      patienceMs: 60_000,
      bounds: {},
    },
    never,
    async (invocation) => {
      const first = worker('cut off', pool, invocation);
      await expect.poll(() => cutFor !== undefined, { timeout: 20_000 }).toBe(true);
      await Promise.all([first, worker('other', engine.pool, invocation)]);
    },
  );
  await cutFor;
  expect(led).toEqual({ end: { kind: 'complete' } });
  expect(asked.size).toBe(cells.length);
  expect([...asked.values()].filter((times) => times > 1)).toEqual([]);
  const { rows } = await engine.pool.query<{ done: number; unanswered: number }>(
    `SELECT count(*) FILTER (WHERE status = 'done')::int AS done, sum(unanswered)::int AS unanswered FROM promptpress.jobs WHERE run = $1`,
    [run],
  );
  expect(rows).toEqual([{ done: cells.length, unanswered: 0 }]);
});
