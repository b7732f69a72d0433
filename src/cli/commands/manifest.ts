import { join, relative } from 'node:path';
import { writeManifest } from '../../manifest/write.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { count, counted } from '../../report/text/amounts.ts';
import { closingAfter } from '../adapters/disposables.ts';
import { command } from '../args/command.ts';
import { toggle } from '../args/flags.ts';
import { manifestFlags, placeFlags } from '../args/run-flags.ts';
import { exitCodes } from '../errors/cli-error.ts';
import { targetOrDefault } from '../workspace/default-file.ts';
import { planOfDirectory } from '../workspace/last-plan.ts';
import { openTarget } from '../workspace/open.ts';

/** `promptpress manifest FILE|DIR` */
export const manifest = command(
  {
    name: 'manifest',
    summary: 'writes manifest.csv again from what a run directory holds',
    operands: '[FILE|DIR]',
    about: `Writes manifest.csv from the state of a run directory, also while a run is on. It needs nothing but the directory: the pipeline's text and its tables are kept there as they last ran. The part of the plan that the last run's flags chose is listed, and everything else that has a result. Without FILE|DIR it takes the current folder if that is a run directory, else its pipeline.yaml.`,
    examples: [
      { command: 'promptpress manifest runs/foxes', does: 'a run by its directory' },
      { command: 'promptpress manifest pipelines/foxes.yaml', does: 'a run by its pipeline' },
      {
        command: 'promptpress manifest runs/foxes --all',
        does: 'every planned slot, whatever the last run chose',
      },
    ],
    flags: {
      out: placeFlags.out,
      'trust-directory': placeFlags['trust-directory'],
      sandbox: toggle('with FILE: its rehearsal, in runs/<name>.sandbox beside it'),
      all: toggle('list every planned slot'),
      ...manifestFlags,
    },
  },
  { least: 0, most: 1 },
  async (flags, [given], context) =>
    await closingAfter(async (disposables) => {
      const target = targetOrDefault(given, 'manifest', context.io);
      const { directory, state } = await openTarget(target, flags, context);
      disposables.add(() => state.close());
      const { plan, facts } = await planOfDirectory(directory, state, context);
      const file = join(directory, runFiles.manifest);
      const { rows, files } = await writeManifest({
        plan,
        selection: flags.all ? {} : facts.selection,
        reader: state,
        file,
        redact: context.redactor.applyToData,
        escapeFormulas: flags['escape-formulas'],
      });
      const place = relative(context.io.cwd, file);
      await context.io.out(`${place}: ${counted(rows, 'row')}, ${count(files)} with a file\n`);
      return exitCodes.ok;
    }),
);
