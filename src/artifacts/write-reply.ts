import type { Artifact } from '../plan/job.ts';
import type { ReplyPlace } from '../plan/job-request.ts';
import type { DownloadLimits } from './download/download.ts';
import { imageFormat } from './download/verify.ts';
import { aborted, fail, onDisk } from './failure.ts';
import { fromBase64 } from './formats/base64.ts';
import type { ImageFormat } from './formats/format.ts';
import { checkName, imagePath, imagesOf } from './store/names.ts';
import type { ArtifactStore, IncomingArtifact } from './store/store.ts';
import type { KeepRequest, ReplyPiece } from './writer.ts';

type ImagePiece = Extract<ReplyPiece, { kind: 'image' }>;

interface KeepLimits extends DownloadLimits {
  /** Removes credentials from a text that is kept. */
  readonly dataMask: (text: string) => string;
}

/** A complete and durable file that has no name yet. */
interface Ready {
  readonly piece: ImagePiece;
  readonly artifact: Artifact;
  readonly file: IncomingArtifact;
}

/** Keeps whole replies. */
export interface ReplyKeeper {
  /** @returns the place of the reply, JSON in one line, from the next commit on @throws StateError */
  keepReply(job: string, reply: string): ReplyPlace;
  /** Frees some of the disk space reserved for replies, on a full disk. @returns false, or absent: there is none */
  makeRoom?(): boolean;
}

/**
 * Writes the images of a reply, and keeps the whole reply with their names. No file gets its name before all of them are complete; the
 * reply comes last. @throws SaveError
 */
export async function writeReply(
  { key, pieces, answer: reply, isAgain = false }: KeepRequest,
  { store, replies }: { readonly store: ArtifactStore; readonly replies: ReplyKeeper | undefined },
  limits: KeepLimits,
  signal: AbortSignal,
): Promise<{ readonly artifacts: readonly Artifact[]; readonly reply?: ReplyPlace }> {
  checkName(key, 1);
  const opened: IncomingArtifact[] = [];
  try {
    const ready: Ready[] = [];
    for (const [index, piece] of pieces.entries()) {
      if (piece.kind === 'text') continue;
      if (signal.aborted) fail(aborted(signal.reason));
      const output = index + 1;
      const file = await store.put(imagePath(key, output));
      opened.push(file);
      const artifact = await writeImage(piece, file, { key, output }, limits);
      await file.seal();
      ready.push({ piece, artifact, file });
    }
    for (const { artifact, file } of ready) await file.finish(artifact.file);
    const artifacts = ready.map(({ artifact }) => artifact);
    if (isAgain) await removeOthers(key, artifacts, store);
    if (reply === undefined || replies === undefined) return { artifacts };
    const masked = limits.dataMask(namingImages(reply, ready));
    return { artifacts, reply: await onDisk(async () => replies.keepReply(key, masked)) };
  } finally {
    for (const file of opened) await file.discard();
  }
}

/** Writes an image by the type of its content: the type that the service names beside it is often wrong. */
async function writeImage(
  { data, mimeType, candidate }: ImagePiece,
  file: IncomingArtifact,
  { key, output }: { readonly key: string; readonly output: number },
  limits: DownloadLimits,
): Promise<Artifact> {
  const format = await writeBase64(data, file, limits);
  const size = await format?.measure(file);
  if (format === undefined || size === undefined) {
    return fail({
      code: 'download.not-image',
      class: 'permanent',
      message: `Image ${output} of the answer, of type ${shownType(mimeType)}, is ${
        format === undefined ? 'not an image' : `a damaged ${format.mime} file`
      } (${file.size} bytes).`,
    });
  }
  if (size.width * size.height > limits.maxPixels) {
    return fail({
      code: 'download.too-large',
      class: 'permanent',
      message: `Image ${output} of the answer claims ${size.width} × ${size.height} pixels.`,
    });
  }
  return {
    output,
    file: `${imagePath(key, output)}.${format.extension}`,
    bytes: file.size,
    sha256: file.sha256,
    mime: format.mime,
    ...size,
    candidate,
  };
}

/** Writes while decoding; undefined if the text is not Base64, or does not begin like an image. */
async function writeBase64(
  data: string,
  file: IncomingArtifact,
  { maxBytes }: DownloadLimits,
): Promise<ImageFormat | undefined> {
  const pieces = fromBase64(data);
  let format: ImageFormat | undefined;
  for (;;) {
    const { value, done } = pieces.next();
    if (done === true) return value ? format : undefined;
    if (file.size === 0) {
      format = imageFormat(value);
      if (format === undefined) return undefined;
    }
    if (file.size + value.length > maxBytes) {
      return fail({
        code: 'download.too-large',
        class: 'permanent',
        message: `An image of the answer is larger than ${maxBytes} bytes, the most that is accepted.`,
      });
    }
    await file.write(value);
  }
}

const shownType = (mimeType: string): string =>
  /^[\w.+-]{1,40}\/[\w.+-]{1,60}$/.test(mimeType) ? mimeType : 'unknown';

/** Replaces image data by the name of the file that holds it. */
function namingImages(reply: string, ready: readonly Ready[]): string {
  return ready.reduce(
    (text, { piece: { mimeType, data }, artifact: { file } }) =>
      text
        // Chat gives images as data URIs.
        .replaceAll(`data:${mimeType};base64,${data}`, file)
        .replaceAll(JSON.stringify(data), JSON.stringify(file)),
    reply,
  );
}

/** Removes images that an earlier call of the job left: the same output in another format, and outputs that no longer exist. */
async function removeOthers(
  key: string,
  artifacts: readonly Artifact[],
  store: ArtifactStore,
): Promise<void> {
  const kept = new Set(artifacts.map(({ file }) => file));
  const others: string[] = [];
  for await (const name of store.list(imagesOf(key))) if (!kept.has(name)) others.push(name);
  if (others.length > 0) await store.remove(others);
}
