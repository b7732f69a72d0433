import { startQuickService } from '../rig/measured.ts';
import type { Bench, Measured } from './comparison.ts';
import { runPipeline } from './service-run.ts';

const jobs = 100_000;
const inFlight = 1000;

const pipeline = `
name: memory
limits: { requests: ${inFlight} }
matrix: { a: { from: 1, to: 1000 }, b: { from: 1, to: 10000 } }
steps:
  text: { generate: { model: text-flash, prompt: "A fox, {{ a }}, and an owl, {{ b }}, in one sentence." } }
`;

async function measured(): Promise<Measured> {
  const service = await startQuickService({ textMs: 3000 });
  try {
    const { cpuMs, peakMB } = await runPipeline(pipeline, service.url, { args: ['--limit', String(jobs)] });
    const { texts, peakTexts } = await service.counts();
    if (texts !== jobs || peakTexts < 0.9 * inFlight)
      throw new Error(`${texts} texts, at most ${peakTexts} at a time.`);
    return { value: peakMB, cpuMs, peakMB };
  } finally {
    await service.close();
  }
}

export const memory: Bench = {
  asks: 'peak memory: a matrix of 10,000,000 cells, 1,000 text calls in flight, 100,000 jobs done in real time',
  allowed: { figureAtMost: 200 },
  rounds: 1,
  warmUp: false,
  prepare: () => ({ unit: 'MB', left: { name: 'run', measure: measured } }),
};
