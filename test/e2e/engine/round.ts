import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { type CliResult, cli, temporaryFolder } from '../../rig/cli.ts';
import type { PostgresServer } from '../../rig/postgres/server.ts';
import { write } from '../pipelines.ts';
import { type Audit, audit } from './audit.ts';
import { Crowd, type GaveUp } from './crowd.ts';
import { drawFaults, type Fault } from './fault-plan.ts';
import { type ServiceProcess, startService } from './service-process.ts';

/**
 * Of each grid four cells in four slices want the same, with two upscales and their variations; each cell has an image and a text of
 * its own.
 */
export const crowdPipeline = (numbers: number): string => `name: crowd
service: { id: fake }
limits: { tasks: 24, requests: 16 }
retry: { attempts: 4, base: 50ms, cap: 500ms, patience: 60s }
poll: { min: 50ms, max: 250ms }
matrix:
  pack: { from: 1, to: 4 }
  n: { from: 1, to: ${numbers} }
steps:
  grid: { imagine: "fox number {{ n }}", path: "U1,U2 → Vary (Strong)" }
  own: { imagine: "card {{ n }} of pack {{ pack }}" }
  words:
    from: own
    generate: { model: text-lite, prompt: "Caption card {{ n }} of pack {{ pack }}.", images: [parent] }
`;

/** Image jobs of {@link crowdPipeline}. */
export const imageJobs = (numbers: number): number => 9 * numbers;

/** What the pipeline comes to in one process to which nothing happens. */
export interface CalmCrowd {
  readonly manifest: string;
  /** Keys of its image jobs. */
  readonly tags: ReadonlySet<string>;
}

export async function calmCrowd(numbers: number): Promise<CalmCrowd> {
  await using folder = await temporaryFolder();
  await using service = await startService(folder.path);
  await write(folder.path, { 'crowd.yaml': crowdPipeline(numbers) });
  const { code, stderr } = await cli(['run', 'crowd.yaml'], { cwd: folder.path, env: service.env });
  if (code !== 0) throw new Error(`The undisturbed run ended with ${code}:\n${stderr}`);
  return {
    manifest: await readFile(join(folder.path, 'runs/crowd/manifest.csv'), 'utf8'),
    tags: new Set(service.tasks().map(({ tag }) => tag)),
  };
}

/** What of a queue on Redis a round may do. */
export interface RedisServer {
  readonly url: string;
  restart(forMs: number): Promise<void>;
  flush(): Promise<void>;
}

export interface RoundOptions {
  readonly seed: number;
  readonly faults: number;
  readonly numbers: number;
  readonly workers: number;
  readonly queue: 'lease' | 'bullmq' | 'redis';
  readonly redis?: RedisServer;
  readonly leaseMs?: number;
  /** How long the run may take once nothing happens to it any more, ms. */
  readonly patienceMs?: number;
}

export interface Round extends Audit {
  readonly kills: number;
  readonly stops: number;
  readonly restarts: number;
  /** Faults for which the run was over too soon. */
  readonly missed: number;
  readonly submissions: number;
  /** Jobs in doubt once the run had ended, those that the service's list settled, and those that had never been sent. */
  readonly doubts: number;
  readonly found: number;
  readonly neverSent: number;
  /** Submissions whose answer a worker heard after it was fenced. */
  readonly lateFacts: number;
  /** Exit codes: of the run, of `--in-doubt find`, and of `--in-doubt retry`, as far as they were needed. */
  readonly codes: readonly (number | undefined)[];
  /** How often a process was begun again because it found no engine. */
  readonly again: number;
  /** Processes that ended by themselves. */
  readonly gaveUp: readonly GaveUp[];
  /** What the last coordinator said. */
  readonly said: string;
  readonly ms: number;
}

/** Which faults have met somebody. */
interface Met {
  kills: number;
  stops: number;
  restarts: number;
  missed: number;
}

/** One run on an engine whose processes are killed, stopped and restarted, and what came of it. */
export async function chaosRound(
  server: PostgresServer,
  calm: CalmCrowd,
  options: RoundOptions,
): Promise<Round> {
  const { seed, faults, numbers, workers, queue, redis, leaseMs = 1500, patienceMs = 120_000 } = options;
  const began = Date.now();
  await using folder = await temporaryFolder();
  const { path: cwd } = folder;
  await using service = await startService(cwd);
  await write(cwd, { 'crowd.yaml': crowdPipeline(numbers) });
  const database = `chaos_${seed}_${began}`;
  await asked(server.url(), `CREATE DATABASE ${database} ENCODING 'UTF8' TEMPLATE template0`);
  const url = server.url(database);

  const out = join(cwd, 'out');
  const places = { lease: 'lease', bullmq: 'bullmq', redis: redis?.url ?? '' };
  const joining = ['--engine', url, '--lease', `${leaseMs}ms`];
  const run = ['run', 'crowd.yaml', '--out', out, ...joining, '--queue', places[queue]];
  // Half of the coordinators only lead.
  const coordinator = seed % 2 === 0 ? run : [...run, '--no-work'];
  const env = { ...service.env };
  await using crowd = new Crowd(
    { coordinator, worker: (name) => ['worker', '--name', name, ...joining] },
    workers,
    { cwd, env },
  );
  const plan = drawFaults({ seed, faults, workers, leaseMs, redis: queue === 'redis' });
  await crowd.start();
  const met = await meet(plan, { crowd, server, service, ...(redis === undefined ? {} : { redis }) });
  await crowd.whole();

  const ended: CliResult[] = [];
  try {
    const { ended: before } = crowd.coordinator;
    ended.push(before.at(-1) ?? (await within(patienceMs, crowd.coordinator.end(), 'The run')));
    const { code } = ended[0] as CliResult;
    if (code !== 0 && code !== 5) throw new Error(`The run ended with ${code}.`);
  } catch (error) {
    const left = await unfinished(url).catch(String);
    const before = crowd.gaveUp.map(({ name, code, stderr }) => `${name} ended with ${code}: ${stderr}`);
    throw new Error([(error as Error).message, left, ...before, await crowd.silence()].join('\n'), {
      cause: error,
    });
  }
  const doubts = await doubtful(url);
  const lateFacts = await count(url, 'SELECT count(*)::int AS count FROM promptpress.facts_late');
  const again = async (how: string): Promise<void> => {
    ended.push(
      await within(patienceMs, cli([...coordinator, '--in-doubt', how], { cwd, env }), `--in-doubt ${how}`),
    );
  };
  if (doubts > 0) await again('find');
  const neverSent = doubts > 0 ? await doubtful(url) : 0;
  if (neverSent > 0) await again('retry');
  const gaveUp = crowd.gaveUp;
  await crowd.dismiss();
  const tasks = service.tasks();
  const result: Round = {
    ...met,
    ...(existsSync(join(out, 'manifest.csv')) ? await audit(out, tasks, calm) : nothing(calm)),
    submissions: tasks.length,
    doubts,
    found: doubts - neverSent,
    neverSent,
    lateFacts,
    codes: ended.map(({ code }) => code),
    again: crowd.members.reduce((sum, { again }) => sum + again, 0),
    gaveUp,
    said: ended.map(({ stderr }) => stderr).join('\n'),
    ms: Date.now() - began,
  };
  await asked(server.url(), `DROP DATABASE ${database} WITH (FORCE)`);
  return result;
}

/** Whether nothing was lost, nothing was made twice, and all is as one process makes it. */
export const isWhole = (round: Round): boolean =>
  round.lost.length +
    round.duplicated.length +
    round.undone +
    round.wrongFiles.length +
    round.gaveUp.length ===
    0 &&
  round.sameManifest &&
  round.codes.at(-1) === 0;

interface Stage {
  readonly crowd: Crowd;
  readonly server: PostgresServer;
  readonly service: ServiceProcess;
  readonly redis?: RedisServer;
}

/** For so long tasks are waited for before a fault, ms. */
const waitMs = 2500;

async function meet(plan: readonly Fault[], { crowd, server, service, redis }: Stage): Promise<Met> {
  const met = { kills: 0, stops: 0, restarts: 0, missed: 0 };
  let isOver = false;
  for (const { tasks, ms, does } of plan) {
    isOver ||= crowd.coordinator.ended.length > 0;
    if (!isOver) {
      await moreTasks(service, tasks);
      await pause(ms);
      isOver = crowd.coordinator.ended.length > 0;
    }
    if (isOver) {
      met.missed += 1;
    } else if (does.kind === 'restart') {
      await (does.how === 'fast' ? server.stop() : server.crash());
      await pause(does.forMs);
      await server.start();
      met.restarts += 1;
    } else if (does.kind === 'redis') {
      await (does.how === 'flush' ? redis?.flush() : redis?.restart(does.forMs));
      met.restarts += 1;
    } else if (does.kind === 'kill') {
      if (crowd.kill(does.whom, does.forMs)) met.kills += 1;
      else met.missed += 1;
    } else if (crowd.stop(does.whom, does.forMs)) {
      met.stops += 1;
    } else {
      met.missed += 1;
    }
  }
  return met;
}

async function moreTasks(service: ServiceProcess, more: number): Promise<void> {
  const until = Date.now() + waitMs;
  const enough = (await service.made()) + more;
  while (Date.now() < until && (await service.made()) < enough) await pause(25);
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

async function within(ms: number, work: Promise<CliResult | undefined>, what: string): Promise<CliResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${what} did not end within ${ms / 1000} s.`));
    }, ms);
  });
  try {
    const result = await Promise.race([work, late]);
    if (result === undefined) throw new Error(`${what} was not there.`);
    return result;
  } finally {
    clearTimeout(timer);
  }
}

/** What the engine has of a run that does not end. */
async function unfinished(url: string): Promise<string> {
  const questions = [
    'SELECT run, state, invocation, fed, fed_upto, ended FROM promptpress.runs',
    'SELECT status, step, slice, key, sender FROM promptpress.jobs WHERE open OR trouble',
    'SELECT n, epoch, holder, lease_holder, lease_until - clock_timestamp() AS lease, not_before FROM promptpress.slices WHERE NOT done',
    'SELECT session, name, clock_timestamp() - seen AS silent FROM promptpress.sessions WHERE NOT over',
    'SELECT application_name, state, wait_event, query FROM pg_stat_activity WHERE datname = current_database()',
  ];
  const rows: string[] = [];
  for (const question of questions)
    for (const row of await asked(url, question)) rows.push(JSON.stringify(row));
  return rows.join('\n');
}

const nothing = ({ tags }: CalmCrowd): Audit => ({
  lost: [...tags],
  duplicated: [],
  undone: tags.size,
  wrongFiles: [],
  sameManifest: false,
});

const doubtful = (url: string): Promise<number> =>
  count(url, "SELECT count(*)::int AS count FROM promptpress.jobs WHERE status = 'in-doubt'");

const count = async (url: string, text: string): Promise<number> =>
  (await asked<{ count: number }>(url, text))[0]?.count ?? 0;

async function asked<Row>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}
