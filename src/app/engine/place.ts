import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SharedInputs } from '../../artifacts/inputs.ts';
import { countNames, type SubmissionCounts } from '../../artifacts/store/counts.ts';
import { readS3Address } from '../../artifacts/store/s3/address.ts';
import { writeWhole } from '../../manifest/whole-file.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { makeFolders } from '../../state/files/folders.ts';
import { kindAt } from '../../state/files/plain-path.ts';
import { stateFileName } from '../../state/state-files.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors/cli-error.ts';
import { type ArtifactPlace, inBucket, inFolder, openClient, patience } from '../service/artifact-place.ts';
import { type EngineMarker, engineOf } from '../service/engine/directory.ts';
import { folderCounts } from '../service/engine/folder-counts.ts';
import { folderInputs } from '../service/engine/folder-inputs.ts';
import { refuseOtherDirectory } from '../workspace/checks/owned.ts';
import type { SpecPlace } from './spec.ts';

/**
 * Makes a folder the place of a run on an engine, and writes the run's mark into it. The mark identifies the place, not the path: mounts
 * differ between machines.
 *
 * @param elsewhere folder that has the run's results already; absent: there are none, or they are in a bucket
 * @throws CliError (exit 2) if it is the place of another run; StateError `directory.foreign`; the error of the file system
 */
export async function takeFolder(directory: string, marker: EngineMarker, elsewhere?: string): Promise<void> {
  const found = engineOf(directory);
  if (found?.place === marker.place) return;
  if (found?.engine === marker.engine)
    throw elsewhere === undefined
      ? usageError(
          `${directory} holds the files of an earlier run ${found.engine}, which the engine does not have any more.`,
          `Choose another folder with --out. Or remove ${join(directory, runFiles.engine)}: then this run makes everything again there, and its files replace those of the same jobs.`,
        )
      : usageError(
          `The results of ${marker.engine} were moved out of ${directory}: they are in ${elsewhere}.`,
          'Name that folder with --out, by its path on this machine.',
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
      `The results of ${marker.engine} are in ${elsewhere}, and ${directory} is another folder: it has no ${runFiles.engine} of this run.`,
      [
        'Name that folder with --out, by its path on this machine. To have the results copied to another one, add --move-out.',
        `If that folder is gone, restore it from a backup, with its ${runFiles.engine}. Without one: write ${JSON.stringify(marker)} into ${join(directory, runFiles.engine)}; promptpress verify --repair then downloads again what the service still has.`,
      ].join('\n'),
    );
  await refuseOtherDirectory(directory);
  makeFolders(directory);
  // The counts there belong to a run that has left the folder.
  for (const name of countNames) await rm(join(directory, name), { force: true });
  await writeMark(directory, marker);
}

/** Writes the mark of a run into a folder. @throws the error of the file system */
export const writeMark = (directory: string, marker: EngineMarker): Promise<void> =>
  writeWhole(join(directory, runFiles.engine), [`${JSON.stringify(marker, undefined, 2)}\n`]);

/**
 * Returns the place of a run as this machine sees it. A folder is recognised by its mark, because mounts differ.
 *
 * @param folders absolute paths that the user named; if none has the mark, the coordinator's path is tried
 * @throws CliError (exit 2) if no folder has the mark
 */
export function placeHere(place: SpecPlace, folders: readonly string[]): SpecPlace {
  if (place.kind === 's3') return place;
  const looked = [...folders, place.path];
  const path = looked.find((folder) => engineOf(folder)?.place === place.id);
  if (path !== undefined) return { ...place, path };
  throw usageError(
    `Its files are in ${place.path} of its coordinator, in the folder with the mark ${place.id} (${runFiles.engine}). On this machine ${looked.map(markWords).join(', ')}.`,
    'All workers of a run write to one folder: share it (NFS), and name its path on this machine with --out DIR. Or begin the run with --out s3://bucket/prefix.',
  );
}

function markWords(folder: string): string {
  const found = engineOf(folder);
  if (found === undefined) return `${folder} has no mark, or is not there`;
  return `${folder} has the mark ${found.place}, of ${found.engine}`;
}

/**
 * Opens the place of a run's files for one of its workers; removes nothing that belongs to other workers.
 *
 * @param run name of the run, for messages
 * @param isNamed the user has named the bucket himself; otherwise only the state names it
 * @throws CliError (exit 2) if this machine does not have the place, or the environment has no access to it; SaveError
 */
export async function openPlace(
  place: SpecPlace,
  run: string,
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
  isNamed = false,
): Promise<ArtifactPlace> {
  if (place.kind === 'folder') return inFolder(place.path, disposables, true);
  return await openBucket(place, run, isNamed ? undefined : `the run ${run}`, signal, disposables, context);
}

/** Opens the counts of submissions in the place of a run. */
export function countsOf(place: SpecPlace, { remote }: ArtifactPlace): SubmissionCounts {
  if (remote !== undefined) return remote.counts;
  if (place.kind === 'folder') return folderCounts(place.path);
  throw new Error('Internal error: a place in a bucket is reached over its client.');
}

/** Opens the pipeline's files that the workers of a run share. */
export function inputsOf(place: SpecPlace, remote: ArtifactPlace['remote']): SharedInputs {
  if (remote !== undefined) return remote.inputs;
  if (place.kind === 'folder') return folderInputs(place.path);
  throw new Error('Internal error: a place in a bucket is reached over its client.');
}

async function openBucket(
  { url, id }: Extract<SpecPlace, { kind: 's3' }>,
  run: string,
  namedBy: string | undefined,
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<ArtifactPlace> {
  const address = readS3Address(url);
  if (typeof address === 'string') throw usageError(`Its files are in ${url}. ${address}`);
  const client = await openClient(address, namedBy, signal, disposables, context);
  client.patienceMs = patience.atStart;
  const { claimPlace } = await import('../../artifacts/store/s3/claim.ts');
  const claim = await claimPlace(client, { id, pipeline: run });
  if ('message' in claim) throw usageError(claim.message, claim.hint);
  client.patienceMs = patience.later;
  // Received files are kept in this folder until they are uploaded.
  const directory = await mkdtemp(join(tmpdir(), 'promptpress-worker-'));
  disposables.add(() => rm(directory, { recursive: true, force: true }));
  return await inBucket(client, directory, disposables);
}
