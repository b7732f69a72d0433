import { closingAfter } from '../../app/adapters/disposables.ts';
import { exitCodes } from '../../app/errors/cli-error.ts';
import { jsonLine } from '../../app/output/json-line.ts';
import { openJob } from '../../app/workspace/find-job.ts';
import { failureRulesOf, keptPipeline } from '../../app/workspace/last-pipeline.ts';
import { readJobReport } from '../../report/text/job/job.ts';
import { jobReportText } from '../../report/text/job/text.ts';
import { commandsOf } from '../../report/text/next-commands.ts';
import { command } from '../args/command.ts';
import { toggle } from '../args/flags.ts';
import { targetFlags } from '../args/run-flags.ts';
import { summaries } from '../args/summaries.ts';

/** `promptpress show JOB [FILE|DIR]` */
export const show = command(
  {
    name: 'show',
    summary: summaries.show,
    operands: 'JOB [FILE|DIR]',
    about: `Shows everything that a run directory knows about one job: where it comes from and why it ran, the request, each submission with its answer and request id, its task, its files, what it continues and what continues it, and the commands that can follow. JOB is its key (the column "job" of the manifest) or the beginning of it. It works during a run.
Without FILE|DIR: the current folder if that is a run directory, else the one that knows the job under runs/, here or in a folder of this one.`,
    examples: [
      { command: 'promptpress show 3f9c21', does: 'a job of a run under runs/' },
      {
        command: 'promptpress show 3f9c21 pipeline.yaml --sandbox',
        does: 'of the rehearsal of this pipeline',
      },
      { command: 'promptpress show 3f9c21 runs/foxes --json', does: 'for a script' },
    ],
    flags: {
      ...targetFlags,
      json: toggle('print one JSON object (schemas/show.schema.json)'),
    },
  },
  { least: 1, most: 2 },
  async (flags, [named = '', target], context) =>
    await closingAfter(async (disposables) => {
      const { io } = context;
      const { directory, place, state, key } = await openJob(named, target, flags, context);
      disposables.add(() => state.close());
      const pipeline = await keptPipeline(directory, state, io);
      const commands = await commandsOf(place, state, pipeline, io.cwd);
      const story = await readJobReport(place, state, key, commands, failureRulesOf(pipeline));
      if (flags.json) await io.data(jsonLine(story));
      else await io.out(jobReportText(story));
      return exitCodes.ok;
    }),
);
