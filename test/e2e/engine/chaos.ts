/**
 * `npm run chaos -- --minutes 20 --queue lease,bullmq,redis --seed 1 --totals FILE`: runs on an engine, one after another, whose
 * processes are killed, stopped, cut off and restarted, with PostgreSQL, and what came of each. By its seed, a round also has its state put back,
 * jobs made anew, or a worker with another file; in every seventh, nothing but cables is cut. The totals of several sittings add up in the file;
 * `--sum FILE` shows them. With `--faults 0` nothing happens, and even the attempts have to be those of one process.
 *
 * A round on Redis needs `redis-server` on the path. The commands are those of `dist`: `npm run chaos` builds it.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../../rig/cli.ts';
import { install, installedAt, packagedPostgres } from '../../rig/postgres/installation.ts';
import { startServer } from '../../rig/postgres/server.ts';
import { startRedis } from '../../rig/redis.ts';
import { calmCrowd, chaosRound, imageJobs, isWhole, type RoundOptions } from './round.ts';
import {
  appendLine,
  type BrokenLine,
  lineOf,
  type RoundLine,
  readLines,
  sumText,
  totalsText,
} from './totals.ts';

const { values } = parseArgs({
  options: {
    /** No round is begun later. */
    minutes: { type: 'string' },
    /** Default 6, or as many as fit into the minutes. */
    rounds: { type: 'string' },
    /** Of the first round; each further one has the next. Default: the one behind those of the totals. */
    seed: { type: 'string' },
    /** Several, with commas, in turn: all of them with one number of workers, then with the next. */
    queue: { type: 'string', default: 'lease' },
    /** Processes that work, the coordinator of every second round among them. Several, with commas, in turn. */
    workers: { type: 'string', default: '3' },
    /** In each round, beside those of Redis. */
    faults: { type: 'string', default: '14' },
    /** Ten image jobs each. */
    numbers: { type: 'string', default: '10' },
    /** Rounds in which something is drawn by the seed: `restore`, `redo`, `file`, `cuts`. Several, with commas; default: all of them. */
    kinds: { type: 'string', default: 'restore,redo,file,cuts' },
    /** In ms. Default 1500; 30 s where nothing happens. */
    lease: { type: 'string' },
    /** Rounds at the same time, each with a server of its own. */
    side: { type: 'string', default: '1' },
    /** A file to which each round adds a line of JSON. */
    totals: { type: 'string' },
    /** Shows what such a file adds up to, and does nothing else. */
    sum: { type: 'string' },
    /** A folder of PostgreSQL's programs; default: the npm package. */
    postgres: { type: 'string' },
  },
});

if (values.sum !== undefined) {
  const lines = readLines(values.sum);
  for (const commit of new Set(lines.map((line) => line.commit)))
    console.log(`${commit}: ${sumText(lines.filter((line) => line.commit === commit))}`);
  console.log(totalsText(lines));
  process.exit();
}

const queues = values.queue.split(',').map((given) => {
  const queue = (['lease', 'bullmq', 'redis'] as const).find((name) => name === given);
  if (queue === undefined) throw new Error('--queue is lease, bullmq or redis, or several of them.');
  return queue;
});
const sizes = values.workers.split(',').map(Number);
const numbers = Number(values.numbers);
const faults = Number(values.faults);
const kinds = values.kinds.split(',');
const leaseMs = Number(values.lease ?? (faults === 0 ? 30_000 : 1500));
const { minutes, totals: file } = values;
const until = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + 60_000 * Number(minutes);
const rounds = Number(values.rounds ?? (minutes === undefined ? 6 : Number.POSITIVE_INFINITY));
const firstSeed = Number(
  values.seed ?? 1 + Math.max(0, ...(file === undefined ? [] : readLines(file).map(({ seed }) => seed))),
);
const commit = commitHere();

await using installation = await (values.postgres === undefined
  ? install(packagedPostgres() ?? '')
  : installedAt(values.postgres));
const calm = await calmCrowd(numbers);
console.log(`${commit}; one process: ${calm.tags.size} tasks for ${imageJobs(numbers)} image jobs`);
const lines: (RoundLine | BrokenLine)[] = [];
let next = 0;
await Promise.all(Array.from({ length: Number(values.side) }, side));
console.log(totalsText(lines));
if (file !== undefined) console.log(`with those before, in ${file}: ${sumText(readLines(file))}`);
process.exitCode = lines.every((line) => 'whole' in line && line.whole) ? 0 : 1;

/** Plays one round after another on a server of its own. */
async function side(): Promise<void> {
  // Eight workers have many connections.
  await using server = await startServer(installation, { max_connections: '200' });
  await using folder = await temporaryFolder();
  await using redis = queues.includes('redis') ? await startRedis(folder.path) : undefined;
  while (next < rounds && Date.now() < until) {
    const at = next;
    next += 1;
    const seed = firstSeed + at;
    const isOne = (kind: string, of: number): boolean =>
      faults > 0 && kinds.includes(kind) && seed % of === 0;
    const options: RoundOptions = {
      seed,
      queue: queues[at % queues.length] ?? 'lease',
      // Once round the queues with one number of workers, then with the next: each queue comes to each number.
      workers: sizes[Math.floor(at / queues.length) % sizes.length] ?? 3,
      faults,
      numbers,
      leaseMs,
      ...(redis === undefined ? {} : { redis }),
      ...(isOne('cuts', 7)
        ? { cutsOnly: true }
        : {
            restores: isOne('restore', 3),
            redos: isOne('redo', 2) ? 8 : 0,
            hasWrongFile: isOne('file', 5),
          }),
    };
    const line = await played(options, () => chaosRound(server, calm, options));
    lines.push(line);
    appendLine(file, line);
  }
}

async function played(
  options: RoundOptions,
  play: () => ReturnType<typeof chaosRound>,
): Promise<RoundLine | BrokenLine> {
  const { seed, queue, workers } = options;
  const what = `seed ${seed} ${queue} ${workers} workers`;
  const place = (): Pick<RoundLine, 'at' | 'commit'> => ({ at: new Date().toISOString(), commit });
  try {
    const round = await play();
    const line = lineOf(round, options, place());
    const { at: _at, commit: _commit, seed: _seed, queue: _queue, workers: _workers, ms, ...counts } = line;
    console.log(`${what} ${(ms / 1000).toFixed(1)} s`, JSON.stringify(counts));
    if (isWhole(round)) return line;
    const { said, gaveUp, lost, duplicated, overlooked, wrongFiles, undone, evidence, history } = round;
    const { textsUnsaid, amiss } = round;
    console.log(`${what} IS BROKEN`, {
      lost,
      duplicated,
      overlooked,
      wrongFiles,
      undone,
      textsUnsaid,
      amiss,
    });
    console.log([...history, ...evidence.map((line) => line.slice(0, 800)), said].join('\n'));
    for (const { name, code, stderr } of gaveUp) console.log(`${name} ended with ${code}:\n${stderr}`);
    return line;
  } catch (error) {
    console.log(`${what} IS BROKEN:`, error);
    return { ...place(), seed, queue, workers, broken: String(error).split('\n', 1)[0] ?? '' };
  }
}

/** As git has it; where there is none, nothing is known of it. */
function commitHere(): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return `${git('rev-parse', '--short=8', 'HEAD')}${git('status', '--porcelain', 'src') === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}
