import { realpath } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { isNarrowed } from '../../manifest/cells.ts';
import { aText, listOf } from '../../pipeline/values/shape.ts';
import type { EstimateOptions } from '../../plan/estimate/estimate.ts';
import { jsonFact } from '../../report/facts/json.ts';
import { seenFrom } from '../../report/facts/place.ts';
import { count, counted } from '../../report/text/amounts.ts';
import { shownLine } from '../../report/text/printable.ts';
import type { StateReader } from '../../state/reader.ts';
import { StateError } from '../../state/store.ts';
import { ReusableJobs, type ReuseSource } from '../../upkeep/reusable-jobs.ts';
import { type Reused, takeOver } from '../../upkeep/reuse.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors/cli-error.ts';
import type { ReuseFlags } from '../flags.ts';
import { openArtifactsOf } from '../service/artifact-place.ts';
import { isEngineWord } from '../service/engine/connect.ts';
import { admitNamed } from '../service/trust.ts';
import { passwordVariable } from '../service/trust-file.ts';
import { refuseStranger } from '../workspace/checks/maker.ts';
import { type OtherRun, openOtherRun, refuseChanged, versionOf } from '../workspace/checks/merged-runs.ts';
import type { CheckedRun, PlannedRun, Runner } from './stages.ts';

/** Name of the fact with the runs whose jobs are still to be taken over: until that is done, every run continues it. */
const reuseFact = 'run.reuse';

const areNames = listOf(aText) as (value: unknown) => value is readonly string[];

const openReuse = async (state: Pick<StateReader, 'fact' | 'file'>): Promise<readonly string[]> =>
  (await jsonFact(state, reuseFact, areNames)) ?? [];

/** Whether an earlier run was ended before it had taken over all jobs. */
export const isReuseOpen = async (state: Pick<StateReader, 'fact' | 'file'>): Promise<boolean> =>
  (await openReuse(state)).length > 0;

const givenNames = ({ reuse }: ReuseFlags, cwd: string): readonly string[] =>
  reuse.map((name) => (isEngineWord(name) ? name : resolve(cwd, name)));

/** Returns the runs whose jobs are taken over: those of the flags, then those that an earlier run has not finished with (`left`). */
const namesOf = (flags: ReuseFlags, left: readonly string[], cwd: string): readonly string[] => [
  ...new Set([...givenNames(flags, cwd), ...(flags['reuse-cancel'] ? [] : left)]),
];

/**
 * Takes over finished jobs of other run directories, before anything is sent. An interrupted call is continued by the next run, whatever
 * its flags say.
 *
 * @throws CliError (exit 2), StateError, SaveError; the reason of the run's signal
 */
export async function reuseJobs<Planned extends PlannedRun>(
  run: CheckedRun,
  planned: Planned,
  runner: Pick<Runner<never, Planned>, 'taker'>,
): Promise<void> {
  const { flags, interrupts, output, disposables, context, repairs } = run;
  const { io } = context;
  const { state, directory, artifacts, selection } = planned;
  if (repairs) return;
  const left = await openReuse(state.reader);
  const names = namesOf(flags, left, io.cwd);
  if (names.length === 0) {
    if (left.length > 0) await state.setFact(reuseFact, '');
    return;
  }
  const { drain } = interrupts;
  const sources = await openSources(names, directory, flags, drain, disposables, context);
  const target = await runner.taker(run, planned);
  if (target === undefined) return;
  await state.setFact(reuseFact, JSON.stringify(sources.map(({ again }) => again)));
  const reused = await takeOver(target, selection, sources, artifacts, drain);
  for (const source of sources)
    await source.check('jobs were taken over from it. Nothing was submitted; what was taken over stays.');
  // A narrowed run does not finish what an earlier one has left.
  const stays = isNarrowed(selection) && !flags['reuse-cancel'] ? left : [];
  await state.setFact(reuseFact, stays.length === 0 ? '' : JSON.stringify(stays));
  if (reused.jobs + reused.open + reused.broken > 0) output.onWork();
  io.err(`${reusedText(reused, sources)}\n`);
}

/** Returns the jobs that a run with these flags takes over first, for its plan; undefined: it takes over none. @throws as `reuseJobs` */
export async function plannedReuse(
  flags: ReuseFlags,
  { state, directory }: { readonly state: StateReader | undefined; readonly directory: string },
  disposables: Disposables,
  context: Context,
): Promise<EstimateOptions['reuse']> {
  const names = namesOf(flags, state ? await openReuse(state) : [], context.io.cwd);
  if (names.length === 0) return undefined;
  const never = new AbortController().signal;
  const jobs = new ReusableJobs(
    state,
    await openSources(names, directory, flags, never, disposables, context),
  );
  return { many: (keys) => jobs.many(keys), isReused: (record) => jobs.sourceOf(record) !== undefined };
}

/** A run whose jobs are taken over. */
interface OpenSource extends ReuseSource {
  /** How a later run names it. */
  readonly again: string;
  /** Refuses a run that has changed since it was opened. @throws StateError */
  check(then: string): Promise<void>;
}

async function openSources(
  names: readonly string[],
  directory: string,
  flags: ReuseFlags,
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<readonly OpenSource[]> {
  const own = await realpath(directory).catch(() => directory);
  const given = new Set(givenNames(flags, context.io.cwd));
  const sources: OpenSource[] = [];
  for (const name of names) {
    const source = isEngineWord(name)
      ? await openOnEngine(
          name,
          given.has(name) ? undefined : `the state of ${directory}`,
          signal,
          disposables,
          context,
        )
      : await openInFolder(name, own, flags, signal, disposables, context);
    if (sources.every(({ again }) => again !== source.again)) sources.push(source);
  }
  return sources;
}

async function openInFolder(
  name: string,
  own: string,
  flags: ReuseFlags,
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<OpenSource> {
  const seen = seenFrom(context.io.cwd, name);
  const hint =
    '--reuse takes run directories, which promptpress ls lists. --reuse-cancel drops a take-over that was interrupted.';
  if ((await realpath(name).catch(() => name)) === own)
    throw usageError(
      `--reuse: ${seen} is the run directory itself.`,
      'Name another run, or leave the flag out.',
    );
  const run: OtherRun = await openOtherRun(seen, hint, flags, signal, disposables, context);
  await refuseStranger(run.reader, seen, { trusted: flags['trust-directory'] }, context.io.env);
  const shown = relative(own, run.directory).split(sep).join('/');
  return { ...run, shown, again: run.directory, check: (then) => refuseChanged(run, then) };
}

/** @param namedBy the state that names it; absent: the user did */
async function openOnEngine(
  name: string,
  namedBy: string | undefined,
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<OpenSource> {
  const [{ openEngineRun }, { parseEngineAddress }] = await Promise.all([
    import('../service/engine/run.ts'),
    import('../../engine/postgres/address.ts'),
  ]);
  // A state must not send a password where it likes.
  if (context.io.env[passwordVariable])
    await admitNamed({ key: passwordVariable, origin: parseEngineAddress(name).origin }, namedBy, context);
  const { place, state } = await openEngineRun(name, undefined, { needs: 'files' }, context);
  disposables.add(() => state.close());
  const { directory, name: shown } = place;
  const version = await versionOf(state);
  const check = async (then: string): Promise<void> => {
    if ((await place.owner()) !== undefined || (await versionOf(state)) !== version)
      throw new StateError('state.locked', `Workers were at work on ${shown} while ${then}`, {
        hint: 'Wait for them or stop the run, and give the same command again.',
      });
  };
  await check('jobs were to be taken over from it.');
  const { store: artifacts } = await openArtifactsOf(directory, state, signal, disposables, context);
  return { directory, name: shown, shown, again: shown, reader: state, artifacts, check };
}

/** Tells what was taken over. */
function reusedText(
  { jobs, files, bytes, open, broken, examples }: Reused,
  sources: readonly ReuseSource[],
): string {
  const size = `${count(Math.round(bytes / 1e5) / 10)} MB`;
  const from = sources.map(({ name }) => shownLine(name)).join(', ');
  const held = [
    ...(open === 0 ? [] : [`${counted(open, 'job')} that ${open === 1 ? 'is' : 'are'} not settled there`]),
    ...(broken === 0
      ? []
      : [
          `${counted(broken, 'job')} whose files or replies are not as the state there says (${examples.join('; ')})`,
        ]),
  ];
  return `Taken over from ${from}: ${counted(jobs, 'job')} with ${counted(files, 'file')} (${size}); nothing is sent for them.${held.length === 0 ? '' : ` In doubt here: ${held.join(', and ')}.`}`;
}
