import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CliResult, cli, temporaryFolder } from '../../rig/cli.ts';
import { asked } from '../../rig/postgres/asked.ts';
import type { PostgresServer } from '../../rig/postgres/server.ts';
import { write } from '../pipelines.ts';
import { type Audit, audit } from './audit.ts';
import { Crowd, type GaveUp } from './crowd.ts';
import { evidenceOf, unfinished } from './evidence.ts';
import { drawFaults, type Fault } from './fault-plan.ts';
import { startService } from './service-process.ts';
import { type Met, meet, type RedisServer } from './stage.ts';

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

export interface RoundOptions {
  readonly seed: number;
  readonly faults: number;
  /** What happens, in place of what is drawn. */
  readonly plan?: readonly Fault[];
  /** Of {@link crowdPipeline}: of the calm crowd, too. */
  readonly numbers: number;
  /** Processes that work: the coordinator of an even seed is one of them, that of an odd seed only leads. */
  readonly workers: number;
  readonly queue: 'lease' | 'bullmq' | 'redis';
  readonly redis?: RedisServer;
  readonly leaseMs?: number;
  /** The address by which its processes reach the server; absent: the server's own. */
  readonly through?: (url: string) => string;
  /** How long nothing may be written for the run once nothing is done to it any more, ms. */
  readonly patienceMs?: number;
}

export interface Round extends Audit, Met {
  /** Image jobs. */
  readonly jobs: number;
  readonly submissions: number;
  /** Jobs in doubt once the run had ended, those that the service's list settled, and those that had never been sent. */
  readonly doubts: number;
  readonly found: number;
  readonly neverSent: number;
  /** Keys of jobs that were said never to have been sent, though the service had their task. */
  readonly overlooked: readonly string[];
  /** In doubt in the end. */
  readonly open: number;
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
  /** What the engine and the service have of jobs that are not as they should be. */
  readonly evidence: readonly string[];
  /** Whether anything was done to it. */
  readonly isCalm: boolean;
  readonly ms: number;
}

/** One run on an engine whose processes are killed, stopped and restarted, and what came of it. */
export async function chaosRound(
  server: PostgresServer,
  calm: CalmCrowd,
  options: RoundOptions,
): Promise<Round> {
  const { seed, faults, numbers, workers, queue, redis, leaseMs = 1500, patienceMs = 120_000 } = options;
  const { through = (address: string) => address } = options;
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
  const joining = ['--engine', through(url), '--lease', `${leaseMs}ms`, '--queue', places[queue]];
  const run = ['run', 'crowd.yaml', '--out', out, ...joining];
  const works = seed % 2 === 0;
  const coordinator = works ? run : [...run, '--no-work'];
  const others = works ? workers - 1 : workers;
  const env = { ...service.env };
  await using crowd = new Crowd(
    { coordinator, worker: (name) => ['worker', '--name', name, ...joining] },
    others,
    { cwd, env },
  );
  const { plan = drawFaults({ seed, faults, workers: others, leaseMs, redis: queue === 'redis' }) } = options;
  await crowd.start();
  const met = await meet(plan, {
    crowd,
    server,
    service,
    leaseMs,
    ...(redis === undefined ? {} : { redis }),
  });
  await crowd.whole();

  const ended: CliResult[] = [];
  try {
    const { ended: before } = crowd.coordinator;
    ended.push(before.at(-1) ?? (await within(patienceMs, url, crowd.coordinator.end(), 'The run')));
    const { code } = ended[0] as CliResult;
    if (code !== 0 && code !== 5) throw new Error(`The run ended with ${code}.`);
  } catch (error) {
    const left = await unfinished(url).catch(String);
    const before = crowd.gaveUp.map(({ name, code, stderr }) => `${name} ended with ${code}: ${stderr}`);
    const said = ended.map(({ stderr }) => stderr);
    throw new Error([(error as Error).message, ...said, left, ...before, await crowd.silence()].join('\n'), {
      cause: error,
    });
  }
  const inDoubt = await doubtful(url);
  const doubts = inDoubt.length;
  const sent = new Set(service.tasks().map(({ tag }) => tag));
  const toFind = inDoubt.filter((key) => sent.has(key));
  const lateFacts = await count(url, 'SELECT count(*)::int AS count FROM promptpress.facts_late');
  const again = async (how: string): Promise<void> => {
    ended.push(
      await within(
        patienceMs,
        url,
        cli([...coordinator, '--in-doubt', how], { cwd, env }),
        `--in-doubt ${how}`,
      ),
    );
  };
  if (doubts > 0) await again('find');
  const notFound = doubts > 0 ? await doubtful(url) : [];
  const neverSent = notFound.length;
  if (neverSent > 0) await again('retry');
  const gaveUp = crowd.gaveUp;
  await crowd.dismiss();
  const overlooked = toFind.filter((key) => notFound.includes(key));
  const open = neverSent > 0 ? (await doubtful(url)).length : 0;
  const tasks = service.tasks();
  const found = existsSync(join(out, 'manifest.csv')) ? await audit(out, tasks, calm) : nothing(calm);
  const result: Round = {
    ...met,
    ...found,
    jobs: calm.tags.size,
    submissions: tasks.length,
    doubts,
    found: doubts - neverSent,
    neverSent,
    open,
    overlooked,
    lateFacts,
    codes: ended.map(({ code }) => code),
    again: crowd.members.reduce((sum, { again }) => sum + again, 0),
    gaveUp,
    said: ended.map(({ stderr }) => stderr).join('\n'),
    evidence: await evidenceOf(url, [...found.lost, ...found.duplicated, ...overlooked], tasks),
    isCalm: faults === 0,
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
    round.open +
    round.overlooked.length +
    round.wrongFiles.length +
    round.gaveUp.length ===
    0 &&
  round.sameManifest &&
  (round.sameAttempts || !round.isCalm) &&
  round.codes.at(-1) === 0;

/** How often is looked whether a run goes on, ms. */
const lookMs = 2000;
/** Whoever writes on and on and comes to no end is given up after so many times its patience. */
const mostPatience = 10;

/** However slow the machine is, a run ends as long as something is written for it. */
async function within(
  patienceMs: number,
  url: string,
  work: Promise<CliResult | undefined>,
  what: string,
): Promise<CliResult> {
  const began = Date.now();
  let [written, since] = ['', began];
  for (;;) {
    const ended = await Promise.race([work.then((result) => ({ result })), pause(lookMs)]);
    if (ended?.result !== undefined) return ended.result;
    if (ended !== undefined) throw new Error(`${what} was not there.`);
    const [row] = await asked<{ turns: string }>(url, 'SELECT sum(rev)::text AS turns FROM promptpress.jobs');
    const now = Date.now();
    if (row !== undefined && row.turns !== written) [written, since] = [row.turns, now];
    if (now - since > patienceMs || now - began > mostPatience * patienceMs)
      throw new Error(
        `${what} did not end: ${(now - began) / 1000} s, and nothing written for ${(now - since) / 1000} s.`,
      );
  }
}

const pause = (ms: number): Promise<undefined> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms);
  });

const nothing = ({ tags }: CalmCrowd): Audit => ({
  lost: [...tags],
  duplicated: [],
  undone: tags.size,
  wrongFiles: [],
  sameManifest: false,
  sameAttempts: false,
});

/** Keys of the jobs in doubt. */
async function doubtful(url: string): Promise<readonly string[]> {
  const rows = await asked<{ key: string }>(
    url,
    "SELECT key FROM promptpress.jobs WHERE status = 'in-doubt'",
  );
  return rows.map(({ key }) => key);
}

const count = async (url: string, text: string): Promise<number> =>
  (await asked<{ count: number }>(url, text))[0]?.count ?? 0;
