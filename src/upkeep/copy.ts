import type { Bytes } from '../artifacts/formats/format.ts';
import { formatOf, images, maxFileBytes, videos } from '../artifacts/media.ts';
import { keyOfArtifact } from '../artifacts/store/names.ts';
import type { ArtifactStore } from '../artifacts/store/store.ts';
import { type Artifact, artifactsOf } from '../plan/job.ts';
import type { StateReader } from '../state/reader.ts';
import { everyJob } from './artifact-names.ts';
import { checkArtifact } from './check-files.ts';

/** Number of files that are copied at the same time. */
const atOnce = 8;
/** Largest number of names kept of files that cannot be copied. */
const maxNamed = 20;

/** The progress of a copy. */
export interface Copied {
  files: number;
  bytes: number;
  /** Number of files that the target had already, intact. */
  there: number;
  /** Number of files that are missing in the source, or differ from the state. */
  faults: number;
  /** Names of some of them. */
  readonly named: string[];
}

/**
 * Copies every file that a state names from one store to another. A file gets its name in the target once its bytes match the state; files
 * that match already are skipped, so that an interrupted copy continues. Memory does not grow with the files.
 *
 * @param onCopied called after every few files
 * @throws SaveError, the error of the file system, the signal's reason
 */
export async function copyArtifacts(
  from: Pick<ArtifactStore, 'open'>,
  to: Pick<ArtifactStore, 'open' | 'put'>,
  reader: StateReader,
  signal: AbortSignal,
  onCopied: (copied: Copied) => void,
): Promise<Copied> {
  const copied: Copied = { files: 0, bytes: 0, there: 0, faults: 0, named: [] };
  const copyGroup = async (group: readonly Artifact[]): Promise<void> => {
    const ends = await Promise.allSettled(group.map((artifact) => copyOne(artifact, from, to, signal)));
    for (const [at, end] of ends.entries()) {
      if (end.status === 'rejected') throw end.reason;
      const { file, bytes } = group[at] as Artifact;
      if (end.value === 'there') copied.there += 1;
      else if (end.value === 'copied') {
        copied.files += 1;
        copied.bytes += bytes;
      } else {
        copied.faults += 1;
        if (copied.named.length < maxNamed) copied.named.push(file);
      }
    }
    onCopied(copied);
  };
  let group: Artifact[] = [];
  for await (const record of everyJob(reader))
    for (const artifact of artifactsOf(record)) {
      signal.throwIfAborted();
      group.push(artifact);
      if (group.length < atOnce) continue;
      await copyGroup(group);
      group = [];
    }
  await copyGroup(group);
  return copied;
}

/**
 * Copies a file unless it is there; on one file system, the copy shares its bytes where that can be done.
 *
 * @param isRight another check of its bytes
 * @returns `fault` if it is missing or differs from the state: then nothing has its name
 * @throws SaveError, the signal's reason
 */
export async function copyOne(
  artifact: Artifact,
  from: Pick<ArtifactStore, 'open'>,
  to: Pick<ArtifactStore, 'open' | 'put'>,
  signal: AbortSignal,
  isRight: (bytes: Bytes) => Promise<boolean> = () => Promise.resolve(true),
): Promise<'copied' | 'there' | 'fault'> {
  const { file, bytes, sha256 } = artifact;
  if (await isWhole(to, artifact, signal)) return 'there';
  const found = await from.open(file);
  if (!found.ok) return 'fault';
  try {
    if (found.bytes !== bytes) return 'fault';
    const incoming = await to.put(file.slice(0, file.lastIndexOf('.')), found.path);
    try {
      if (found.path === undefined)
        for await (const piece of found.pieces()) {
          signal.throwIfAborted();
          await incoming.write(piece);
        }
      if (incoming.size !== bytes || incoming.sha256 !== sha256 || !(await isRight(incoming))) return 'fault';
      await incoming.finish(file);
      return 'copied';
    } finally {
      await incoming.discard();
    }
  } finally {
    await found.close();
  }
}

/**
 * Copies a file of another run directory, whose state may say anything: only one of this job's, within the bounds of a download, whole, and
 * of the format and the size in pixels that the state names.
 *
 * @returns as {@link copyOne}
 */
export async function copyAsStated(
  key: string,
  artifact: Artifact,
  from: Pick<ArtifactStore, 'open'>,
  to: Pick<ArtifactStore, 'open' | 'put'>,
  signal: AbortSignal,
): Promise<'copied' | 'there' | 'fault'> {
  const { file, bytes, mime, width, height } = artifact;
  const media = file.startsWith('video/') ? videos : images;
  if (keyOfArtifact(file) !== key || bytes > maxFileBytes[media.name]) return 'fault';
  return await copyOne(artifact, from, to, signal, async (incoming) => {
    const format = formatOf(media, await incoming.read(0, headLength));
    if (format === undefined || format.mime !== mime || !file.endsWith(`.${format.extension}`)) return false;
    const size = await format.measure(incoming);
    return size !== undefined && size.width === width && size.height === height;
  });
}

const headLength = 64;

/** Whether a file in the target matches the state. Uses the hash that a store records, so that nothing is downloaded. */
async function isWhole(
  store: Pick<ArtifactStore, 'open'>,
  artifact: Artifact,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await store.open(artifact.file);
  if (!found.ok) return false;
  await found.close();
  if (found.bytes !== artifact.bytes) return false;
  if (found.sha256 !== undefined) return found.sha256 === artifact.sha256;
  return (await checkArtifact(store, artifact, { files: 0, bytes: 0, replies: 0 }, signal)) === 'whole';
}
