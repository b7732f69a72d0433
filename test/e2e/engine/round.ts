import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Cable, startCable } from '../../rig/cable.ts';
import { type CliResult, cli, temporaryFolder } from '../../rig/cli.ts';
import { readManifest } from '../../rig/manifest.ts';
import { makePng } from '../../rig/png.ts';
import { asked } from '../../rig/postgres/asked.ts';
import type { PostgresServer } from '../../rig/postgres/server.ts';
import { write } from '../pipelines.ts';
import { type Audit, audit, timesMade } from './audit.ts';
import { Crowd, type GaveUp } from './crowd.ts';
import { evidenceOf, unfinished } from './evidence.ts';
import { drawFaults, type Fault } from './fault-plan.ts';
import { startService } from './service-process.ts';
import { type Met, meet, metInAll, type RedisServer } from './stage.ts';
import { Traffic } from './traffic.ts';

/** Pictures that cells show, one for each pack. */
const packs = [1, 2, 3, 4];
const pictureOf = (pack: number): string => `pack-${pack}.png`;
const asSent = (png: Buffer): string => png.toString('base64').replace(/=+$/, '');
/** What a worker with a wrong file has in place of a picture. */
const wrongPicture = { pack: 2, bytes: makePng(1002) };

/**
 * Of each grid four cells in four slices want the same, with two upscales and their variations; each cell has an image and a text of
 * its own, and the images of four cells, far apart, are gathered.
 */
const crowdPipeline = (numbers: number): string => `name: crowd
service: { id: fake }
limits: { tasks: 24, requests: 16 }
retry: { attempts: 4, base: 50ms, cap: 500ms, patience: 60s }
# Longer than anybody is cut off. Whose sender is not known to be dead waits for so long: after a restore nobody says that it is.
timeouts: { text: 30s }
poll: { min: 50ms, max: 250ms }
matrix:
  pack: { from: 1, to: ${packs.length} }
  n: { from: 1, to: ${numbers} }
steps:
  grid: { imagine: "fox number {{ n }}", path: "U1,U2 → Vary (Strong)" }
  own: { imagine: { prompt: "card {{ n }} of pack {{ pack }}", images: ["pack-{{ pack }}.png"] } }
  words:
    from: own
    generate: { model: text-lite, prompt: "Caption card {{ n }} of pack {{ pack }}.", images: [parent] }
  pile: { gather: { step: own, over: [pack] }, imagine: "cards {{ n }} of {{ gathered | size }} packs" }
`;

/** The request for a text, by its prompt; in the records, too. */
const captions = /Caption card \d+ of pack \d+\./;

/** Writes {@link crowdPipeline} with the pictures that it shows. */
export async function writeCrowd(folder: string, numbers: number): Promise<void> {
  await write(folder, { 'crowd.yaml': crowdPipeline(numbers) });
  for (const pack of packs) await writeFile(join(folder, pictureOf(pack)), makePng(pack));
}

/** Image jobs of {@link crowdPipeline}. */
export const imageJobs = (numbers: number): number => 10 * numbers;

/** What the pipeline comes to in one process to which nothing happens. */
export interface CalmCrowd {
  readonly manifest: string;
  /** Keys of its image jobs. */
  readonly tags: ReadonlySet<string>;
  /** Those from which nothing comes: where they are made anew, nothing else is. */
  readonly leaves: readonly string[];
}

export async function calmCrowd(numbers: number): Promise<CalmCrowd> {
  await using folder = await temporaryFolder();
  await using service = await startService(folder.path);
  await writeCrowd(folder.path, numbers);
  const { code, stderr } = await cli(['run', 'crowd.yaml'], { cwd: folder.path, env: service.env });
  if (code !== 0) throw new Error(`The undisturbed run ended with ${code}:\n${stderr}`);
  const manifest = join(folder.path, 'runs/crowd/manifest.csv');
  const rows = await readManifest(manifest);
  const leaves = rows.filter(({ branch }) => branch?.includes('/') === true).map(({ job = '' }) => job);
  return {
    manifest: await readFile(manifest, 'utf8'),
    tags: new Set(service.tasks().map(({ tag }) => tag)),
    leaves: [...new Set(leaves)].sort(),
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
  /** Nothing but cables to PostgreSQL is cut: no text may be asked for twice. */
  readonly cutsOnly?: boolean;
  /** All processes are killed after the faults, and the data of PostgreSQL are put back as they were in the midst of them. */
  readonly restores?: boolean;
  /** So many jobs are made anew afterwards, in spite of kills. */
  readonly redos?: number;
  /** The last worker has another content in a file that cells show. */
  readonly hasWrongFile?: boolean;
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
  /** Data of PostgreSQL that were put back; submissions that their state did not know, as they were refused. */
  readonly restores: number;
  readonly unknown: number;
  /** Jobs that were made anew by an order. */
  readonly redos: number;
  /** How often a worker with another file said so. */
  readonly strangers: number;
  /** Requests for texts that left beyond one for each, and how many of them the records count as without an answer. */
  readonly textsAgain: number;
  readonly textsCounted: number;
  /** Texts that were asked for more often than their records say, or at all more than once where nobody was killed. */
  readonly textsUnsaid: readonly string[];
  /** What was not as the documents say it of restores, orders and files. */
  readonly amiss: readonly string[];
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
  const { through = (address: string) => address, restores = false, redos = 0, cutsOnly = false } = options;
  const began = Date.now();
  await using folder = await temporaryFolder();
  const { path: cwd } = folder;
  await using service = await startService(cwd);
  await writeCrowd(cwd, numbers);
  const elsewhere = join(cwd, 'elsewhere');
  await mkdir(elsewhere);
  await writeCrowd(elsewhere, numbers);
  await writeFile(join(elsewhere, pictureOf(wrongPicture.pack)), wrongPicture.bytes);
  const database = `chaos_${seed}_${began}`;
  await asked(server.url(), `CREATE DATABASE ${database} ENCODING 'UTF8' TEMPLATE template0`);
  const url = server.url(database);

  const works = seed % 2 === 0;
  const others = works ? workers - 1 : workers;
  const stranger = options.hasWrongFile === true && others > 1 ? others : undefined;
  const baseUrl = service.env['PROMPTPRESS_BASE_URL'] ?? '';
  const pictures = [wrongPicture.bytes, makePng(1)].map(asSent);
  const words = [captions.source, ...pictures.map((text) => text.replaceAll('+', '\\+'))].join('|');
  const traffic = new Traffic(new RegExp(words, 'g'), Math.max(...pictures.map(({ length }) => length)));
  await using gateway = await startCable(Number(new URL(baseUrl).port), () => traffic.tap());
  await using cables = await cablesTo(Number(new URL(through(url)).port), 1 + others);
  const env = { ...service.env, PROMPTPRESS_BASE_URL: gateway.through(baseUrl) };

  const out = join(cwd, 'out');
  const places = { lease: 'lease', bullmq: 'bullmq', redis: redis?.url ?? '' };
  const joining = (at: number): string[] => {
    const address = cables.all[at]?.through(through(url)) ?? '';
    return ['--engine', address, '--lease', `${leaseMs}ms`, '--queue', places[queue]];
  };
  const run = ['run', 'crowd.yaml', '--out', out, ...joining(0)];
  const coordinator = works ? run : [...run, '--no-work'];
  const { plan = planned(options, others, leaseMs) } = options;
  const met: Met[] = [];
  const ended: CliResult[] = [];
  const gaveUp: GaveUp[] = [];
  const amiss: string[] = [];
  const doubted = { doubts: 0, neverSent: 0, open: 0, overlooked: [] as string[] };
  /** Jobs of which more than one task is wanted. */
  const redone = new Set<string>();
  const wantedOf = (key: string): number => (redone.has(key) ? 2 : 1);
  let [again, strangers] = [0, 0];
  let putBack: (() => Promise<void>) | undefined;
  /** Requests for texts, as they were counted when the data of PostgreSQL were copied. */
  let backedUp: ReadonlyMap<string, number> | undefined;

  /** Begins all processes, and does to them what is planned. Whoever is not killed then sees the run to its end, with nothing in doubt. */
  const stretch = async (
    flags: readonly string[],
    of: readonly Fault[],
    then: 'killed' | ((lead: (...more: readonly string[]) => Promise<CliResult>) => Promise<void>),
  ): Promise<void> => {
    const command = [...coordinator, ...flags];
    await using crowd = new Crowd(
      {
        coordinator: command,
        worker: (name, at) => ({
          args: ['worker', '--name', name, ...joining(at)],
          ...(at === stranger ? { cwd: elsewhere } : {}),
        }),
      },
      others,
      { cwd, env },
    );
    await crowd.start();
    const stage = { crowd, server, service, leaseMs, cables: cables.all, gateway };
    const onBackup = (back: () => Promise<void>): void => {
      putBack = back;
      backedUp = traffic.counts();
    };
    met.push(await meet(of, { ...stage, onBackup, ...(redis === undefined ? {} : { redis }) }));
    if (then === 'killed') {
      // Their counts beside the results are a second old at most.
      if (restores) await pause(1500);
      await crowd.silence();
      return heedStranger(crowd);
    }
    await crowd.whole();
    const { ended: before } = crowd.coordinator;
    const lead = async (...more: readonly string[]): Promise<CliResult> => {
      const command = cli([...coordinator, ...more], { cwd, env });
      const result = await within(patienceMs, url, command, more.join(' '));
      ended.push(result);
      return result;
    };
    try {
      ended.push(before.at(-1) ?? (await within(patienceMs, url, crowd.coordinator.end(), 'The run')));
      const { code } = ended.at(-1) as CliResult;
      if (code !== 0 && code !== 5) throw new Error(`The run ended with ${code}.`);
    } catch (error) {
      const left = await unfinished(url).catch(String);
      const before = crowd.gaveUp.map(({ name, code, stderr }) => `${name} ended with ${code}: ${stderr}`);
      const said = ended.map(({ stderr }) => stderr);
      const happened = metInAll(met).history;
      const parts = [(error as Error).message, ...happened, ...amiss, ...said, left, ...before];
      throw new Error([...parts, await crowd.silence()].join('\n'), { cause: error });
    }
    await settleDoubts(lead);
    await then(lead);
    gaveUp.push(...crowd.gaveUp);
    again += crowd.members.reduce((sum, { again: times }) => sum + times, 0);
    await crowd.dismiss();
    heedStranger(crowd);
  };
  const heedStranger = ({ members }: Crowd): void => {
    const said = stranger === undefined ? [] : (members[stranger]?.lives ?? []);
    strangers += said.filter((text) => text.includes('is missing on this machine, or differs')).length;
  };

  const settleDoubts = async (lead: (...more: readonly string[]) => Promise<CliResult>): Promise<void> => {
    const inDoubt = await doubtful(url);
    const made = timesMade(service.tasks());
    const toFind = inDoubt.filter((key) => (made.get(key) ?? 0) >= wantedOf(key));
    if (inDoubt.length > 0) await lead('--in-doubt', 'find');
    const notFound = inDoubt.length > 0 ? await doubtful(url) : [];
    if (notFound.length > 0) await lead('--in-doubt', 'retry');
    doubted.doubts += inDoubt.length;
    doubted.neverSent += notFound.length;
    doubted.overlooked.push(...toFind.filter((key) => notFound.includes(key)));
    doubted.open += notFound.length > 0 ? (await doubtful(url)).length : 0;
  };
  const nothingMore = (): Promise<void> => Promise.resolve();

  /** Texts that were asked for after the state that was put back: it does not know of them. */
  const forgotten = new Map<string, number>();
  let unknown = 0;
  if (restores) {
    await stretch([], plan, 'killed');
    for (const [word, count] of traffic.counts()) forgotten.set(word, count - (backedUp?.get(word) ?? 0));
    await server.crash();
    await putBack?.();
    await server.start();
    const before = await service.made();
    const refused = await cli(coordinator, { cwd, env });
    const figures = /knows nothing of (\d+) of the (\d+) submissions/.exec(refused.stderr);
    unknown = Number(figures?.[1] ?? 0);
    if (refused.code !== 74 || unknown === 0 || (await service.made()) > before)
      amiss.push(`The older state was not refused (${refused.code}):\n${refused.stderr}`);
    const further = planned(
      { ...options, seed: seed + 1_000_000, faults: Math.ceil(faults / 3), restores: false },
      others,
      leaseMs,
    );
    await stretch(['--in-doubt', 'find'], further, nothingMore);
  } else {
    await stretch([], plan, nothingMore);
  }
  if (redos > 0) {
    const keys = calm.leaves.slice(0, redos);
    for (const key of keys) redone.add(key);
    await writeFile(join(cwd, 'jobs.txt'), keys.join('\n'));
    const order = ['--redo-jobs', 'jobs.txt'];
    const kill = (whom: number): Fault => ({ tasks: 2, ms: 20, does: { kind: 'kill', whom, forMs: 50 } });
    await stretch(order, [kill(0), kill(1)], 'killed');
    // A run that says nothing of the order goes on with it.
    await stretch(
      [],
      [kill(1), { tasks: 2, ms: 0, does: { kind: 'cut', whom: 1, how: 'stall', forMs: 2 * leaseMs } }],
      async (lead) => {
        const before = await service.made();
        const { stderr } = await lead(...order);
        if (!stderr.includes('made anew already') || (await service.made()) > before)
          amiss.push(`The order that was closed was begun again:\n${stderr}`);
      },
    );
  }

  const tasks = service.tasks();
  const found = existsSync(join(out, 'manifest.csv'))
    ? await audit(out, tasks, calm, wantedOf)
    : nothing(calm);
  const sent = traffic.counts();
  if ((sent.get(pictures[1] ?? '') ?? 0) === 0) amiss.push('No picture was seen on its way to the gateway.');
  if ((sent.get(pictures[0] ?? '') ?? 0) > 0)
    amiss.push('A picture was sent that is not the one of the run.');
  const texts = await textsSent(url, sent, forgotten, cutsOnly);
  const { doubts, neverSent, open, overlooked } = doubted;
  const result: Round = {
    ...metInAll(met),
    ...found,
    ...texts,
    jobs: calm.tags.size,
    submissions: tasks.length,
    doubts,
    found: doubts - neverSent,
    neverSent,
    open,
    overlooked,
    restores: Number(restores),
    unknown,
    redos: redone.size,
    strangers,
    amiss,
    lateFacts: await count(url, 'SELECT count(*)::int AS count FROM promptpress.facts_late'),
    codes: ended.map(({ code }) => code),
    again,
    gaveUp,
    said: ended.map(({ stderr }) => stderr).join('\n'),
    evidence: await evidenceOf(url, [...found.lost, ...found.duplicated, ...overlooked], tasks),
    isCalm: faults === 0,
    ms: Date.now() - began,
  };
  await asked(server.url(), `DROP DATABASE ${database} WITH (FORCE)`);
  return result;
}

/** What happens to a round: where its state is put back later, it is copied after the first third. */
function planned(options: RoundOptions, workers: number, leaseMs: number): readonly Fault[] {
  const { seed, faults, queue, cutsOnly = false, restores = false } = options;
  const plan = drawFaults({ seed, faults, workers, leaseMs, redis: queue === 'redis', cutsOnly });
  if (!restores) return plan;
  const at = Math.ceil(plan.length / 3);
  return [...plan.slice(0, at), { tasks: 3, ms: 0, does: { kind: 'backup' } }, ...plan.slice(at)];
}

async function cablesTo(
  port: number,
  count: number,
): Promise<AsyncDisposable & { readonly all: readonly Cable[] }> {
  const all = await Promise.all(Array.from({ length: count }, () => startCable(port)));
  const dispose = async (): Promise<void> => {
    for (const cable of all) await cable[Symbol.asyncDispose]();
  };
  return { all, [Symbol.asyncDispose]: dispose };
}

/** Holds the requests for texts that left against what the records count of them. */
async function textsSent(
  url: string,
  sent: ReadonlyMap<string, number>,
  forgotten: ReadonlyMap<string, number>,
  cutsOnly: boolean,
): Promise<Pick<Round, 'textsAgain' | 'textsCounted' | 'textsUnsaid'>> {
  const rows = await asked<{ prompt: string; unanswered: number }>(
    url,
    `SELECT substring(doc FROM '${captions.source}') AS prompt, unanswered FROM promptpress.jobs WHERE step = 'words'`,
  );
  let [textsAgain, textsCounted] = [0, 0];
  const textsUnsaid: string[] = [];
  for (const { prompt, unanswered } of rows) {
    const more = (sent.get(prompt) ?? 0) - 1;
    textsAgain += Math.max(0, more);
    textsCounted += unanswered;
    const most = cutsOnly ? 0 : unanswered + (forgotten.get(prompt) ?? 0);
    if (more > most || more < 0)
      textsUnsaid.push(`${prompt} left ${more + 1} times, ${unanswered} of them without an answer`);
  }
  return { textsAgain, textsCounted, textsUnsaid };
}

/** Whether nothing was lost, nothing was made twice, and all is as one process makes it. */
export const isWhole = (round: Round): boolean =>
  round.lost.length +
    round.duplicated.length +
    round.undone +
    round.open +
    round.overlooked.length +
    round.wrongFiles.length +
    round.textsUnsaid.length +
    round.amiss.length +
    round.gaveUp.length ===
    0 &&
  round.sameManifest &&
  (round.sameAttempts || !round.isCalm) &&
  round.codes.at(-1) === 0;

/** How often is looked whether a run goes on, ms. */
const lookMs = 2000;
/** Whoever writes on and on and comes to no end is given up after so many times its patience. */
const maxPatience = 10;

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
    if (now - since > patienceMs || now - began > maxPatience * patienceMs)
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
