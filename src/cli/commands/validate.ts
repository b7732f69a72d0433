import type { Context } from '../../app/context.ts';
import { exitCodes, usageError } from '../../app/errors/cli-error.ts';
import { without } from '../../app/errors/correction.ts';
import { failureText } from '../../app/errors/render.ts';
import { jsonLine } from '../../app/output/json-line.ts';
import type { OnlineCheck } from '../../app/service/online-check.ts';
import type { ServiceFlags } from '../../app/service/settings.ts';
import { fileOrDefault } from '../../app/workspace/default-file.ts';
import { printDiagnostics, refuseOtherFile } from '../../app/workspace/read-pipeline.ts';
import { type FoundInFile, validateFile } from '../../app/workspace/validate.ts';
import { printable } from '../../pipeline/diagnostics/terminal-text.ts';
import { counted } from '../../report/text/amounts.ts';
import { quoted } from '../../report/text/printable.ts';
import {
  type CheckedFile,
  githubCommands,
  type ModelCheck,
  type Validation,
  validationWords,
} from '../../report/text/validation.ts';
import { command } from '../args/command.ts';
import { toggle, valued } from '../args/flags.ts';
import { placeFlags, setFlag } from '../args/run-flags.ts';
import { summaries } from '../args/summaries.ts';
import { anyText, oneOf } from '../args/values.ts';

/** `promptpress validate FILE…` */
export const validate = command(
  {
    name: 'validate',
    summary: summaries.validate,
    operands: '[FILE…]',
    about: `Reads pipeline files and the tables they name, and shows every mistake in them with its line, all at once. Needs no service, no key and no network. Exit code 0: all are valid; 2: some are not. Without FILE it takes pipeline.yaml of the current folder.
With --online the service is asked (once for each address; nothing is submitted and nothing is paid): where a pipeline makes images, for a task that does not exist, which proves address, names and key; where it asks text models, for its list of them (GET /v1/models), and a model that is not listed is a warning. That needs the address and the key that a run needs.
--json prints one JSON object for programs, --format github a line for each mistake that GitHub Actions shows beside the line of the file.`,
    examples: [
      { command: 'promptpress validate pipeline.yaml', does: 'one pipeline' },
      {
        command: 'promptpress validate pipelines/*.yaml',
        does: 'all of a folder, for a check before commits',
      },
      {
        command: 'promptpress validate pipeline.yaml --online',
        does: 'and whether the service responds, accepts the key and has the models',
      },
      { command: 'promptpress validate pipelines/*.yaml --format github', does: 'in a workflow of GitHub' },
    ],
    flags: {
      'files-root': valued(
        'DIR',
        'folder that files named by a pipeline must lie in; default: the git work tree the pipeline is in, else its folder',
        anyText,
      ),
      ...setFlag,
      online: toggle(
        'ask the service for a task that does not exist and for its models, and warn of those that it does not list',
      ),
      'base-url': placeFlags['base-url'],
      sandbox: toggle('with --online: ask the local service'),
      format: valued(
        'text|json|github',
        'what is printed: text (default); json, as --json; or github, workflow commands of GitHub Actions',
        oneOf('text', 'json', 'github'),
      ),
      json: toggle('print one JSON object (schemas/validate.schema.json)'),
    },
  },
  { least: 0, most: Number.POSITIVE_INFINITY },
  async (flags, given, context) => {
    if (!flags.online && (flags.sandbox || flags['base-url'] !== undefined)) {
      const flag = flags.sandbox ? '--sandbox' : '--base-url';
      throw usageError(
        `${flag} chooses the service for validate --online; without --online validate needs no service.`,
        [
          ...(flags.sandbox
            ? [`To rehearse the pipeline: promptpress run ${quoted(given[0] ?? 'pipeline.yaml')} --sandbox`]
            : []),
          'To ask that service, add --online. To validate the file, leave it out.',
        ].join('\n'),
        without(flag, !flags.sandbox),
      );
    }
    if (flags.json && (flags.format ?? 'json') !== 'json')
      throw usageError(
        `--json and --format ${flags.format} cannot be used together.`,
        'Give one of them.',
        without('--json'),
      );
    const format = flags.json ? 'json' : (flags.format ?? 'text');
    const files = given.length > 0 ? given : [fileOrDefault(undefined, 'validate', context.io)];
    const online = flags.online ? await onlineCheck(flags, context) : undefined;
    const checked: CheckedFile[] = [];
    for (const file of files) {
      const found = await validateFile(file, flags, context, online && ((plan) => online.check(plan)));
      if (format === 'text' && files.length === 1 && !found.checked.valid)
        refuseOtherFile(file, found.diagnostics, context);
      checked.push(found.checked);
      if (format === 'text') await sayFile(found, context);
    }
    const validation = { valid: checked.every(({ valid }) => valid), files: checked };
    await sayAll(validation, format, context);
    return validation.valid ? exitCodes.ok : exitCodes.usage;
  },
);

async function onlineCheck(flags: ServiceFlags, context: Context): Promise<OnlineCheck> {
  const { OnlineCheck } = await import('../../app/service/online-check.ts');
  return new OnlineCheck(flags, context);
}

async function sayFile(
  { checked, diagnostics, warnings: unlisted }: FoundInFile,
  context: Context,
): Promise<void> {
  const { io } = context;
  const { file, valid, errors, warnings, online } = checked;
  await printDiagnostics(diagnostics, context);
  if (!valid) {
    const and = warnings === 0 ? '' : `, ${counted(warnings, 'warning')}`;
    io.err(`${printable(file)}: ${counted(errors, 'error')}${and}\n`);
    return;
  }
  await io.out(`${printable(file)}: OK${warnings === 0 ? '' : ` (${counted(warnings, 'warning')})`}\n`);
  for (const words of online === undefined ? [] : onlineWords(online)) await io.out(`  ${words}\n`);
  for (const warning of unlisted) io.err(failureText(`warning: ${warning}`));
}

function onlineWords({ asked, service, listed, images, unlisted }: ModelCheck): readonly string[] {
  const found = unlisted.length === 0 ? 'all of them are there' : 'some are not on it';
  return [
    ...(images ? [`${service}: the image workflow is there and takes the key`] : []),
    ...(listed === undefined
      ? []
      : [`GET ${service}/v1/models: ${counted(listed, 'model')}; the pipeline asks ${asked}, ${found}`]),
  ];
}

async function sayAll(
  validation: Validation,
  format: 'text' | 'json' | 'github',
  { io }: Context,
): Promise<void> {
  const { valid, files } = validation;
  switch (format) {
    case 'text':
      if (!valid && files.length > 1) io.err(`promptpress: ${validationWords(validation)}\n`);
      return;
    case 'json':
      await io.data(jsonLine(validation));
      return;
    case 'github':
      // Only command lines may begin with text of a file, because GitHub would run others as commands.
      await io.out(
        githubCommands(validation, { cwd: io.cwd, workspace: io.env['GITHUB_WORKSPACE'] || undefined }),
      );
      io.err(`promptpress: ${validationWords(validation)}\n`);
  }
}
