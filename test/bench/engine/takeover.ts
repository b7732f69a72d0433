import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { type RunningCli, startCli, temporaryFolder } from '../../rig/cli.ts';
import { serviceEnv, startQuickService } from '../../rig/measured.ts';
import type { Bench } from '../comparison.ts';
import { type BenchEngine, withEngine } from './workers.ts';

const leaseMs = 3000;
/** How often a worker looks for slices whose lease is over: for those of silent workers, and BullMQ for what is not kept. */
const intervals = { lease: leaseMs / 3, bullmq: leaseMs / 4 };

/** Tasks longer than the bench, so that the slices of the first worker are at work when it is killed. */
const pipeline = `
name: takeover
limits: { tasks: 8 }
matrix: { n: { from: 1, to: 64 } }
steps:
  grid: { imagine: "fox {{ n }}", keep: false }
`;

let runs = 0;

interface Queue {
  readonly name: 'lease' | 'bullmq';
  /** What the clocks of the worker that dies, and of the one that takes over, are ahead of the machine's. */
  readonly clocksOffMs?: readonly [number, number];
}

const clockOff = new URL('../../rig/children/clock-off.mjs', import.meta.url).href;
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Seconds from the death of a worker until another one has the last of its slices. */
async function takeoverTime(engine: BenchEngine, { name, clocksOffMs }: Queue): Promise<number> {
  const service = await startQuickService({ taskMs: 600_000 });
  await using folder = await temporaryFolder();
  const { path: cwd } = folder;
  const database = new Client({ connectionString: engine.url });
  const processes: RunningCli[] = [];
  const ask = async (text: string, values: readonly unknown[] = []): Promise<number> =>
    Number((await database.query<{ n: string }>(text, [...values])).rows[0]?.n ?? 0);
  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    const giveUpAt = performance.now() + 60_000;
    while (!(await holds())) {
      if (performance.now() > giveUpAt) throw new Error(`Not within a minute: ${what}.`);
      await pause(10);
    }
  };
  try {
    await database.connect();
    await writeFile(join(cwd, 'pipeline.yaml'), pipeline);
    runs += 1;
    const run = `takeover-${runs}`;
    const start = (args: readonly string[], offMs = 0): RunningCli => {
      const env = {
        ...serviceEnv(service.url),
        ...(offMs !== 0 && { NODE_OPTIONS: `--import=${clockOff}`, CLOCK_OFF_MS: String(offMs) }),
      };
      const started = startCli([...args, '--queue', name, '--lease', `${leaseMs}ms`], { cwd, env });
      processes.push(started);
      return started;
    };
    const worker = (which: 0 | 1): RunningCli =>
      start(
        ['worker', '--engine', engine.url, '--name', `${run}-${which}`, '--files-root', cwd],
        clocksOffMs?.[which],
      );
    const coordinator = start(
      ['run', 'pipeline.yaml', '--engine', `${engine.url}#${run}`, '--no-work', '--out', 'out'],
      0,
    );
    await coordinator.said(/^Engine: /m);
    const sessions = (which: 0 | 1): Promise<number> =>
      ask('SELECT max(session) AS n FROM promptpress.sessions WHERE name = $1', [`${run}-${which}`]);
    const held = (session: number): Promise<number> =>
      ask('SELECT count(*) AS n FROM promptpress.slices WHERE holder = $1 AND NOT done', [session]);
    const first = worker(0);
    await until('the tasks of the first worker', async () => (await service.counts()).submits === 8);
    worker(1);
    await until('the session of the second worker', async () => (await sessions(1)) > 0);
    // It has asked for slices, and waits.
    await pause(1000);
    const dead = await sessions(0);
    if ((await held(dead)) === 0) throw new Error('The worker holds nothing.');
    const from = performance.now();
    first.child.kill('SIGKILL');
    await until('the takeover', async () => (await held(dead)) === 0);
    return (performance.now() - from) / 1000;
  } finally {
    for (const { child } of processes) child.kill('SIGKILL');
    await Promise.all(processes.map(({ done }) => done));
    await database.end();
    await service.close();
  }
}

const row = (asks: string, queue: Queue): Bench => ({
  asks: `a worker is killed: until another one has all its slices, with a lease of ${leaseMs / 1000} s${asks}`,
  allowed: { figureAtMost: (leaseMs + 2 * intervals[queue.name] + 1000) / 1000 },
  rounds: 3,
  warmUp: false,
  prepare: () =>
    withEngine((engine) => ({
      unit: 's',
      left: { name: 'another worker', measure: () => takeoverTime(engine, queue) },
    })),
});

const apartMs = 600_000;

/** How soon the slices of a dead worker go on. */
export const takeovers: Readonly<Record<string, Bench>> = {
  'engine-takeover-lease': row(', on the row of the slice', { name: 'lease' }),
  'engine-takeover-lease-ahead': row(', by a clock 10 minutes ahead', {
    name: 'lease',
    clocksOffMs: [-apartMs, apartMs],
  }),
  'engine-takeover-lease-behind': row(', by a clock 10 minutes behind', {
    name: 'lease',
    clocksOffMs: [apartMs, -apartMs],
  }),
  'engine-takeover-bullmq': row(', by BullMQ on PostgreSQL', { name: 'bullmq' }),
};
