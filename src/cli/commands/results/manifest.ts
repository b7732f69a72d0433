import { join, relative } from 'node:path';
import { closingAfter } from '../../../app/adapters/disposables.ts';
import { CliError, exitCodes } from '../../../app/errors/cli-error.ts';
import { currentManifest } from '../../../app/fingerprint/fingerprint.ts';
import { openArtifactsOf } from '../../../app/service/artifact-place.ts';
import { spreadsheetFile } from '../../../app/workspace/checks/spreadsheet-file.ts';
import { targetOrDefault } from '../../../app/workspace/default-file.ts';
import { planOfDirectory } from '../../../app/workspace/last-plan.ts';
import { openTarget } from '../../../app/workspace/open.ts';
import { sheetBounds } from '../../../manifest/spreadsheet.ts';
import { type ManifestOptions, writeManifest } from '../../../manifest/write.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { count, counted } from '../../../report/text/amounts.ts';
import type { ManifestTotals } from '../../../results/row-ledger.ts';
import { command } from '../../args/command.ts';
import { toggle, valued } from '../../args/flags.ts';
import { manifestFlags, targetFlags } from '../../args/run-flags.ts';
import { summaries } from '../../args/summaries.ts';
import { anyText } from '../../args/values.ts';

/** `promptpress manifest FILE|DIR` */
export const manifest = command(
  {
    name: 'manifest',
    summary: summaries.manifest,
    operands: '[FILE|DIR]',
    about: `Writes manifest.csv from the state of a run directory, also during a run. It needs only the directory, which keeps the pipeline and the tables of the last run. It lists the part of the plan that the last run chose, and everything else that has a result. Without FILE|DIR it takes the current folder if that is a run directory, else its pipeline.yaml.

manifest.csv holds the exact data, for programs. --spreadsheet FILE also writes a copy for Excel, LibreOffice and Google Sheets: with a byte order mark, and with an apostrophe before each field that a spreadsheet would carry out as a formula or turn into another number or a date, such as task ids. Numbers to count with stay numbers.`,
    examples: [
      { command: 'promptpress manifest runs/foxes', does: 'a run by its directory' },
      { command: 'promptpress manifest pipelines/foxes.yaml', does: 'a run by its pipeline' },
      {
        command: 'promptpress manifest runs/foxes --all',
        does: 'every planned slot, not only those that the last run chose',
      },
      {
        command: 'promptpress manifest runs/foxes --spreadsheet foxes.csv',
        does: 'and a copy that is safe to open in a spreadsheet',
      },
    ],
    flags: {
      ...targetFlags,
      all: toggle('list every planned slot'),
      spreadsheet: valued(
        'FILE',
        'also write a copy for spreadsheets to this .csv file: with a byte order mark, formulas escaped, ids and long numbers as text',
        anyText,
      ),
      ...manifestFlags,
    },
  },
  { least: 0, most: 1 },
  async (flags, [given], context) =>
    await closingAfter(async (disposables) => {
      const target = targetOrDefault(given, 'manifest', context.io);
      const { directory, state, file: named } = await openTarget(target, flags, context, 'place');
      disposables.add(() => state.close());
      const file = join(directory, runFiles.manifest);
      // Until the file is begun, a kill loses nothing.
      const interrupts = context.io.interrupts('late');
      disposables.add(() => interrupts.stop());
      const { drain } = interrupts;
      const { remote } = await openArtifactsOf(directory, state, drain, disposables, context);
      const said = async (written: string, { rows, files }: ManifestTotals, more = ''): Promise<void> =>
        await context.io.out(
          `${remote !== undefined && written === file ? `${remote.url}/${runFiles.manifest}` : relative(context.io.cwd, written)}: ${counted(rows, 'row')}, ${count(files)} with a file${more}\n`,
        );
      const current =
        flags.spreadsheet === undefined
          ? await currentManifest(
              state,
              { directory, escapeFormulas: flags['escape-formulas'], redactor: context.redactor },
              flags.all,
            )
          : undefined;
      if (current !== undefined) {
        await remote?.publish(runFiles.manifest, file);
        await said(file, current);
        return exitCodes.ok;
      }
      const { plan, facts } = await planOfDirectory(directory, state, context, named);
      interrupts.listen();
      const copy =
        flags.spreadsheet === undefined
          ? undefined
          : await spreadsheetFile(flags.spreadsheet, file, context.io.cwd);
      const listed = {
        plan,
        selection: flags.all ? {} : facts.selection,
        reader: state,
        redact: context.redactor.applyToData,
        signal: drain,
      };
      const write = async (to: Omit<ManifestOptions, keyof typeof listed>): Promise<ManifestTotals> =>
        await writeManifest({ ...listed, ...to }).catch((error: unknown) => {
          const name = interrupts.first();
          if (name === undefined) throw error;
          const words = 'Writing the manifest was interrupted. The existing file was not changed.';
          throw new CliError(exitCodes[name], words, { cause: error });
        });
      const all = await write({ file, escapeFormulas: flags['escape-formulas'] });
      await remote?.publish(runFiles.manifest, file);
      await said(file, all);
      if (copy !== undefined) {
        const totals = await write({ file: copy, forSpreadsheet: true });
        const isCut = totals.rows >= sheetBounds.lines;
        const most = count(sheetBounds.lines - 1);
        await said(copy, totals, isCut ? `; a spreadsheet shows the first ${most} rows` : '');
      }
      return exitCodes.ok;
    }),
);
