import { preparePlan } from '../../plan/plan.ts';
import { command } from '../command.ts';
import { exitCodes } from '../failure.ts';
import { anyText } from '../flag-values.ts';
import { valued } from '../flags.ts';
import { count, counted } from '../progress/amounts.ts';
import { checkPipeline, printDiagnostics } from '../read-pipeline.ts';

/** `promptpress validate FILE…` */
export const validate = command(
  {
    name: 'validate',
    summary: 'shows every mistake of a pipeline file; no network',
    operands: 'FILE…',
    about: `Reads pipeline files and the tables they name, and shows every mistake in them with its line, all at once. Needs no service, no key and no network. Exit code 0: all are valid; 2: some are not.`,
    examples: [
      { command: 'promptpress validate pipeline.yaml', does: 'one pipeline' },
      {
        command: 'promptpress validate pipelines/*.yaml',
        does: 'all of a folder, for a check before commits',
      },
    ],
    flags: {
      'files-root': valued(
        'DIR',
        'folder that files named by a pipeline must lie in; default: the git work tree the pipeline is in, else its folder',
        anyText,
      ),
    },
  },
  { least: 1, most: Number.POSITIVE_INFINITY },
  async (flags, files, context) => {
    let invalid = 0;
    for (const file of files) {
      const {
        pipeline: readable,
        files: port,
        diagnostics: written,
      } = await checkPipeline(file, flags, context);
      // Its tables are read to the end: a bad row is a mistake like any other.
      const planned =
        readable === undefined ? undefined : await preparePlan(readable, { files: port, serviceId: 'none' });
      const pipeline = planned?.ok === true ? readable : undefined;
      const diagnostics = planned?.ok === false ? [...written, ...planned.error] : written;
      printDiagnostics(diagnostics, context);
      const warnings = diagnostics.filter(({ severity }) => severity === 'warning').length;
      if (pipeline === undefined) {
        invalid += 1;
        context.io.err(`${file}: ${counted(diagnostics.length - warnings, 'error')}\n`);
      } else {
        const but = warnings === 0 ? '' : ` (${counted(warnings, 'warning')})`;
        await context.io.out(`${file}: OK${but}\n`);
      }
    }
    if (files.length > 1 && invalid > 0) {
      context.io.err(`promptpress: ${count(invalid)} of ${count(files.length)} pipelines are not valid.\n`);
    }
    return invalid === 0 ? exitCodes.ok : exitCodes.usage;
  },
);
