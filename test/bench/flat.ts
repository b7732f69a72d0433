import { startQuickService } from '../rig/measured.ts';
import type { Bench, NotMeasured } from './comparison.ts';
import { runPipeline } from './service-run.ts';

/** Jobs done where the cost of a job is taken, with how many jobs it is taken over. */
const points = [
  { done: 1000, over: 1000 },
  { done: 10_000, over: 1000 },
  { done: 100_000, over: 10_000 },
  { done: 1_000_000, over: 10_000 },
] as const;

type Line = readonly (readonly [x: number, y: number])[];

/** `y` at `x` on a line of points in rising order, drawn straight between them. */
export function at(line: Line, x: number): number {
  const next = line.findIndex(([place]) => place >= x);
  const [right, left] = [line[next], line[next - 1]];
  if (right === undefined) throw new Error(`The line ends before ${x}.`);
  if (left === undefined) return right[1];
  return left[1] + ((right[1] - left[1]) * (x - left[0])) / (right[0] - left[0]);
}

/** CPU time of a job, in ms, at each point that the run came to. */
async function costs(jobs: number): Promise<readonly number[]> {
  const service = await startQuickService();
  try {
    const pipeline = `
      name: flat
      limits: { requests: 32 }
      matrix: { a: { from: 1, to: 1000 }, b: { from: 1, to: ${jobs / 1000} } }
      steps:
        text: { generate: { model: text-flash, prompt: "A fox, {{ a }}, and an owl, {{ b }}, in one sentence." } }`;
    const { samples } = await runPipeline(pipeline, service.url, { sampleMs: 50 });
    const { textsAt } = await service.counts();
    const times: Line = textsAt.map(([time, texts]) => [texts, time]);
    const cpuWhen = (texts: number): number => at(samples, at(times, texts));
    return points
      .filter(({ done, over }) => done + over <= jobs)
      .map(({ done, over }) => (cpuWhen(done + over) - cpuWhen(done)) / over);
  } finally {
    await service.close();
  }
}

/** One run serves all rows. */
let measured: Promise<readonly number[]> | undefined;

/** A job costs least some time behind the first thousand, when V8 has compiled the code: that figure stands beside the two. */
const bench = (point: number, name: string, needsMillion = false): Bench => ({
  asks: `CPU of a text job when ${name} are done, against when 1,000 are done in the same run`,
  allowed: { ratioAtMost: 1.2 },
  rounds: 1,
  warmUp: false,
  prepare: async ({ million = false }) => {
    if (needsMillion && !million)
      return { notMeasured: 'takes many minutes: --million' } satisfies NotMeasured;
    measured ??= costs(million ? 1_010_000 : 110_000);
    const found = await measured;
    return {
      unit: 'ms of CPU',
      left: { name: `at ${name}`, measure: () => found[point] ?? Number.NaN },
      right: { name: 'at 1,000', measure: () => found[0] ?? Number.NaN },
      beside: { name: 'least before', measure: () => Math.min(...found.slice(0, point)) },
    };
  },
});

export const flat = {
  'flat-10000': bench(1, '10,000'),
  'flat-100000': bench(2, '100,000'),
  'flat-1000000': bench(3, '1,000,000', true),
};
