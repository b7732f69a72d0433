import { realpath } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { lastRun, type RunFacts } from '../../../report/facts/run.ts';
import { StateServices } from '../../../report/facts/services.ts';
import { lockOwner } from '../../../state/lock/lock.ts';
import { openStateForReading } from '../../../state/state.ts';
import { invocationFact, StateError } from '../../../state/store.ts';
import type { MergeSource } from '../../../upkeep/merge.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors/cli-error.ts';
import { openArtifactsOf } from '../../service/artifact-place.ts';
import { checkRunDirectory } from './directory.ts';
import { checkAge } from './stale-state.ts';

/** A run directory that a command takes jobs from, without changing it. */
export interface OtherRun extends MergeSource {
  /** Path with links resolved. */
  readonly directory: string;
  /** {@link versionOf} the state when it was opened. */
  readonly version: string;
}

/** A run directory that is about to be merged. */
export interface MergedRun extends OtherRun {
  readonly facts: RunFacts;
  readonly text: string;
  /** Path of the pipeline's file. */
  readonly path: string;
}

/**
 * Opens an unlocked run directory for reading, whoever made it. Its state is opened without writing and must have our schema alone; a
 * folder with links is refused.
 *
 * @param hint what to do if nothing has run there
 * @throws CliError (exit 2) if nothing has run there; StateError `state.locked` (exit 75) while a run is on
 */
export async function openOtherRun(
  name: string,
  hint: string,
  flags: { readonly 'trust-directory': boolean },
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<OtherRun> {
  const { io } = context;
  const noRun = (): Error => usageError(`There is no run in ${name}.`, hint);
  const directory = await realpath(resolve(io.cwd, name)).catch(() => {
    throw noRun();
  });
  await checkRunDirectory(directory, { trusted: flags['trust-directory'], artifacts: true }, io.env);
  refuseHeld(directory, name);
  const reader = openStateForReading(directory);
  if (reader === undefined) throw noRun();
  disposables.add(async () => await reader.close());
  await checkAge(reader, directory, io.env);
  const { store: artifacts } = await openArtifactsOf(directory, reader, signal, disposables, context);
  return { directory, name, reader, artifacts, version: await versionOf(reader) };
}

/** Opens an unlocked run directory to merge it. @throws as {@link openOtherRun}; CliError (exit 2) for several services */
export async function openMergedRun(
  name: string,
  flags: { readonly 'trust-directory': boolean },
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<MergedRun> {
  const hint = 'merge takes run directories; promptpress ls lists them.';
  const run = await openOtherRun(name, hint, flags, signal, disposables, context);
  const last = await lastRun(run.reader);
  if (last === undefined) throw usageError(`There is no run in ${name}.`, hint);
  if (!(await StateServices.of(run.reader)).areAllOf(last.facts.serviceId))
    throw usageError(
      `${name} holds jobs of several services.`,
      'Only directories with jobs of one and the same service can be merged.',
    );
  return { ...last, ...run };
}

/**
 * Refuses a directory that cannot be merged with the previous ones.
 *
 * @throws CliError (exit 2) that names the difference
 */
export function refuseOther(run: MergedRun, before: readonly MergedRun[]): void {
  const [first] = before;
  if (first === undefined) return;
  const same = before.find(({ directory }) => directory === run.directory);
  if (same !== undefined)
    throw usageError(`${same.name} and ${run.name} are the same directory.`, 'Name each of them once.');
  const what = differenceOf(first, run);
  if (what === undefined) return;
  throw usageError(
    `${first.name} and ${run.name} differ in ${what}.`,
    'Only parts of one plan can be merged: run the same pipeline with the same tables against the same service in each.',
  );
}

function differenceOf(a: MergedRun, b: MergedRun): string | undefined {
  if (a.text !== b.text) return 'the text of their pipelines';
  if (JSON.stringify(a.facts.set ?? []) !== JSON.stringify(b.facts.set ?? [])) return 'what --set replaced';
  if (a.facts.serviceId !== b.facts.serviceId)
    return `their services (${a.facts.serviceId} and ${b.facts.serviceId})`;
  const [tables, others] = [a.facts.tables, b.facts.tables];
  const at = tables.findIndex(({ sha256 }, index) => others[index]?.sha256 !== sha256);
  if (at >= 0 || tables.length !== others.length)
    return `their tables (${relative(dirname(a.path), (tables[at] ?? others[0])?.file ?? '')})`;
  return undefined;
}

/** Refuses a directory if a run has changed it since it was opened. @param then what it was opened for, and what is left undone @throws StateError */
export async function refuseChanged(
  { directory, name, reader, version }: OtherRun,
  then: string,
): Promise<void> {
  refuseHeld(directory, name);
  if ((await versionOf(reader)) === version) return;
  throw new StateError('state.locked', `A run has changed ${name} while ${then}`, {
    hint: 'Give the same command again.',
  });
}

function refuseHeld(directory: string, name: string): void {
  const owner = lockOwner(directory);
  if (owner === undefined) return;
  throw new StateError('state.locked', `A run is on in ${name} (process ${owner.pid} on ${owner.host}).`, {
    hint: 'Wait for it or stop it, and give the same command again.',
  });
}

/** Returns a text that changes when a run begins or changes a job. */
export async function versionOf(reader: MergedRun['reader']): Promise<string> {
  const facts = await Promise.all([invocationFact, 'run.last'].map((name) => reader.fact(name)));
  return JSON.stringify([
    await reader.totals(),
    await reader.submissions(),
    await reader.lastNumber(),
    facts,
  ]);
}
