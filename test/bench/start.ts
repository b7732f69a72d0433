import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandFile, temporaryFolder } from '../rig/cli.ts';
import { measuredProcess } from '../rig/measured.ts';
import type { Bench, Measured } from './comparison.ts';

const foxes = fileURLToPath(new URL('../../pipelines/foxes.yaml', import.meta.url));

/** Milliseconds of a whole process, from its start to its end. */
async function started(file: string, args: readonly string[]): Promise<Measured> {
  await using folder = await temporaryFolder();
  const { seconds, cpuMs, peakMB } = await measuredProcess(file, args, { cwd: folder.path });
  return { value: 1000 * seconds, cpuMs, peakMB };
}

async function nothing(): Promise<Measured> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'nothing.mjs');
  writeFileSync(file, '');
  return await started(file, []);
}

const against = (asks: string, args: readonly string[], ratioAtMost: number): Bench => ({
  asks,
  allowed: { ratioAtMost },
  rounds: 15,
  prepare: () => ({
    unit: 'ms',
    left: { name: `promptpress ${args[0]}`, measure: () => started(commandFile, args) },
    right: { name: 'node -e 0', measure: nothing },
  }),
});

export const start: Readonly<Record<string, Bench>> = {
  'start-help': against('--help, against a Node.js that does nothing', ['--help'], 2),
  'start-validate': against('validate, against a Node.js that does nothing', ['validate', foxes], 4),
};
