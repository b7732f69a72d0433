import { join, resolve } from 'node:path';
import { closingAfter } from '../../../app/adapters/disposables.ts';
import { CliError, exitCodes, usageError } from '../../../app/errors/cli-error.ts';
import { giving, revaluing } from '../../../app/errors/correction.ts';
import { openArtifactsOf } from '../../../app/service/artifact-place.ts';
import { version } from '../../../app/version.ts';
import { readJobFile } from '../../../app/workspace/checks/job-file.ts';
import { targetOrDefault } from '../../../app/workspace/default-file.ts';
import { planOfDirectory } from '../../../app/workspace/last-plan.ts';
import { openTarget } from '../../../app/workspace/open.ts';
import { checkSelection } from '../../../app/workspace/selection.ts';
import { makesWords } from '../../../pipeline/kinds.ts';
import { isObject } from '../../../pipeline/values/value.ts';
import type { Plan } from '../../../plan/plan.ts';
import { type SlotStatus, slotStatuses } from '../../../plan/slot.ts';
import { exportDataSet, type FormatName, formats, NotEmptyError } from '../../../report/exports/export.ts';
import type { Exported } from '../../../report/exports/exported.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { seenFrom } from '../../../report/facts/place.ts';
import { count, counted } from '../../../report/text/amounts.ts';
import { quoted } from '../../../report/text/printable.ts';
import { readOwnText } from '../../../state/files/plain-path.ts';
import { command } from '../../args/command.ts';
import { type Reading, repeated, toggle, valued } from '../../args/flags.ts';
import { targetFlags } from '../../args/run-flags.ts';
import { selectionFlags } from '../../args/selection-flags.ts';
import { summaries } from '../../args/summaries.ts';
import { anyText, oneOf, splitParts } from '../../args/values.ts';

const kohya = oneOf('kohya');

/** Reads the program for caption files. The corrected command line of its error also sets the only format that has them. */
const captionProgram: Reading<'kohya'> = Object.assign(
  (text: string, name: string): 'kohya' => {
    try {
      return kohya(text, name);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      throw usageError(error.message, error.hint, {
        kind: 'example',
        words: (words) => {
          const named = revaluing(name, text, ['kohya']).words(words);
          return named && giving('--format', 'imagefolder').words(named);
        },
      });
    }
  },
  { words: kohya.words ?? [] },
);

const formatNames = Object.keys(formats) as readonly FormatName[];

/** `promptpress export FILE|DIR --format FORMAT --to DIR` */
export const exportCommand = command(
  {
    name: 'export',
    summary: summaries.export,
    operands: '[FILE|DIR]',
    about: `Writes a data set of a run's results into a new or empty folder. A file is compared with its hash in the state before it is copied; missing and changed files are left out and reported (exit 1). The same state gives the same bytes.

imagefolder: images, with metadata.csv. jsonl: data.jsonl, an object a line. parquet: data-00000.parquet and so on, with types. webdataset: 000000.tar and so on, the members of a sample together. Columns are the manifest's. README.md says what made the data set, what is in it, and what was left out; the licence is yours to fill in.

Without --status only finished results are in it.`,
    examples: [
      {
        command: 'promptpress export runs/foxes --format imagefolder --to foxes --caption caption',
        does: 'images, each with the text of the step "caption"',
      },
      {
        command: 'promptpress export runs/foxes --format imagefolder --to foxes --split train=0.9,test=0.1',
        does: 'in two parts; the repeats of a cell stay together',
      },
      { command: 'promptpress export runs/qa --format parquet --to qa', does: 'texts with typed columns' },
      {
        command:
          'promptpress export runs/foxes --format webdataset --to shards --step grid --filter animal=fox',
        does: 'a part of the results',
      },
    ],
    flags: {
      format: valued('FORMAT', `the form of the data set: ${formatNames.join(', ')}`, oneOf(...formatNames)),
      to: valued('DIR', 'folder of the data set: a new or empty one', anyText),
      status: repeated(
        'STATUS',
        `results with this status too; default done. One of ${slotStatuses.join(', ')}, or all`,
        oneOf(...slotStatuses, 'all'),
      ),
      step: repeated('STEP', 'only results of this step', anyText),
      filter: selectionFlags.filter,
      jobs: valued(
        'FILE',
        'only results of the jobs that this file lists: a selection of the report, without jobs marked "reject", or one key a line',
        anyText,
      ),
      caption: valued(
        'STEP',
        'the text that this step wrote about an image becomes its "text"; the step has no rows of its own',
        anyText,
      ),
      split: valued(
        'PARTS',
        'parts with their shares, for example train=0.9,test=0.1, by a hash of the cell',
        splitParts,
      ),
      for: valued(
        'PROGRAM',
        'kohya: a .txt with the caption, else the prompt, beside each image',
        captionProgram,
      ),
      'no-grids': toggle('leave out grids that were cut (grid: split), and keep their frames'),
      'no-files': toggle('write only the table; files stay in the run directory'),
      ...targetFlags,
    },
  },
  { least: 0, most: 1 },
  async (flags, [given], context) =>
    await closingAfter(async (disposables) => {
      const { io, redactor } = context;
      const { format, to } = flags;
      if (format === undefined)
        throw usageError(
          `export needs --format, one of ${formatNames.join(', ')}.`,
          undefined,
          giving('--format', 'imagefolder'),
        );
      if (to === undefined)
        throw usageError(
          'export needs --to DIR: the folder of the data set.',
          undefined,
          giving('--to', 'dataset'),
        );
      if (flags.for !== undefined && format !== 'imagefolder')
        throw usageError(
          `--for ${flags.for} writes texts beside images, but --format ${format} has no image files.`,
          'Take --format imagefolder.',
          giving('--format', 'imagefolder'),
        );
      if (flags['no-files'] && (format === 'imagefolder' || format === 'webdataset'))
        throw usageError(
          `--format ${format} consists of files, so --no-files cannot be used with it.`,
          'Take --format jsonl or parquet for a table alone.',
        );
      const target = targetOrDefault(given, 'export', io);
      const { directory, place, state, file } = await openTarget(target, flags, context, 'files');
      disposables.add(() => state.close());
      const interrupts = io.interrupts('late');
      disposables.add(() => interrupts.stop());
      const { store: artifacts } = await openArtifactsOf(
        directory,
        state,
        interrupts.drain,
        disposables,
        context,
      );
      const { plan, facts } = await planOfDirectory(directory, state, context, file);
      const narrowed = flags.filter.length > 0;
      const selection = narrowed ? { filters: flags.filter } : facts.selection;
      if (narrowed) await checkSelection(plan, selection);
      for (const step of flags.step) checkStep(plan, step, '--step');
      if (flags.caption !== undefined) checkCaption(plan, flags.caption);
      if (flags.step.length > 0 && flags.step.every((step) => step === flags.caption))
        throw usageError(
          `--step ${flags.caption} selects only rows that --caption ${flags.caption} turns into captions: nothing is left.`,
          'Leave out --step, or name the step of the images.',
        );
      const jobs =
        flags.jobs === undefined ? undefined : await readJobFile(flags.jobs, '--jobs', io.cwd, 'reject');

      const folder = resolve(io.cwd, to);
      io.boundHeapGrowth();
      interrupts.listen();
      const exported = await exportDataSet({
        plan,
        choice: {
          selection,
          onlySelected: narrowed,
          statuses: new Set(
            flags.status.includes('all') ? slotStatuses : flags.status.length === 0 ? ['done'] : flags.status,
          ) as ReadonlySet<SlotStatus>,
          ...(flags.step.length === 0 ? {} : { steps: new Set(flags.step) }),
          ...(jobs === undefined ? {} : { jobs }),
          ...(flags.caption === undefined ? {} : { captionStep: flags.caption }),
          withoutGrids: flags['no-grids'],
          parts: flags.split ?? [],
        },
        reader: state,
        artifacts,
        to: folder,
        format,
        copyFiles: !flags['no-files'],
        captionFiles: flags.for !== undefined,
        card: {
          name: plan.pipeline.name,
          ...(plan.pipeline.description === undefined ? {} : { description: plan.pipeline.description }),
          madeBy: `promptpress ${version}`,
          ...commitOf(directory),
          sandbox: facts.serviceId === 'sandbox',
          hasFiles: !flags['no-files'],
        },
        redact: redactor.applyToData,
        signal: interrupts.drain,
      }).catch((error: unknown) => {
        throw failureOf(error, to, interrupts.first());
      });
      await io.out(`${said(exported, seenFrom(io.cwd, folder))}\n`);
      const { missing, changed } = exported.problems;
      if (missing + changed === 0) return exitCodes.ok;
      io.err(
        `promptpress: ${problemWords(exported)} Such rows are not in the data set.\n  promptpress verify ${quoted(place.name)} lists all of them; with --repair it downloads again what the service still has.\n`,
      );
      return exitCodes.failed;
    }),
);

function checkStep(plan: Plan, name: string, flag: string): void {
  const names = plan.pipeline.steps.map((step) => step.name);
  if (names.includes(name)) return;
  throw usageError(`${flag}: the pipeline has no step "${name}".`, `It has ${names.join(', ')}.`);
}

function checkCaption(plan: Plan, name: string): void {
  checkStep(plan, name, '--caption');
  const step = plan.pipeline.steps.find((one) => one.name === name);
  if (step === undefined || makesWords(step.kind)) return;
  throw usageError(
    `--caption: the step "${name}" makes images, not texts.`,
    'Name a generate, chat or describe step that receives the images.',
  );
}

function failureOf(error: unknown, to: string, signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined): unknown {
  if (error instanceof NotEmptyError)
    return usageError(
      `--to ${to} is not empty.`,
      'A data set needs a folder of its own: name a new one, or empty this one.',
    );
  if (signal !== undefined)
    return new CliError(exitCodes[signal], 'The export was interrupted. Nothing was written.', {
      cause: error,
    });
  return error;
}

/** Returns the commit of the last run from `run.json`. Errors in that file do not prevent an export. */
function commitOf(directory: string): { readonly commit?: string; readonly isChanged?: boolean } {
  try {
    const record: unknown = JSON.parse(readOwnText(join(directory, runFiles.record), 1024 * 1024) ?? '{}');
    const git = isObject(record) ? record['git'] : undefined;
    if (!isObject(git) || typeof git['commit'] !== 'string' || !/^[0-9a-f]{7,64}$/.test(git['commit']))
      return {};
    return { commit: git['commit'], isChanged: git['dirty'] === true };
  } catch {
    // Without a readable record the card names no commit.
    return {};
  }
}

function said({ rows, files, parts, leftOut, withoutImage }: Exported, place: string): string {
  const left = [...leftOut.statuses].map(([status, of]) => `${count(of)} ${status}`);
  const shares = parts.map(({ part, rows: of }) => `${part} ${count(of)}`).join(', ');
  return [
    `${place}: ${counted(rows, 'row')}, ${counted(files, 'file')}${shares === '' ? '' : ` (${shares})`}`,
    ...(left.length === 0
      ? []
      : [`left out: ${left.join(', ')}; --status takes results of other statuses in`]),
    ...(withoutImage === 0
      ? []
      : [`left out: ${counted(withoutImage, 'row')} without an image; an imagefolder has only images`]),
    ...(leftOut.grids === 0 ? [] : [`${counted(leftOut.grids, 'grid')} left out for their frames`]),
    ...(leftOut.uncaptioned === 0 ? [] : [`${counted(leftOut.uncaptioned, 'row')} without a caption`]),
  ].join('\n');
}

function problemWords({ problems: { missing, changed, examples } }: Exported): string {
  const counts = [
    ...(missing === 0 ? [] : [`${counted(missing, 'file')} missing`]),
    ...(changed === 0 ? [] : [`${counted(changed, 'file')} changed since the run`]),
  ];
  return `${counts.join(', ')}, such as ${examples.join(', ')}.`;
}
