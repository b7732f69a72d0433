import { realpath } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { closingAfter, type Disposables } from '../../../app/adapters/disposables.ts';
import type { Context } from '../../../app/context.ts';
import { CliError, exitCodes, usageError } from '../../../app/errors/cli-error.ts';
import type { Interrupts } from '../../../app/output/io.ts';
import { runExitCode } from '../../../app/run/exit-code.ts';
import { isEngineWord, noEngineHere } from '../../../app/service/engine/connect.ts';
import { lockState } from '../../../app/workspace/checks/maker.ts';
import {
  type MergedRun,
  openMergedRun,
  refuseChanged,
  refuseOther,
} from '../../../app/workspace/checks/merged-runs.ts';
import { planOfDirectory } from '../../../app/workspace/last-plan.ts';
import { copyInputs } from '../../../app/workspace/tables.ts';
import { SaveError } from '../../../artifacts/failure.ts';
import { openArtifactFolder } from '../../../artifacts/store/folder.ts';
import { isS3Address } from '../../../artifacts/store/s3/address.ts';
import { writeManifest } from '../../../manifest/write.ts';
import type { Pipeline } from '../../../pipeline/pipeline.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { seenFrom } from '../../../report/facts/place.ts';
import { outcomeFacts, writeRunFacts } from '../../../report/facts/run.ts';
import { enterService } from '../../../report/facts/services.ts';
import { count, counted } from '../../../report/text/amounts.ts';
import { quoted } from '../../../report/text/printable.ts';
import { slotNumbers } from '../../../report/text/slot-counts.ts';
import { learnedFact, learnedNames } from '../../../run/limits/learned.ts';
import { pipelineFacts } from '../../../state/binding.ts';
import { isMissing } from '../../../state/files/folders.ts';
import { isFreeFolder, writeWholeFolder } from '../../../state/files/whole-folder.ts';
import { invocationFact, type StateStore } from '../../../state/store.ts';
import { type Merged, MergeError, mergeInto } from '../../../upkeep/merge.ts';
import { command } from '../../args/command.ts';
import { valued } from '../../args/flags.ts';
import { placeFlags } from '../../args/run-flags.ts';
import { summaries } from '../../args/summaries.ts';
import { anyText } from '../../args/values.ts';

/** Largest number of directories. */
const maxDirectories = 1000;

/** `promptpress merge DIR… --out DIR` */
export const merge = command(
  {
    name: 'merge',
    summary: summaries.merge,
    operands: 'DIR DIR…',
    about: `Merges run directories that ran parts of the same pipeline (run --shard 1/4 … 4/4, on as many machines): jobs, history, files, replies, and one manifest. If several directories have a job, the state that is further along is kept; of two results the older one is kept, and their costs are added. The directories are only read, and must not be in use; pipeline, tables and service must be the same in all. Every file and reply is compared with its hash. --out is written completely or not at all.

The merged directory can be continued like any other: promptpress run FILE --out DIR does what is left of the whole plan. Exit codes are those of a run: 0 all planned jobs are done or skipped, 1 some failed or are left, 5 jobs in doubt.`,
    examples: [
      {
        command: 'promptpress merge runs/part-1 runs/part-2 --out runs/foxes',
        does: 'the two halves of --shard 1/2 and --shard 2/2',
      },
    ],
    flags: {
      out: valued('DIR', 'the directory to make: a new or empty one', anyText),
      'trust-directory': placeFlags['trust-directory'],
    },
  },
  { least: 2, most: maxDirectories },
  async (flags, names, context) => {
    const { io } = context;
    if (names.some(isEngineWord))
      throw noEngineHere(
        'merge',
        'On an engine the shards of a pipeline are one run from the start: promptpress run FILE --engine …, with any number of workers.',
      );
    if (flags.out === undefined)
      throw usageError('merge needs --out DIR: the directory to make.', 'For example --out runs/merged.');
    if (isS3Address(flags.out))
      throw usageError(
        '--out: merge makes a run directory and cannot write to a bucket.',
        'Name a directory; its files can be copied to a bucket afterwards.',
      );
    const to = resolve(io.cwd, flags.out);
    if (!(await isFreeFolder(to)))
      throw usageError(
        `--out: ${flags.out} exists already and is not an empty folder.`,
        'Name a new one. The merged directories are not changed.',
      );
    const interrupts = io.interrupts('late');
    try {
      return await closingAfter(
        async (disposables) => await merged(names, to, flags, interrupts, disposables, context),
      );
    } catch (error) {
      const signal = interrupts.first();
      if (signal !== undefined && !(error instanceof CliError))
        throw new CliError(exitCodes[signal], 'The merge was interrupted; nothing was made.', {
          cause: error,
        });
      if (error instanceof SaveError)
        throw new CliError(exitCodes.disk, `${error.message} Nothing was made.`, { cause: error });
      if (!(error instanceof MergeError)) throw error;
      const { source, message, mayRepair } = error;
      throw usageError(
        `${source.name}: ${message}. Nothing was made.`,
        mayRepair
          ? `This downloads again what the service still has: promptpress verify ${quoted(source.name)} --repair`
          : `promptpress verify ${quoted(source.name)} shows all that is wrong with it.`,
      );
    } finally {
      interrupts.stop();
    }
  },
);

async function merged(
  names: readonly string[],
  to: string,
  flags: { readonly 'trust-directory': boolean },
  interrupts: Interrupts,
  disposables: Disposables,
  context: Context,
): Promise<number> {
  const { io } = context;
  const signal = interrupts.drain;
  const runs: MergedRun[] = [];
  for (const name of names) {
    const run = await openMergedRun(name, flags, signal, disposables, context);
    refuseOther(run, runs);
    if (isWithin(await realOf(to), run.directory))
      throw usageError(`--out lies in ${name}, one of the merged directories.`, 'Name a folder beside it.');
    runs.push(run);
  }
  const [first] = runs as [MergedRun, ...MergedRun[]];
  const sums: Merged = { jobs: 0, files: 0, bytes: 0, replies: 0, shared: 0, conflicts: 0 };
  const write = async (folder: string) => {
    const end = await closingAfter(async (own) => {
      const state = lockState(folder, 'promptpress merge', { trusted: false }, own, context);
      const artifacts = openArtifactFolder(folder);
      own.add(() => artifacts.close());
      await begin(state, folder, first, io.now());
      for (const run of runs) await mergeInto({ state, artifacts }, run, sums, signal);
      await countAll(state, runs);
      return await finish(state, folder, first, plan.pipeline, signal, context);
    });
    for (const run of runs) await refuseChanged(run, 'it was merged. Nothing was made.');
    return end;
  };
  const { plan } = await planOfDirectory(first.directory, first.reader, context, undefined, signal);
  // From here on an interruption must remove what was written.
  interrupts.listen();
  const { exitCode, lines } = await writeWholeFolder(to, write, signal);
  await io.out(`${[...said(sums, to, names.length, io.cwd), ...lines].join('\n')}\n`);
  return exitCode;
}

/** Writes the facts of the merged directory before its first job. */
async function begin(state: StateStore, folder: string, run: MergedRun, now: number): Promise<void> {
  for (const name of Object.values(pipelineFacts)) {
    const value = await run.reader.fact(name);
    if (value !== undefined) state.setFact(name, value);
  }
  const { serviceId: id, origin, filesRoot, tables, set } = run.facts;
  await enterService(state, { id, ...(origin === undefined ? {} : { origin }) });
  await copyInputs(tables, run.directory, folder);
  for (const name of learnedNames) {
    const text = await run.reader.fact(learnedFact(name));
    if (text !== undefined) state.setFact(learnedFact(name), text);
  }
  await writeRunFacts(state, {
    filesRoot,
    tables,
    serviceId: id,
    ...(origin === undefined ? {} : { origin }),
    ...(set === undefined ? {} : { set }),
    selection: {},
    startedAt: now,
    atStart: { settled: 0, attempts: 0 },
  });
}

/** Records the number of submissions and runs of all directories, so that the next run does not take their settled jobs for its own. */
async function countAll(state: StateStore, runs: readonly MergedRun[]): Promise<void> {
  let [submits, invocation] = [0, 0];
  for (const { reader } of runs) {
    submits += (await reader.submissions()).known;
    invocation = Math.max(invocation, Number((await reader.fact(invocationFact)) ?? 0));
  }
  if (submits > 0) state.commit({ records: [], attempts: [], submits, invocation });
  state.countSubmissions();
}

/** Writes the manifest, and the outcome of the merge as that of a run. */
async function finish(
  state: StateStore,
  folder: string,
  { facts }: MergedRun,
  pipeline: Pipeline,
  signal: AbortSignal,
  context: Context,
): Promise<{ readonly exitCode: number; readonly lines: readonly string[] }> {
  const { io, redactor } = context;
  const { reader } = state;
  const { plan, facts: own } = await planOfDirectory(folder, reader, context, undefined, signal, pipeline);
  const totals = await writeManifest({
    plan,
    selection: {},
    reader,
    redact: redactor.applyToData,
    file: join(folder, runFiles.manifest),
    signal,
  });
  const end = { kind: 'complete' } as const;
  const exitCode = runExitCode(end, totals.slots, undefined);
  const { jobs, attempts } = state.totals();
  const settled = jobs.done + jobs.failed + jobs['in-doubt'];
  await writeRunFacts(state, {
    ...own,
    selection: {},
    tables: facts.tables,
    atStart: { settled, attempts },
    outcome: outcomeFacts({ finishedAt: io.now(), end, exitCode, totals }),
  });
  return { exitCode, lines: [`The whole plan: ${slotNumbers(totals.slots).join(', ')}.`] };
}

function said(
  { jobs, files, bytes, replies, shared, conflicts }: Merged,
  to: string,
  directories: number,
  cwd: string,
): readonly string[] {
  const place = seenFrom(cwd, to);
  const size = `${count(bytes / 1e6)} MB`;
  return [
    `${place}: ${counted(jobs, 'job')} of ${count(directories)} directories, with ${counted(files, 'file')} (${size}) and ${count(replies)} kept ${replies === 1 ? 'reply' : 'replies'}.`,
    ...(shared === 0 ? [] : [`${counted(shared, 'time')} a directory has a job of an earlier one.`]),
    ...(conflicts === 0
      ? []
      : [
          `${counted(conflicts, 'time')} with another result, which was paid for too: the older one was kept, and the other is only in its own directory.`,
        ]),
  ];
}

const isWithin = (path: string, folder: string): boolean => `${path}${sep}`.startsWith(`${folder}${sep}`);

/** Resolves links in a path whose last parts may not exist. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error;
    return join(await realOf(dirname(path)), path.slice(dirname(path).length));
  }
}
