import { startQuickService } from '../rig/measured.ts';
import { type QuickOptions, taskDuration } from '../rig/quick-options.ts';
import type { Bench, Measured } from './comparison.ts';
import { runPipeline } from './service-run.ts';

const cells = 100;
const slots = 12;
const options: QuickOptions = { taskMs: 2000, sigma: 0.4 };
const buttons = ['U1', 'Vary (Strong)'];

const pipeline = `
name: makespan
limits: { tasks: ${slots} }
poll: { min: 33ms }
matrix: { n: { from: 1, to: ${cells} } }
steps:
  grid: { imagine: "fox {{ n }}", path: "${buttons.join(' → ')}" }
`;

/** How long the tasks of each cell work, in order, in ms: as the service will draw them. */
const chains: readonly (readonly number[])[] = Array.from({ length: cells }, (_, n) =>
  ['', ...buttons].map((_, depth) =>
    taskDuration([`fox ${n + 1}`, ...buttons.slice(0, depth)].join('/'), options),
  ),
);

/** The makespan in ms where every end is seen at once and nothing takes time but the tasks: deeper tasks first, then cells in order. */
export function idealMakespan(chains: readonly (readonly number[])[], slots: number): number {
  const ready = chains.map((_, cell) => ({ cell, depth: 0 }));
  const working: { cell: number; depth: number; endsAt: number }[] = [];
  let now = 0;
  for (;;) {
    ready.sort((a, b) => b.depth - a.depth || a.cell - b.cell);
    for (const { cell, depth } of ready.splice(0, slots - working.length))
      working.push({ cell, depth, endsAt: now + (chains[cell]?.[depth] ?? 0) });
    if (working.length === 0) return now;
    working.sort((a, b) => a.endsAt - b.endsAt);
    const { cell, depth, endsAt } = working.shift() as (typeof working)[number];
    now = endsAt;
    if (depth + 1 < (chains[cell]?.length ?? 0)) ready.push({ cell, depth: depth + 1 });
  }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** From the first submission to the last answer, in seconds: the start of the process is no work of the service's. */
async function measured(): Promise<Measured> {
  const service = await startQuickService(options);
  try {
    const { cpuMs, peakMB } = await runPipeline(pipeline, service.url);
    const { submits, peakTasks, firstSubmitAt, lastAnswerAt } = await service.counts();
    if (submits !== 3 * cells || peakTasks > slots)
      throw new Error(`${submits} submissions, ${peakTasks} tasks at a time.`);
    return { value: (lastAnswerAt - firstSubmitAt) / 1000, cpuMs, peakMB };
  } finally {
    await service.close();
  }
}

const ideal = { name: 'every end seen at once', measure: () => idealMakespan(chains, slots) / 1000 };

export const makespan: Bench = {
  asks: `${slots} slots, ${3 * cells} tasks of about 2 s (log-normal, sigma 0.4), grid → U1 → Vary, against the same order with every end seen at once`,
  allowed: { ratioAtMost: 1.06 },
  rounds: 3,
  warmUp: false,
  prepare: () => ({ unit: 's', left: { name: 'run', measure: measured }, right: ideal }),
};

export const makespanOrder: Bench = {
  asks: 'that order itself, against the larger of work / slots and the longest chain',
  rounds: 1,
  warmUp: false,
  prepare: () => ({
    unit: 's',
    left: ideal,
    right: {
      name: 'least',
      measure: () => Math.max(sum(chains.map(sum)) / slots, ...chains.map(sum)) / 1000,
    },
  }),
};
