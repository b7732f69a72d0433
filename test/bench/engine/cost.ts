import { type MeasuredProcess, startQuickService } from '../../rig/measured.ts';
import type { Bench } from '../comparison.ts';
import { runPipeline } from '../service-run.ts';
import { type BenchEngine, runWorkers, type WorkersTook, withEngine } from './workers.ts';

const texts = 10_000;
/** As many cells as show what a process takes for itself: to load its code, to wait for a run. */
const fewTexts = 100;

const textPipeline = (cells: number): string => `
name: texts
limits: { requests: 32 }
matrix: { n: { from: 1, to: ${cells} } }
steps:
  say: { generate: { model: text-pro, prompt: "Say something short about number {{ n }}." } }
`;

/** CPU of one more cell, µs: without what a process takes for itself. */
async function cpuOfCell(measure: (cells: number) => Promise<MeasuredProcess>) {
  const few = await measure(fewTexts);
  const { cpuMs, peakMB } = await measure(texts);
  return { value: ((cpuMs - few.cpuMs) * 1000) / (texts - fewTexts), cpuMs, peakMB };
}

/** What a cell costs a worker: its records go to PostgreSQL in place of SQLite. */
const workerCpu: Bench = {
  asks: `CPU of a cell in a worker on PostgreSQL, against a run on one machine: ${texts} text calls without latency, less ${fewTexts}`,
  allowed: { ratioAtMost: 1.1 },
  rounds: 5,
  warmUp: false,
  prepare: () =>
    withEngine(async (engine) => {
      const service = await startQuickService();
      return {
        unit: 'µs of CPU a cell',
        left: {
          name: 'worker',
          measure: () =>
            cpuOfCell(async (cells) => {
              const pipeline = textPipeline(cells);
              const { workers } = await runWorkers(engine, { pipeline, service: service.url, workers: 1 });
              const [worker] = workers;
              if (worker === undefined) throw new Error('no worker');
              return worker;
            }),
        },
        right: {
          name: 'run',
          measure: () => cpuOfCell((cells) => runPipeline(textPipeline(cells), service.url)),
        },
        end: () => service.close(),
      };
    }),
};

const tasksOfWorker = 100;
const cells = 4000;

const taskPipeline = `
name: tasks
limits: { tasks: ${10 * tasksOfWorker} }
poll: { min: 33ms }
matrix: { n: { from: 1, to: ${cells} } }
steps:
  grid: { imagine: "fox {{ n }}", keep: false }
`;

/** Cells a second while all workers are busy: from the first submission to the last. */
async function paceOf(
  engine: BenchEngine,
  workers: number,
): Promise<{ readonly pace: number; readonly took: WorkersTook }> {
  const service = await startQuickService({ taskMs: 1000 });
  try {
    const took = await runWorkers(engine, {
      pipeline: taskPipeline,
      service: service.url,
      workers,
      args: ['--slots', String(tasksOfWorker)],
    });
    const tasks = await service.tasks();
    if (tasks.length !== cells) throw new Error(`${tasks.length} tasks of ${cells}.`);
    const [from, to] = [tasks[0]?.[0] ?? 0, tasks.at(-1)?.[0] ?? 0];
    // What is submitted at once, before the first has ended, took no time of the service's.
    return { pace: ((cells - workers * tasksOfWorker) * 1000) / (to - from), took };
  } finally {
    await service.close();
  }
}

const sumCpu = ({ workers }: WorkersTook): number => workers.reduce((sum, { cpuMs }) => sum + cpuMs, 0);

const side = (workers: number, engine: BenchEngine, figure: 'pace' | 'engine') => ({
  name: workers === 1 ? '1 worker' : `${workers} workers`,
  measure: async () => {
    const { pace, took } = await paceOf(engine, workers);
    return { value: figure === 'pace' ? pace : (took.engineCpuMs * 1000) / cells, cpuMs: sumCpu(took) };
  },
});

const twoWorkers = (figure: 'pace' | 'engine'): Pick<Bench, 'rounds' | 'warmUp' | 'prepare'> => ({
  rounds: 3,
  warmUp: false,
  prepare: () =>
    withEngine((engine) => ({
      unit: figure === 'pace' ? 'cells a second' : 'µs of the CPU of PostgreSQL a cell',
      left: side(2, engine, figure),
      right: side(1, engine, figure),
    })),
});

/** What workers on an engine cost, and what a second one brings. */
export const workersCost: Readonly<Record<string, Bench>> = {
  'workers-cpu': workerCpu,
  'workers-two': {
    asks: `two workers against one, where the service is the limit: ${tasksOfWorker} tasks of 1 s each`,
    allowed: { ratioAtLeast: 1.9 },
    ...twoWorkers('pace'),
  },
  'workers-two-engine': {
    asks: 'and what a cell costs PostgreSQL then',
    allowed: { ratioAtMost: 1.1 },
    ...twoWorkers('engine'),
  },
};
