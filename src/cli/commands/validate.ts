import { printable } from '../../pipeline/diagnostics/terminal-text.ts';
import { preparePlan } from '../../plan/plan.ts';
import { count, counted } from '../../report/text/amounts.ts';
import { command } from '../args/command.ts';
import { toggle, valued } from '../args/flags.ts';
import { placeFlags } from '../args/run-flags.ts';
import { anyText } from '../args/values.ts';
import { exitCodes, usageError } from '../errors/cli-error.ts';
import { OnlineCheck } from '../service/online-check.ts';
import { fileOrDefault } from '../workspace/default-file.ts';
import { imagesForPlan } from '../workspace/images.ts';
import { checkPipeline, printDiagnostics } from '../workspace/read-pipeline.ts';

/** `promptpress validate FILE…` */
export const validate = command(
  {
    name: 'validate',
    summary: 'shows every mistake of a pipeline file; no network unless --online',
    operands: '[FILE…]',
    about: `Reads pipeline files and the tables they name, and shows every mistake in them with its line, all at once. Needs no service, no key and no network. Exit code 0: all are valid; 2: some are not. Without FILE it takes pipeline.yaml of the current folder.
With --online the service is asked for its models (GET /v1/models, once for each address; nothing is submitted and nothing is paid), and a model that a pipeline names and the service does not list is a warning. That needs the address and the key that a run needs.`,
    examples: [
      { command: 'promptpress validate pipeline.yaml', does: 'one pipeline' },
      {
        command: 'promptpress validate pipelines/*.yaml',
        does: 'all of a folder, for a check before commits',
      },
      {
        command: 'promptpress validate pipeline.yaml --online',
        does: 'and whether the service has its models',
      },
    ],
    flags: {
      'files-root': valued(
        'DIR',
        'folder that files named by a pipeline must lie in; default: the git work tree the pipeline is in, else its folder',
        anyText,
      ),
      online: toggle('ask the service for its models, and warn of those that it does not list'),
      'base-url': placeFlags['base-url'],
      sandbox: toggle('with --online: ask the local service'),
    },
  },
  { least: 0, most: Number.POSITIVE_INFINITY },
  async (flags, given, context) => {
    if (!flags.online && (flags.sandbox || flags['base-url'] !== undefined)) {
      throw usageError('--sandbox and --base-url say which service --online asks; alone they do nothing.');
    }
    const files = given.length > 0 ? given : [fileOrDefault(undefined, 'validate', context.io)];
    let invalid = 0;
    const online = flags.online ? new OnlineCheck(flags, context) : undefined;
    for (const file of files) {
      const {
        pipeline: readable,
        files: port,
        diagnostics: written,
      } = await checkPipeline(file, flags, context);
      // Its tables are read to the end: a bad row is an error like any other.
      const planned =
        readable === undefined
          ? undefined
          : await preparePlan(readable, {
              files: port,
              serviceId: 'none',
              images: imagesForPlan(readable, port.root, undefined),
            });
      const pipeline = planned?.ok === true ? readable : undefined;
      const diagnostics = planned?.ok === false ? [...written, ...planned.error] : written;
      printDiagnostics(diagnostics, context);
      const warnings = diagnostics.filter(({ severity }) => severity === 'warning').length;
      if (pipeline === undefined) {
        invalid += 1;
        const and = warnings === 0 ? '' : `, ${counted(warnings, 'warning')}`;
        context.io.err(`${printable(file)}: ${counted(diagnostics.length - warnings, 'error')}${and}\n`);
      } else {
        const but = warnings === 0 ? '' : ` (${counted(warnings, 'warning')})`;
        await context.io.out(`${printable(file)}: OK${but}\n`);
        if (planned?.ok === true) await online?.check(planned.value);
      }
    }
    if (files.length > 1 && invalid > 0) {
      context.io.err(`promptpress: ${count(invalid)} of ${count(files.length)} pipelines are not valid.\n`);
    }
    return invalid === 0 ? exitCodes.ok : exitCodes.usage;
  },
);
