import type { Artifact } from '../plan/job.ts';
import { fromBase64 } from './base64.ts';
import type { DownloadLimits } from './download/download.ts';
import { imageExtensions, imageFormat } from './download/verify.ts';
import { aborted, fail } from './failure.ts';
import type { ImageFormat } from './formats/format.ts';
import { checkName, imagePath, replyPath, textPath } from './store/names.ts';
import type { ArtifactStore, IncomingArtifact } from './store/store.ts';
import type { KeepRequest, ReplyPiece } from './writer.ts';

type ImagePiece = Extract<ReplyPiece, { kind: 'image' }>;
type TextPiece = Extract<ReplyPiece, { kind: 'text' }>;

const textExtensions = ['txt', 'json'] as const;

interface KeepLimits extends DownloadLimits {
  /** Takes credentials out of a text that is kept. */
  readonly dataMask: (text: string) => string;
}

/** A file that is whole and durable, and has yet to be given its name. */
interface Ready {
  readonly artifact: Artifact;
  readonly file: IncomingArtifact;
}

/**
 * Writes the files of a text call. No file gets its name before all of them are whole; the reply, which names the others,
 * comes last. @throws SaveError
 */
export async function writeReply(
  { key, pieces, answer: reply, round = 1, goesOn = false }: KeepRequest,
  store: ArtifactStore,
  limits: KeepLimits,
  signal: AbortSignal,
): Promise<{ readonly artifacts: readonly Artifact[]; readonly answerFile?: string }> {
  checkName(key, round);
  const opened: IncomingArtifact[] = [];
  const receive = async (path: string): Promise<IncomingArtifact> => {
    if (signal.aborted) fail(aborted(signal.reason));
    const file = await store.put(path);
    opened.push(file);
    return file;
  };
  try {
    const ready: Ready[] = [];
    for (const [index, piece] of pieces.entries()) {
      const output = index + 1;
      const file = await receive((piece.kind === 'image' ? imagePath : textPath)(key, output));
      const artifact =
        piece.kind === 'image'
          ? await writeImage(piece, file, { key, output }, limits)
          : await writeText(piece, file, { key, output }, limits);
      await file.seal();
      ready.push({ artifact, file });
    }
    const artifacts = ready.map(({ artifact }) => artifact);
    const whole = reply === undefined ? undefined : await receive(replyPath(key));
    await whole?.write(Buffer.from(limits.dataMask(namingImages(reply ?? '', pieces, artifacts))));
    for (const { artifact, file } of ready) await file.finish(artifact.file);
    const answerFile = replyName(key, goesOn ? round : undefined);
    await whole?.finish(answerFile);
    if (!goesOn) {
      await removeOthers(key, artifacts, store);
      await removeRounds(key, round, store);
    }
    return whole === undefined ? { artifacts } : { artifacts, answerFile };
  } finally {
    for (const file of opened) await file.discard();
  }
}

/** The text to the letter, but for credentials that the service repeated. */
async function writeText(
  { text, mime, candidate }: TextPiece,
  file: IncomingArtifact,
  { key, output }: { readonly key: string; readonly output: number },
  { dataMask }: KeepLimits,
): Promise<Artifact> {
  await file.write(Buffer.from(dataMask(text)));
  const extension = mime === 'application/json' ? 'json' : 'txt';
  return {
    output,
    file: `${textPath(key, output)}.${extension}`,
    bytes: file.size,
    sha256: file.sha256,
    mime,
    candidate,
  };
}

/** What it is, its content says: the type that the service names beside it is often wrong. */
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
      message: `Image ${output} of the answer, called ${shownType(mimeType)}, is ${
        format === undefined ? 'no image' : `a damaged ${format.mime} file`
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

/** Writes while it decodes; undefined where the text is not Base64, or its beginning is not that of an image. */
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
        message: `An image of the answer is larger than ${maxBytes} bytes, the most that is taken.`,
      });
    }
    await file.write(value);
  }
}

const shownType = (mimeType: string): string =>
  /^[\w.+-]{1,40}\/[\w.+-]{1,60}$/.test(mimeType) ? mimeType : 'by no name';

/** In place of image data stands the name of the file that holds it. */
function namingImages(reply: string, pieces: readonly ReplyPiece[], artifacts: readonly Artifact[]): string {
  return pieces.reduce((text, piece, index) => {
    const { file } = artifacts[index] as Artifact;
    if (piece.kind !== 'image') return text;
    // Chat gives images as data URIs.
    return text
      .replaceAll(`data:${piece.mimeType};base64,${piece.data}`, file)
      .replaceAll(JSON.stringify(piece.data), JSON.stringify(file));
  }, reply);
}

/** Removes what an earlier try left: the same output in another form, and outputs that there are no more. */
async function removeOthers(
  key: string,
  artifacts: readonly Artifact[],
  store: ArtifactStore,
): Promise<void> {
  const kept = new Set(artifacts.map(({ file }) => file));
  const removeOutput = async (output: number): Promise<boolean> => {
    const names = [
      ...namesWith(textPath(key, output), textExtensions),
      ...namesWith(imagePath(key, output), imageExtensions),
    ];
    return await store.remove(names.filter((name) => !kept.has(name)));
  };
  for (const { output } of artifacts) await removeOutput(output);
  // Files are named in the order of their outputs: behind the first that is missing there are none.
  for (let output = artifacts.length + 1; await removeOutput(output); output += 1);
}

/** Removes rounds of an earlier conversation beyond the last round of this one. */
async function removeRounds(key: string, from: number, store: ArtifactStore): Promise<void> {
  for (let round = from; await store.remove([replyName(key, round)]); round += 1);
}

const replyName = (key: string, round?: number): string => `${replyPath(key, round)}.json`;

const namesWith = (path: string, extensions: readonly string[]): readonly string[] =>
  extensions.map((extension) => `${path}.${extension}`);
