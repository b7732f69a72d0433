import { readFileSync } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { type RunningCli, startCli, temporaryFolder } from '../../rig/cli.ts';
import { type QuickService, serviceEnv, startQuickService } from '../../rig/measured.ts';
import { asked } from '../../rig/postgres/asked.ts';
import type { Bench, Comparison } from '../comparison.ts';
import { type BenchEngine, withEngine } from './workers.ts';

const cells = 10_000_000;
/** Cells that a worker carries out. */
const carriedOut = 100_000;
/** Cells of a slice of texts. */
const ofSlice = 256;
/** Tasks that may be in flight, and so the slots: nothing here is a task. */
const tasks = 12;

const pipeline = (matrix: string, words: string): string => `
name: size
limits: { requests: 32, tasks: ${tasks} }
matrix: ${matrix}
steps:
  text: { generate: { model: text-flash, prompt: "${words}, in one sentence." } }
`;

const numbers = pipeline(
  `{ a: { from: 1, to: 1000 }, b: { from: 1, to: ${cells / 1000} } }`,
  'A fox, {{ a }}, and an owl, {{ b }}',
);

/** A run at one moment. */
interface Look {
  /** Cells of all slices that are done. */
  readonly done: number;
  /** Slices that are not done. */
  readonly waiting: number;
  /** All cells are in slices. */
  readonly fed: boolean;
  /** Memory of the process (resident), MB. */
  readonly mb: number;
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

const memoryOf = ({ child }: RunningCli): number => {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8'));
  return (Number(found?.[1]) * 1024) / 1e6;
};

/** A run without end: its processes are killed. */
class OpenRun implements AsyncDisposable {
  readonly #database: Client;
  readonly #url: string;
  readonly #folder: string;
  readonly #service: QuickService;
  readonly #processes: RunningCli[] = [];
  readonly #ends: (() => Promise<unknown>)[] = [];
  coordinator!: RunningCli;

  private constructor(url: string, folder: string, service: QuickService) {
    this.#url = url;
    this.#folder = folder;
    this.#service = service;
    this.#database = new Client({ connectionString: url });
  }

  /** In a database of its own. */
  static async begin(
    { url }: BenchEngine,
    name: string,
    text: string,
    write: (folder: string) => Promise<void>,
    args: readonly string[] = [],
  ): Promise<OpenRun> {
    await asked(url, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
    const own = new URL(url);
    own.pathname = name;
    const folder = await temporaryFolder();
    const service = await startQuickService();
    const run = new OpenRun(own.href, folder.path, service);
    run.#ends.push(
      () => service.close(),
      async () => await folder[Symbol.asyncDispose](),
    );
    try {
      await writeFile(join(folder.path, 'pipeline.yaml'), text);
      await write(folder.path);
      await run.#database.connect();
      run.coordinator = run.#start(
        ['run', 'pipeline.yaml', '--no-work', '--out', 'out', ...args],
        folder.path,
      );
      await run.coordinator.said(/^Engine: /m);
      return run;
    } catch (error) {
      await run[Symbol.asyncDispose]();
      throw error;
    }
  }

  #start(args: readonly string[], cwd: string): RunningCli {
    const started = startCli([...args, '--engine', this.#url], { cwd, env: serviceEnv(this.#service.url) });
    this.#processes.push(started);
    return started;
  }

  /** A worker where nothing of the run lies. */
  async worker(): Promise<RunningCli> {
    const elsewhere = join(this.#folder, 'elsewhere');
    await mkdir(elsewhere, { recursive: true });
    return this.#start(['worker'], elsewhere);
  }

  async texts(): Promise<number> {
    return (await this.#service.counts()).texts;
  }

  async look(of: RunningCli): Promise<Look> {
    if (of.child.exitCode !== null) throw new Error((await of.done).stderr);
    const { rows } = await this.#database.query<{ begun: number; waiting: number; fed: boolean }>(
      `SELECT next_slice - 1 AS begun, fed,
         (SELECT count(*)::int FROM promptpress.slices s WHERE s.run = r.run AND NOT done) AS waiting FROM promptpress.runs r`,
    );
    const { begun = 0, waiting = 0, fed = false } = rows[0] ?? {};
    return { done: Math.max(0, begun - waiting) * ofSlice, waiting, fed, mb: memoryOf(of) };
  }

  /** Looks at a process again and again, until it was seen often enough. */
  async watch(
    of: RunningCli,
    isEnough: (look: Look) => boolean | Promise<boolean>,
  ): Promise<readonly Look[]> {
    const looks: Look[] = [];
    for (;;) {
      const look = await this.look(of);
      looks.push(look);
      if (await isEnough(look)) return looks;
      await pause(50);
    }
  }

  /** All slices that wait are done, as far as anybody knows. */
  async passOver(): Promise<void> {
    await this.#database.query('UPDATE promptpress.slices SET done = true WHERE NOT done');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#processes) child.kill('SIGKILL');
    await Promise.all(this.#processes.map(({ done }) => done));
    await this.#database.end().catch(() => undefined);
    for (const end of this.#ends) await end();
  }
}

const nothing = (): Promise<void> => Promise.resolve();

/** The cells of a worker, and what its coordinator feeds meanwhile. */
async function workedOn(engine: BenchEngine): Promise<readonly Look[]> {
  await using run = await OpenRun.begin(engine, 'worked_on', numbers, nothing);
  const worker = await run.worker();
  return await run.watch(worker, ({ done }) => done >= carriedOut);
}

/** All cells, by a coordinator whose slices are passed over as soon as there are many. */
async function registered(engine: BenchEngine): Promise<readonly Look[]> {
  // By the table of slices alone: nobody ends them in BullMQ.
  await using run = await OpenRun.begin(engine, 'registered', numbers, nothing, ['--queue', 'lease']);
  const looks = await run.watch(run.coordinator, async ({ waiting, fed }) => {
    if (waiting >= 900) await run.passOver();
    return fed;
  });
  const { done = 0, waiting = 0 } = looks.at(-1) ?? {};
  if (done + waiting * ofSlice < cells) throw new Error(`${done} cells and ${waiting} slices of ${cells}.`);
  return looks;
}

/** The most memory while these parts of the cells were done. */
const peakMB = (looks: readonly Look[], all: number, from: number, to: number): number =>
  Math.max(...looks.filter(({ done }) => done >= from * all && done <= to * all).map(({ mb }) => mb));

const maxWaiting = (looks: readonly Look[]): number => Math.max(...looks.map(({ waiting }) => waiting));

type Looks = (engine: BenchEngine) => Promise<readonly Look[]>;

/** Several figures of one run. */
const once = (find: Looks): Looks => {
  let found: Promise<readonly Look[]> | undefined;
  return (engine) => (found ??= find(engine));
};

const [ofWorker, ofCoordinator] = [once(workedOn), once(registered)];

const row = (
  bench: Pick<Bench, 'asks' | 'allowed'> & { readonly rounds?: number },
  prepare: (engine: BenchEngine) => Comparison | Promise<Comparison>,
): Bench => ({ rounds: 1, warmUp: false, ...bench, prepare: () => withEngine(prepare) });

const flat = (asks: string, looks: Looks, all: number): Bench =>
  row({ asks, allowed: { ratioAtMost: 1.1 } }, (engine) => ({
    unit: 'MB at most',
    left: { name: 'last fifth', measure: async () => peakMB(await looks(engine), all, 0.8, 1) },
    right: { name: 'second fifth', measure: async () => peakMB(await looks(engine), all, 0.2, 0.4) },
  }));

const waiting = (asks: string, looks: Looks): Bench =>
  row({ asks, allowed: { figureAtMost: 2 * tasks + 1000 } }, (engine) => ({
    unit: 'slices',
    left: { name: 'most', measure: async () => maxWaiting(await looks(engine)) },
  }));

const fewRows = 20_000;

/** A run whose cells are the rows of a table, and as many slices of it as there may be. */
async function tableRun(engine: BenchEngine, rows: number): Promise<OpenRun> {
  const write = async (folder: string): Promise<void> => {
    const file = await open(join(folder, 'table.csv'), 'w');
    await file.write('id,animal\n');
    for (let from = 1; from <= rows; from += 10_000)
      await file.write(
        Array.from({ length: 10_000 }, (_unused, at) => `${from + at},fox ${from + at}\n`).join(''),
      );
    await file.close();
  };
  const run = await OpenRun.begin(
    engine,
    `rows_${rows}`,
    pipeline('{ rows: table.csv }', 'Of {{ animal }}'),
    write,
  );
  const most = Math.min(2 * tasks + 1000, Math.ceil(rows / ofSlice));
  await run.watch(run.coordinator, ({ waiting: are }) => are >= most - 1);
  return run;
}

/** Time from the start of a worker to its first request, s; it takes its leave in good order. */
async function firstCell(run: OpenRun): Promise<{ readonly value: number; readonly peakMB: number }> {
  const before = await run.texts();
  const from = performance.now();
  const worker = await run.worker();
  while ((await run.texts()) === before) {
    if (worker.child.exitCode !== null) throw new Error((await worker.done).stderr);
    await pause(5);
  }
  const value = (performance.now() - from) / 1000;
  const mb = memoryOf(worker);
  worker.child.kill('SIGTERM');
  await worker.done;
  return { value, peakMB: mb };
}

/** What a run of 10,000,000 cells takes on an engine: its processes hold no more than a few slices, however many there are. */
export const engineSize: Readonly<Record<string, Bench>> = {
  'engine-size-worker': flat(
    `memory of a worker in a run of 10,000,000 cells, while it carries out ${carriedOut} text calls without latency`,
    ofWorker,
    carriedOut,
  ),
  'engine-size-worker-waiting': waiting('and the slices that wait meanwhile', ofWorker),
  'engine-size-coordinator': flat(
    'memory of the coordinator (run --no-work) until all of 10,000,000 cells are in slices, which are passed over',
    ofCoordinator,
    cells,
  ),
  'engine-size-coordinator-waiting': waiting('and the slices that wait meanwhile', ofCoordinator),
  'engine-size-start': row(
    {
      asks: 'a worker starts without the table: until its first request, with 10,000,000 rows against 20,000',
      allowed: { ratioAtMost: 1.2 },
      rounds: 5,
    },
    async (engine) => {
      const many = await tableRun(engine, cells);
      const few = await tableRun(engine, fewRows);
      return {
        unit: 's',
        left: { name: '10,000,000 rows', measure: () => firstCell(many) },
        right: { name: '20,000 rows', measure: () => firstCell(few) },
        end: async () => {
          await many[Symbol.asyncDispose]();
          await few[Symbol.asyncDispose]();
        },
      };
    },
  ),
};
