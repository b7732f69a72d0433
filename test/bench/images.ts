import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../rig/cli.ts';
import {
  commandLine,
  measuredProcess,
  type QuickService,
  serviceEnv,
  startQuickService,
} from '../rig/measured.ts';
import type { Bench, Measured } from './comparison.ts';

const cells = 2000;
const atOnce = 64;
const script = fileURLToPath(new URL('scripts/images.mjs', import.meta.url));

const pipeline = `
name: images
limits: { tasks: ${atOnce}, requests: ${atOnce} }
poll: { min: 1ms }
matrix: { n: { from: 1, to: ${cells} } }
steps:
  grid: { imagine: "a fox in picture {{ n }}, ink drawing --ar 3:2", path: U1 }
`;

/** @returns seconds of the whole process, from its start to its end */
async function run({ url }: QuickService): Promise<Measured> {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'images.yaml'), pipeline);
  const { seconds, cpuMs, peakMB } = await measuredProcess(commandLine, ['run', 'images.yaml'], {
    cwd: folder.path,
    env: serviceEnv(url),
  });
  await expectImages(join(folder.path, 'runs/images/images'));
  return { value: seconds, cpuMs, peakMB };
}

async function plain({ url }: QuickService): Promise<Measured> {
  await using folder = await temporaryFolder();
  const { seconds, cpuMs, peakMB } = await measuredProcess(script, [cells, atOnce].map(String), {
    cwd: folder.path,
    env: serviceEnv(url),
  });
  await expectImages(join(folder.path, 'images'));
  return { value: seconds, cpuMs, peakMB };
}

/** A bench that did less than it says is none. */
async function expectImages(folder: string): Promise<void> {
  const found = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.png'));
  if (found.length !== 2 * cells) throw new Error(`${found.length} images instead of ${2 * cells}.`);
}

export const images: Bench = {
  asks: `${cells} cells imagine → U1 with their downloads, against a plain script (undici, p-limit) that keeps no state`,
  allowed: { ratioAtMost: 1.4 },
  rounds: 5,
  warmUp: false,
  prepare: async () => {
    const service = await startQuickService();
    return {
      unit: 's',
      left: { name: 'run', measure: () => run(service) },
      right: { name: 'script', measure: () => plain(service) },
      end: () => service.close(),
    };
  },
};
