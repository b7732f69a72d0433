import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandFile, temporaryFolder } from '../rig/cli.ts';
import { type MeasuredOptions, type MeasuredProcess, measuredProcess, serviceEnv } from '../rig/measured.ts';

type RunOptions = Partial<Pick<MeasuredOptions, 'sampleMs' | 'codes'>> & {
  /** Further arguments of `run`. */
  readonly args?: readonly string[];
  /** Checks what the process has left in its folder; what it throws is what the bench ends with. */
  readonly check?: (folder: string) => void | Promise<void>;
};

/** `promptpress run` of a pipeline against a service, in a process and a folder of its own; the folder is gone behind it. */
export async function runPipeline(
  pipeline: string,
  url: string,
  { args = [], check, ...options }: RunOptions = {},
): Promise<MeasuredProcess> {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'pipeline.yaml'), pipeline);
  const took = await measuredProcess(commandFile, ['run', 'pipeline.yaml', '--out', 'out', ...args], {
    ...options,
    cwd: folder.path,
    env: serviceEnv(url),
  });
  await check?.(folder.path);
  return took;
}

/** A script of `scripts/`: what a user would write instead. */
export async function runScript(
  name: string,
  args: readonly (string | number)[],
  url: string,
  check?: RunOptions['check'],
): Promise<MeasuredProcess> {
  await using folder = await temporaryFolder();
  const file = fileURLToPath(new URL(`scripts/${name}.mjs`, import.meta.url));
  const took = await measuredProcess(file, args.map(String), { cwd: folder.path, env: serviceEnv(url) });
  await check?.(folder.path);
  return took;
}

/** A process as a side of a comparison sees it, its value being its wall time in seconds. */
export const inSeconds = ({ seconds, cpuMs, peakMB }: MeasuredProcess) => ({ value: seconds, cpuMs, peakMB });
