import type { Context } from '../../app/context.ts';
import { exitCodes } from '../../app/errors/cli-error.ts';
import { engineOfRun, type RunFlags } from '../../app/flags.ts';
import { localRunner } from '../../app/local.ts';
import { jsonLine } from '../../app/output/json-line.ts';
import { showPlan } from '../../app/run/dry-run.ts';
import type { Repairs, RunOutput } from '../../app/run/stages.ts';
import { openRun, runOpened } from '../../app/run.ts';
import { fileOrDefault } from '../../app/workspace/default-file.ts';
import { loadPipeline } from '../../app/workspace/read-pipeline.ts';
import { endingText } from '../../report/text/summary.ts';
import { command } from '../args/command.ts';
import { checkEngineFlags, checkRehearsal, runFlags } from '../args/run-flags.ts';
import { summaries } from '../args/summaries.ts';
import { bufferErrors } from '../terminal/buffered-io.ts';
import { showProgress } from '../terminal/progress/progress.ts';

/** `promptpress run FILE` */
export const run = command(
  {
    name: 'run',
    summary: summaries.run,
    operands: '[FILE]',
    about: `Runs a pipeline and leaves its images, manifest.csv and run.json in the run directory, runs/<name> beside the pipeline file. The same command again continues: finished jobs are not repeated, failed jobs stay failed until --retry-failed, and after an edit only changed jobs are made. It may be killed at any moment. Without FILE it takes pipeline.yaml of the current folder.
Press Ctrl-C once to stop taking on new work and settle what is in flight, twice to leave at once; both can be continued.
Exit codes: 0 all done, skipped, or failed as failures.accept allows; 1 some others failed or blocked; 2 wrong use or invalid pipeline; 3 stopped by the service (key, address, the same rejection over and over); 4 budget reached; 5 jobs in doubt; 70 a bug; 74 disk full or not writable, or a bucket that takes nothing, or a state that is damaged, older than its run, or was removed while in use; 75 another run holds the directory; 130, 143 interrupted.`,
    examples: [
      {
        command: 'promptpress run pipeline.yaml --sandbox',
        does: 'rehearse on this machine: no key, no cost',
      },
      {
        command: 'promptpress run pipeline.yaml --limit 3',
        does: 'the first three cells, as a test',
      },
      { command: 'promptpress run pipeline.yaml', does: 'all of it, or what is left of it' },
      { command: 'promptpress run pipeline.yaml --filter animal=fox', does: 'only the cells of one value' },
      { command: 'promptpress run pipeline.yaml --retry-failed', does: 'retry what failed' },
      { command: 'promptpress run pipeline.yaml --max-duration 6h', does: 'as much as a night allows' },
    ],
    flags: runFlags,
  },
  { least: 0, most: 1 },
  async (flags, [given], context) => {
    context.io.boundCompiler();
    const file = fileOrDefault(given, 'run', context.io);
    checkRehearsal(flags);
    checkEngineFlags(flags, context.io);
    if (flags['dry-run']) return await showPlan(await loadPipeline(file, flags, context), flags, context);
    const warn = (text: string): void => context.io.err(text);
    if (!flags.quiet) return await runFile(file, flags, context, { onWork: () => {}, warn });
    const words = bufferErrors(context.io);
    let exitCode: number | undefined;
    try {
      exitCode = await runFile(
        file,
        flags,
        { ...context, io: words.io },
        // Warnings are shown at once, even if other messages are held back.
        { onWork: () => words.flush(), warn },
      );
      return exitCode;
    } finally {
      if (exitCode !== exitCodes.ok) words.flush();
    }
  },
);

/** Runs a pipeline file and reports the end of the run. @param repairs the run only downloads @returns its exit code */
export async function runFile(
  file: string,
  flags: RunFlags,
  plain: Context,
  said: Omit<RunOutput, 'tell'>,
  repairs?: Repairs,
): Promise<number> {
  const context = { ...plain, showProgress };
  const { io } = context;
  const opened = await openRun(file, flags, context);
  const output: RunOutput = {
    ...said,
    tell: async (summary, again) => {
      const mayFind = opened.read.pipeline.service.tag && flags['in-doubt'] !== 'find';
      io.err(endingText(summary, again, mayFind));
      if (flags.json) await io.data(jsonLine(summary));
    },
    registered: async (registered) => {
      if (flags.json) await io.data(jsonLine(registered));
    },
  };
  const runner =
    engineOfRun(flags, io) === undefined
      ? localRunner
      : (await import('../../app/engine/lead/runner.ts')).engineRunner;
  const summary = await runOpened(opened, flags, context, output, runner, repairs);
  return summary?.exitCode ?? exitCodes.ok;
}
