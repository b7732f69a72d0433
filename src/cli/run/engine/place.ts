import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countNames } from '../../../artifacts/store/counts.ts';
import { openArtifactFolder } from '../../../artifacts/store/folder.ts';
import { readS3Address } from '../../../artifacts/store/s3/address.ts';
import type { ArtifactStore } from '../../../artifacts/store/store.ts';
import { writeWhole } from '../../../manifest/whole-file.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { makeFolders } from '../../../state/files/folders.ts';
import { kindAt } from '../../../state/files/plain-path.ts';
import { stateFileName } from '../../../state/state-files.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../args/command.ts';
import { usageError } from '../../errors/cli-error.ts';
import { type ArtifactPlace, inBucket, openClient, patience } from '../../service/artifact-place.ts';
import { type EngineMarker, engineOf } from '../../service/engine/directory.ts';
import { refuseOtherDirectory } from '../../workspace/checks/owned.ts';
import type { SpecPlace } from './spec.ts';

/**
 * Makes a folder the place of a run on an engine, which says so in it from then on. A place is known by that mark and not by its path, as
 * mounts differ: a folder without it is another place, whatever lies in it.
 *
 * @param elsewhere where the run has results already; absent: it has none, or has them in a bucket
 * @throws CliError (exit 2) where it is another run's; StateError `directory.foreign`; the error of the file system
 */
export async function takeFolder(directory: string, marker: EngineMarker, elsewhere?: string): Promise<void> {
  const found = engineOf(directory);
  if (found?.place === marker.place) return;
  if (found?.engine === marker.engine)
    throw usageError(
      `${directory} holds the files of an earlier run ${found.engine}, which the engine does not have any more.`,
      `Choose another folder with --out. Or remove ${join(directory, runFiles.engine)}: then this run makes everything anew there, and its files take the place of those of the same jobs.`,
    );
  if (found !== undefined)
    throw usageError(
      `${directory} holds the files of another run: ${found.engine}.`,
      'Choose another folder with --out.',
    );
  if (kindAt(join(directory, stateFileName)) !== 'nothing')
    throw usageError(
      `${directory} holds a run of one machine, and its state cannot be continued on an engine.`,
      'Choose another folder with --out, or leave --engine out to continue it here.',
    );
  if (elsewhere !== undefined)
    throw usageError(
      `The results of ${marker.engine} lie in ${elsewhere}, and ${directory} is another folder: it has no ${runFiles.engine} of this run.`,
      'Name that folder with --out, under whatever path this machine has it. To move it, copy all of it first.',
    );
  await refuseOtherDirectory(directory);
  makeFolders(directory);
  // What was counted there was of a run that has left the folder.
  for (const name of countNames) await rm(join(directory, name), { force: true });
  await writeWhole(join(directory, runFiles.engine), [`${JSON.stringify(marker, undefined, 2)}\n`]);
}

/**
 * Opens the place of a run's files as one of its workers: nothing of others' is removed.
 *
 * @param run for messages
 * @throws CliError (exit 2) where this machine does not have it, or the environment does not say how it is reached; SaveError
 */
export async function openPlace(
  place: SpecPlace,
  run: string,
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<ArtifactPlace> {
  if (place.kind === 's3') return await openBucket(place, run, signal, disposables, context);
  const found = engineOf(place.path);
  if (found?.place !== place.id)
    throw usageError(
      found === undefined
        ? `Its files lie in ${place.path}, and on this machine that folder is not there, or is another one: it has no ${runFiles.engine}.`
        : `Its files lie in ${place.path}, and on this machine that folder is of another run.`,
      'All workers of a run write to one folder: share it under the same path (NFS), or begin the run with --out s3://bucket/prefix.',
    );
  return { store: openShared(place.path, disposables) };
}

/** The artifacts of a folder that several processes write to. */
export function openShared(directory: string, disposables: Disposables): ArtifactStore {
  const store = openArtifactFolder(directory, true);
  disposables.add(() => store.close());
  return store;
}

async function openBucket(
  { url, id }: Extract<SpecPlace, { kind: 's3' }>,
  run: string,
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<ArtifactPlace> {
  const address = readS3Address(url);
  if (typeof address === 'string') throw usageError(`Its files lie in ${url}. ${address}`);
  const client = await openClient(address, `the run ${run}`, signal, disposables, context);
  client.patienceMs = patience.atStart;
  const { claimPlace } = await import('../../../artifacts/store/s3/claim.ts');
  const claim = await claimPlace(client, { id, pipeline: run });
  if ('message' in claim) throw usageError(claim.message, claim.hint);
  client.patienceMs = patience.later;
  // What is received lies here until it is in the bucket.
  const directory = await mkdtemp(join(tmpdir(), 'promptpress-worker-'));
  disposables.add(() => rm(directory, { recursive: true, force: true }));
  return await inBucket(client, directory, disposables);
}
