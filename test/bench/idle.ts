import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandFile } from '../rig/cli.ts';
import { measuredProcess } from '../rig/measured.ts';
import type { Bench, BenchOptions, Comparison, Measured } from './comparison.ts';
import { seededPipeline, seededRun, seedState } from './seed-state.ts';

interface Seeded {
  readonly folder: string;
  readonly jobs: number;
}

let seeded: Promise<Seeded> | undefined;

/** A folder in which everything is done, and which one run has gone through: made once for all benches of this file. */
const seededFolder = (options: BenchOptions): Promise<Seeded> => {
  seeded ??= makeSeeded(options.million === true ? 1_000_000 : 100_000);
  return seeded;
};

async function makeSeeded(jobs: number): Promise<Seeded> {
  const folder = mkdtempSync(join(tmpdir(), 'promptpress-seeded-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  console.error(`  makes ${jobs} finished jobs …`);
  await seedState(folder, { jobs });
  // The state was made by no command of this user.
  await commandIn(folder, 'run', ['--trust-directory']);
  return { folder, jobs };
}

/** Seconds of the whole process, from its start to its end. */
async function commandIn(
  folder: string,
  command: 'run' | 'plan' | 'manifest',
  more: readonly string[] = [],
  code = 0,
): Promise<Measured> {
  const { flags, env, pipeline } = seededRun(folder);
  const given = { run: flags, plan: flags.filter((flag) => flag !== '--no-progress'), manifest: [] }[command];
  const { seconds, cpuMs, peakMB } = await measuredProcess(
    commandFile,
    [command, pipeline, ...given, ...more],
    {
      cwd: folder,
      env,
      codes: [code],
    },
  );
  return { value: seconds, cpuMs, peakMB };
}

const once = (asks: string, command: 'run' | 'plan' | 'manifest'): Bench => ({
  asks,
  allowed: { figureAtMost: 3, peakMBAtMost: 200 },
  rounds: 5,
  warmUp: false,
  prepare: async (options): Promise<Comparison> => {
    const { folder, jobs } = await seededFolder(options);
    return {
      unit: 's',
      left: { name: `${jobs} jobs done`, measure: () => commandIn(folder, command) },
    };
  },
});

export const idle: Readonly<Record<string, Bench>> = {
  idle: once('a run with nothing to do', 'run'),
  'plan-idle': once('the plan of a run with nothing to do', 'plan'),
  'manifest-idle': once('the manifest of a run with nothing to do', 'manifest'),
  edit: {
    asks: 'a run after an edit of one of a hundred prompts, without the calls that the edit needs (`--max-submits 0`)',
    allowed: { figureAtMost: 20, peakMBAtMost: 200 },
    rounds: 1,
    warmUp: false,
    prepare: async (options): Promise<Comparison> => {
      const { folder, jobs } = await seededFolder(options);
      const { pipeline } = seededRun(folder);
      return {
        unit: 's',
        left: {
          name: `${jobs} jobs done, ${jobs / 100} to do`,
          measure: async () => {
            writeFileSync(pipeline, seededPipeline({ jobs }, true));
            return await commandIn(folder, 'run', ['--max-submits', '0'], 4);
          },
        },
        end: async () => {
          writeFileSync(pipeline, seededPipeline({ jobs }));
          await commandIn(folder, 'run');
        },
      };
    },
  },
};
