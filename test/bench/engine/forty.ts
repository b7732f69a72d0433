import { setMaxListeners } from 'node:events';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { lead } from '../../../src/engine/coordinator.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { makeTables } from '../../../src/engine/postgres/make-tables.ts';
import { type EnginePool, openPool } from '../../../src/engine/postgres/pool.ts';
import { bullmqOnPostgres } from '../../../src/engine/queue/bullmq-postgres.ts';
import { BullmqQueue } from '../../../src/engine/queue/bullmq-queue.ts';
import { LeaseQueue } from '../../../src/engine/queue/lease-queue.ts';
import type { SliceQueue } from '../../../src/engine/queue/queue.ts';
import { engineSchema } from '../../../src/engine/schema.ts';
import { registerRun } from '../../../src/engine/state/slices.ts';
import { workOn } from '../../../src/engine/worker.ts';
import { stepsForRun } from '../../../src/run/run-plan.ts';
import { portsOf } from '../../rig/engine/worker-ports.ts';
import { ScriptedGateway } from '../../rig/gateway/scripted-gateway.ts';
import { planOf } from '../../rig/plan.ts';
import { asked } from '../../rig/postgres/asked.ts';
import { install, packagedPostgres } from '../../rig/postgres/installation.ts';
import { startServer } from '../../rig/postgres/server.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import type { Allowed, Bench } from '../comparison.ts';

const workers = 40;
const [leaseMs, warmMs, measuredMs] = [30_000, 10_000, 30_000];
/** Of each task; three at once a worker. */
const taskMs = 10_000;

type Kind = 'bullmq' | 'lease';

const yardsticks: readonly string[] = ['SELECT 1', 'UPDATE empty SET n = n + 1'];

/** What forty workers ask of their engine. */
interface Asked {
  /** Of one worker, at most. */
  readonly connections: number;
  /** What the server took for statements, by its log, ms. */
  readonly p99Ms: number;
  readonly commitsP99Ms: number;
  /** A second, of one worker, beside commits. */
  readonly statements: number;
  /** The part of updates of the rows of sessions that touched no index, in hundredths. */
  readonly hot: number;
}

/** @param log of the server, which says of each statement what its parts took */
function statementsOf(log: string): { readonly text: string; readonly ms: number }[] {
  const open = new Map<string, number>();
  const found: { text: string; ms: number }[] = [];
  for (const line of log.split('\n')) {
    const [, pid = '', ms = '', part = '', text = ''] =
      /^(\d+) LOG: {2}duration: ([\d.]+) ms {2}(\w+)[^:]*: (.*)$/.exec(line) ?? [];
    if (pid === '') continue;
    const sum = (open.get(pid) ?? 0) + Number(ms);
    if (part === 'parse' || part === 'bind') open.set(pid, sum);
    else {
      open.delete(pid);
      found.push({ text, ms: sum });
    }
  }
  return found;
}

const p99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN;

const isCommit = ({ text }: { readonly text: string }): boolean => text.includes('commit_turn');

async function play(packaged: string, kind: Kind): Promise<Asked> {
  await using installation = await install(packaged);
  await using server = await startServer(installation, {
    max_connections: '200',
    shared_buffers: '128MB',
    log_min_duration_statement: '0',
    log_parameter_max_length: '0',
    track_functions: 'all',
  });
  const address = parseEngineAddress(server.url());
  const pools: EnginePool[] = [];
  const queues: SliceQueue[] = [];
  const open = async (name: string): Promise<EnginePool> => {
    const pool = await openPool(address, { clock: wallClock, connections: kind === 'lease' ? 3 : 2, name });
    pools.push(pool);
    return pool;
  };
  const queueOf = async (pool: EnginePool, worker: string, mayMigrate: boolean): Promise<SliceQueue> => {
    const queue =
      kind === 'lease'
        ? new LeaseQueue(pool, { worker, leaseMs })
        : new BullmqQueue(await bullmqOnPostgres(address, pool, { clock: wallClock, leaseMs, mayMigrate }), {
            worker,
            leaseMs,
            clock: wallClock,
          });
    queues.push(queue);
    return queue;
  };
  const [drain, leave] = [new AbortController(), new AbortController()];
  // In the product, each process has signals of its own.
  setMaxListeners(0, drain.signal, leave.signal);
  const control = { drain: drain.signal, leave: leave.signal };
  const { plan } = await planOf(
    `name: forty\nmatrix: { n: { from: 1, to: 4000 } }\nsteps: { grid: { imagine: "picture {{ n }}" } }\n`,
  );
  const service = new ScriptedGateway({ duration: () => taskMs });
  const settings = virtualSettings({
    poll: { minMs: 2000, maxMs: 5000 },
    limits: { tasks: 3 * workers, requests: 8, submit: { count: 30, perMs: 1000 } },
    budget: { submits: 4000 },
  });
  const first = await open('coordinator');
  await makeTables(first, engineSchema);
  const run = await registerRun(first, 'forty');
  const leading = lead(
    { address, pool: first, clock: wallClock },
    {
      run,
      name: 'forty',
      spec: 'forty',
      queue: await queueOf(first, 'coordinator', true),
      cells: () => plan.matrix.cells(),
      size: 8,
      slots: 3 * workers,
      bounds: { submits: 4000 },
      patienceMs: 60_000,
    },
    control,
    async (invocation) => {
      await Promise.all(
        Array.from({ length: workers }, async (_unused, at) => {
          const name = `worker ${at}`;
          const pool = await open(name);
          const queue = await queueOf(pool, name, false);
          await workOn(
            { address, pool, clock: wallClock },
            {
              run,
              invocation,
              name,
              leaseMs,
              queue,
              plan: stepsForRun(plan, {}),
              selection: {},
              settings,
              service: 'forty',
              random: Math.random,
              ports: portsOf(service),
            },
            control,
            () => undefined,
          );
        }),
      );
    },
  );
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
  const tables = async (): Promise<{ readonly updates: number; readonly hot: number }> => {
    const [row] = await asked<{ updates: number; hot: number }>(
      server.url(),
      "SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = 'sessions'",
    );
    return row ?? { updates: 0, hot: 0 };
  };
  await sleep(warmMs);
  const [from, before] = [server.log().length, await tables()];
  const since = performance.now();
  let connections = 0;
  await first.query('CREATE TABLE empty (n) AS SELECT 0');
  for (let passed = 0; passed < measuredMs; passed += 1000) {
    // What the machine takes for nothing, and for a commit of nothing, beside what is measured.
    for (let times = 0; times < 10; times += 1) {
      await sleep(100);
      for (const text of yardsticks) await first.query(text);
    }
    const [row] = await asked<{ all: number }>(
      server.url(),
      "SELECT count(*)::int AS all FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );
    // Of the coordinator too.
    connections = Math.max(connections, (row?.all ?? 0) / (workers + 1));
  }
  const seconds = (performance.now() - since) / 1000;
  const after = await tables();
  const logged = statementsOf(server.log().slice(from));
  const isYardstick = ({ text }: { readonly text: string }): boolean => yardsticks.includes(text);
  const all = logged.filter((one) => !isYardstick(one));
  drain.abort();
  leave.abort();
  await leading.catch(() => undefined);
  await Promise.all(queues.map((queue) => queue.close()));
  await Promise.all(pools.map((pool) => pool.close()));
  const others = all.filter((one) => !isCommit(one));
  if (process.env['FORTY_STATEMENTS'] !== undefined) {
    const counts = new Map<string, number[]>();
    for (const { text, ms } of logged.filter((one) => !isCommit(one))) {
      const name = text.trim().slice(0, 90);
      counts.set(name, [...(counts.get(name) ?? []), ms]);
    }
    for (const [text, times] of [...counts].toSorted((x, y) => y[1].length - x[1].length).slice(0, 25))
      console.error(`${(times.length / workers / seconds).toFixed(3)} ${p99(times).toFixed(1)} ms ${text}`);
    const functions = await asked<{ name: string; calls: number; ms: number }>(
      server.url(),
      'SELECT funcname AS name, calls::int, (total_time / calls)::float8 AS ms FROM pg_stat_user_functions ORDER BY total_time DESC',
    );
    for (const { name, calls, ms } of functions) console.error(`${calls} × ${ms.toFixed(2)} ms ${name}`);
  }
  return {
    connections,
    p99Ms: p99(others.map(({ ms }) => ms)),
    commitsP99Ms: p99(all.filter(isCommit).map(({ ms }) => ms)),
    statements: others.length / workers / seconds,
    hot: (100 * (after.hot - before.hot)) / (after.updates - before.updates),
  };
}

const played = new Map<Kind, Promise<Asked>>();

const row = (
  kind: Kind,
  asks: string,
  unit: string,
  allowed: Allowed,
  of: (found: Asked) => number,
): Bench => ({
  asks: `${asks}, of ${workers} workers in one process whose queue is ${kind}`,
  allowed,
  rounds: 1,
  warmUp: false,
  prepare: () => {
    const packaged = packagedPostgres();
    if (packaged === undefined) return { notMeasured: 'no PostgreSQL in npm for this platform' };
    const measure = async (): Promise<number> => {
      const found = played.get(kind) ?? play(packaged, kind);
      played.set(kind, found);
      return of(await found);
    };
    return { unit, left: { name: `${workers} workers`, measure } };
  },
});

const rows = (kind: Kind): Readonly<Record<string, Bench>> => ({
  [`engine-forty-${kind}-connections`]: row(
    kind,
    'connections',
    'connections a worker',
    { figureAtMost: 3 },
    (found) => found.connections,
  ),
  [`engine-forty-${kind}-statements`]: row(
    kind,
    'statements beside commits',
    'statements a second and worker',
    { figureAtMost: 3 },
    (found) => found.statements,
  ),
  [`engine-forty-${kind}-time`]: row(
    kind,
    'the 99th percentile of statements beside commits',
    'ms in the server',
    { figureAtMost: 20 },
    (found) => found.p99Ms,
  ),
  [`engine-forty-${kind}-commits`]: row(
    kind,
    'the 99th percentile of commits',
    'ms in the server',
    { figureAtMost: 20 },
    (found) => found.commitsP99Ms,
  ),
  [`engine-forty-${kind}-hot`]: row(
    kind,
    'updates of sessions that touch no index',
    '%',
    { figureAtLeast: 90 },
    (found) => found.hot,
  ),
});

/** What forty workers ask of one PostgreSQL. */
export const fortyWorkers: Readonly<Record<string, Bench>> = { ...rows('bullmq'), ...rows('lease') };
