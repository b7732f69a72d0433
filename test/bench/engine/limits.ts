import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Rate } from '../../../src/pipeline/pipeline.ts';
import { temporaryFolder } from '../../rig/cli.ts';
import { startQuickService } from '../../rig/measured.ts';
import type { QuickTaskTimes } from '../../rig/quick-options.ts';
import type { Bench } from '../comparison.ts';
import { maxInWindow } from '../known-limits.ts';
import { type BenchEngine, runWorkers, type WorkersWork, withEngine } from './workers.ts';

/** How many workers share a limit. */
const sizes = [1, 2, 4, 8];

/** After this time a worker that has begun is no slower than later, ms: until then its code is loaded and compiled. */
const warmMs = 2000;

/** From when until when all workers are at work, ms: see {@link steadyUse}. */
const together = (sent: readonly (readonly number[])[]): { readonly from: number; readonly to: number } => ({
  from: Math.max(...sent.flatMap((times) => times.slice(0, 1))) + warmMs,
  to: Math.min(...sent.flatMap((times) => times.slice(-1))),
});

/**
 * The part of a limit that is used while all workers have calls to make: from the time at which the last of them has begun, and its code is
 * warm, until the first of them is out of calls. What is not used before and after that is no more for a run of hours than for one of a
 * minute. Slices that end within that time are part of it. A worker that got no slice is none of them.
 *
 * @param sent when the calls of each worker left, in order, ms
 */
export function steadyUse(sent: readonly (readonly number[])[], { count, perMs }: Rate): number {
  const { from, to } = together(sent);
  if (!(to - from > 5 * warmMs)) throw new Error(`The workers have calls together for ${to - from} ms only.`);
  const within = sent.flat().filter((at) => at > from && at <= to).length;
  return within / (((to - from) * count) / perMs);
}

/** Carries a pipeline out by several workers. @returns when the submissions and text calls of each left it, ms, by one clock */
async function sentBy(
  engine: BenchEngine,
  work: Pick<WorkersWork, 'pipeline' | 'service' | 'workers'>,
): Promise<readonly (readonly number[])[]> {
  await using folder = await temporaryFolder();
  const stamps = (worker: number): string => join(folder.path, `stamps-${worker}.json`);
  await runWorkers(engine, {
    ...work,
    env: (worker) => ({
      NODE_OPTIONS: `--import=${new URL('../scripts/stamp-sends.mjs', import.meta.url).href}`,
      STAMPS_FILE: stamps(worker),
      // No path of a poll.
      STAMPS_OF: work.pipeline.includes('imagine:') ? '/submit/' : '',
    }),
  });
  const sent: (readonly number[])[] = [];
  for (let worker = 1; worker <= work.workers; worker += 1)
    sent.push(JSON.parse(await readFile(stamps(worker), 'utf8')) as readonly number[]);
  return sent;
}

/** Text calls of several workers under one limit. @returns when those of each left it, ms, by one clock */
async function sentTogether(
  engine: BenchEngine,
  workers: number,
  limit: string,
  calls: number,
): Promise<readonly (readonly number[])[]> {
  const service = await startQuickService({ textMs: 150 });
  try {
    const sent = await sentBy(engine, {
      pipeline: `
name: limits
limits: { tasks: ${8 * workers}, requests: 32, text: ${limit} }
matrix: { n: { from: 1, to: ${calls} } }
steps:
  say: { generate: { model: text-pro, prompt: "Say something short about number {{ n }}." } }
`,
      service: service.url,
      workers,
    });
    const left = sent.flat().length;
    const { texts } = await service.counts();
    if (left !== calls || texts !== calls)
      throw new Error(`${left} requests left, ${texts} came, of ${calls}.`);
    return sent;
  } finally {
    await service.close();
  }
}

/** One bench of a limit that several workers share. What it found serves its second row too. */
function row<Found>(
  asks: string,
  unit: string,
  found: (engine: BenchEngine) => Promise<Found>,
  figure: (found: Found) => number,
  allowed: NonNullable<Bench['allowed']>,
): Bench {
  return {
    asks,
    allowed,
    rounds: 1,
    warmUp: false,
    prepare: () =>
      withEngine((engine) => ({
        unit,
        left: { name: 'all workers', measure: async () => figure(await found(engine)) },
      })),
  };
}

/** Both rows take their figures from one run. */
const once = <Found>(
  find: (engine: BenchEngine) => Promise<Found>,
): ((engine: BenchEngine) => Promise<Found>) => {
  let found: Promise<Found> | undefined;
  return (engine) => (found ??= find(engine));
};

function rates(name: string, limit: string, rate: Rate, calls: number, least: number) {
  const rows = sizes.flatMap((workers): [string, Bench][] => {
    const sent = once((engine) => sentTogether(engine, workers, limit, calls));
    const asks = `text: ${limit} shared by ${workers} workers on PostgreSQL, stamped at send`;
    return [
      [
        `${name}-${workers}w-use`,
        row(
          `${asks}: the part of the limit that is used while all of them have calls`,
          'of the limit',
          sent,
          (each) => steadyUse(each, rate),
          { figureAtLeast: least },
        ),
      ],
      [
        `${name}-${workers}w-window`,
        row(
          `${asks}: the most requests in any window`,
          'requests',
          sent,
          (each) =>
            maxInWindow(
              each.flat().sort((a, b) => a - b),
              rate.perMs,
            ),
          { figureAtMost: rate.count * (1 + 20 / rate.perMs) },
        ),
      ],
    ];
  });
  return Object.fromEntries(rows);
}

const atOnce = 40;
const taskMs = 10_000;

/**
 * How often the limit is filled: twice for each worker, so that no worker is out of slices while others still look for their first room,
 * and eight times at least.
 */
const roundsOf = (workers: number): number => Math.max(8, 2 * workers);

interface Worked {
  readonly tasks: readonly QuickTaskTimes[];
  /** When the submissions of each worker left it, ms, by another clock than that of the tasks. */
  readonly sent: readonly (readonly number[])[];
}

/** Tasks of several workers under one limit of tasks in flight. */
async function workedTogether(engine: BenchEngine, workers: number): Promise<Worked> {
  const service = await startQuickService({ taskMs });
  const cells = atOnce * roundsOf(workers);
  try {
    const sent = await sentBy(engine, {
      pipeline: `
name: tasks
limits: { tasks: ${atOnce} }
poll: { min: 33ms }
matrix: { n: { from: 1, to: ${cells} } }
steps:
  grid: { imagine: "fox {{ n }}", keep: false }
`,
      service: service.url,
      workers,
    });
    const tasks = await service.tasks();
    if (tasks.length !== cells) throw new Error(`${tasks.length} tasks.`);
    return { tasks, sent };
  } finally {
    await service.close();
  }
}

/** The part of a limit that is in use between two moments, from that on at which it was reached first. */
export function useOfTasks(
  tasks: readonly QuickTaskTimes[],
  limit: number,
  since: number,
  to: number,
): number {
  const from = Math.max(since, tasks[limit - 1]?.[0] ?? 0);
  const within = tasks.map(([began, seen]) => Math.max(0, Math.min(seen, to) - Math.max(began, from)));
  return within.reduce((sum, each) => sum + each, 0) / ((to - from) * limit);
}

/** The part of a limit that is in use while all workers have cells, as {@link steadyUse} says it. */
export function steadyUseOfTasks({ tasks, sent }: Worked, limit: number, least: number): number {
  const { from, to } = together(sent);
  if (!(to - from > least)) throw new Error(`The workers have cells together for ${to - from} ms only.`);
  // The first submission came at once.
  const ahead = (tasks[0]?.[0] ?? 0) - Math.min(...sent.flat());
  return useOfTasks(tasks, limit, from + ahead, to + ahead);
}

/** The most tasks at one moment, each counted until its end was seen. */
export function maxTasks(tasks: readonly QuickTaskTimes[]): number {
  const changes = tasks.flatMap(([began, seen]) => [[began, 1] as const, [seen, -1] as const]);
  // What ends at a moment makes room for what begins at it.
  changes.sort(([a, one], [b, other]) => a - b || one - other);
  let [most, now] = [0, 0];
  for (const [, change] of changes) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}

const tasksInFlight = Object.fromEntries(
  sizes.flatMap((workers): [string, Bench][] => {
    const worked = once((engine) => workedTogether(engine, workers));
    const asks = `${atOnce} tasks in flight, ${taskMs / 1000} s each, shared by ${workers} workers on PostgreSQL`;
    return [
      [
        `engine-limits-tasks-${workers}w-use`,
        row(
          `${asks}: the part of the limit that is used while all of them have cells`,
          'of the limit',
          worked,
          (each) => steadyUseOfTasks(each, atOnce, 2 * taskMs),
          { figureAtLeast: 0.99 },
        ),
      ],
      [
        `engine-limits-tasks-${workers}w-most`,
        row(
          `${asks}: the most at any moment, each until its end is seen`,
          'tasks',
          worked,
          ({ tasks }) => maxTasks(tasks),
          {
            figureAtMost: atOnce,
          },
        ),
      ],
    ];
  }),
);

/** Limits that hold over all workers of an engine: how much of them is used, and whether they are kept. */
export const engineLimits: Readonly<Record<string, Bench>> = {
  ...rates('engine-limits-second', '20/s', { count: 20, perMs: 1000 }, 1200, 0.96),
  ...rates('engine-limits-minute', '600/min', { count: 600, perMs: 60_000 }, 1100, 0.98),
  ...tasksInFlight,
};
