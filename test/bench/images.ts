import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startQuickService } from '../rig/measured.ts';
import type { Bench } from './comparison.ts';
import { inSeconds, runPipeline, runScript } from './service-run.ts';

const cells = 2000;
const atOnce = 64;

/** Every task has ended when it is polled, so that the pace of the polls plays no part. */
const pipeline = `
name: images
limits: { tasks: ${atOnce}, requests: ${atOnce} }
poll: { min: 1ms, max: 5ms }
matrix: { n: { from: 1, to: ${cells} } }
steps:
  grid: { imagine: "a fox in picture {{ n }}, ink drawing --ar 3:2", path: U1 }
`;

/** A bench that did less than it says is none. */
const expectImages =
  (at: string) =>
  async (folder: string): Promise<void> => {
    const names = await readdir(join(folder, at), { recursive: true });
    const found = names.filter((name) => name.endsWith('.png')).length;
    if (found !== 2 * cells) throw new Error(`${found} images instead of ${2 * cells}.`);
  };

export const images: Bench = {
  asks: `${cells} cells imagine → U1 with their downloads, against a plain script (undici, p-limit) that keeps no state; beside it the least that makes each step durable`,
  allowed: { ratioAtMost: 1.4 },
  rounds: 5,
  warmUp: false,
  prepare: async () => {
    const service = await startQuickService();
    return {
      unit: 's',
      left: {
        name: 'run',
        measure: async () =>
          inSeconds(await runPipeline(pipeline, service.url, { check: expectImages('out/images') })),
      },
      right: {
        name: 'script',
        measure: async () =>
          inSeconds(await runScript('images', [cells, atOnce], service.url, expectImages('images'))),
      },
      beside: {
        name: 'durable script',
        measure: async () =>
          inSeconds(await runScript('durable-images', [cells, atOnce], service.url, expectImages('images'))),
      },
      end: () => service.close(),
    };
  },
};
