import type { Artifact } from '../../plan/job.ts';
import { fail, SaveError } from '../failure.ts';
import type { VideoFormat } from '../formats/format.ts';
import { imageLibrary, sharp } from '../formats/image-library.ts';
import { jpeg } from '../formats/jpeg.ts';
import { formatOf, type Media, otherNames } from '../media.ts';
import type { ArtifactStore, IncomingArtifact } from '../store/store.ts';
import type { SaveResult } from '../writer.ts';
import { chunks, type DownloadBody } from './body.ts';
import type { Deadline } from './deadline.ts';
import { headLength, notWanted, wordsLength } from './verify.ts';

/** Limits of a download, and the mask for its messages. */
export interface DownloadLimits {
  /** Largest file, in bytes. */
  readonly maxBytes: number;
  readonly maxPixels: number;
  /** Removes secrets from a message. */
  readonly mask: (text: string) => string;
}

/** How a file is judged, besides its format. */
export interface Acceptance {
  /** Whether a JPEG of which half seems to be missing is kept, with a warning. Default: it is refused as {@link HalfMissing}. */
  readonly asIs?: boolean;
  /** SHA-256, in hex, of files that this one must not be. */
  readonly others?: readonly string[];
}

/** A JPEG of which half seems to be missing. */
export class HalfMissing extends SaveError {}

/** Receives a file and stores it under its final name. @throws SaveError */
export async function download(
  body: DownloadBody,
  store: ArtifactStore,
  of: Acceptance & {
    readonly key: string;
    readonly output: number;
    readonly media: Media;
    /** Limits how many images are decoded at the same time. */
    readonly decoding: <T>(work: () => Promise<T>) => Promise<T>;
  },
  deadline: Deadline,
  limits: DownloadLimits,
): Promise<Extract<SaveResult, { ok: true }>> {
  if ((body.contentLength ?? 0) > limits.maxBytes) tooLarge(body, limits);
  const file = await store.put(of.media.path(of.key, of.output));
  try {
    const format = await receive(body, file, of.media, deadline, limits);
    const size = await format.measure(file);
    if (size === undefined) {
      return fail({
        code: 'download.truncated',
        class: 'retry',
        message: `The ${format.mime} file at ${body.link} is damaged, or its end is missing (${file.size} bytes came).`,
      });
    }
    if ((size.width ?? 0) * (size.height ?? 0) > limits.maxPixels) {
      return fail({
        code: 'download.too-large',
        class: 'permanent',
        message: `The ${of.media.name} at ${body.link} claims ${size.width} × ${size.height} pixels.`,
      });
    }
    if (of.others?.includes(file.sha256))
      fail({
        code: 'download.refused',
        class: 'fresh-link',
        message: `${body.link} gives a file that the job already has.`,
      });
    const lack = format.mime === jpeg.mime ? await of.decoding(() => missingHalf(file)) : undefined;
    if (lack !== undefined && of.asIs !== true)
      throw new HalfMissing({
        code: 'download.truncated',
        class: 'retry',
        message: `The file at ${body.link}: ${lack}.`,
      });
    const artifact: Artifact = {
      output: of.output,
      file: `${of.media.path(of.key, of.output)}.${format.extension}`,
      bytes: file.size,
      sha256: file.sha256,
      mime: format.mime,
      ...size,
    };
    await file.finish(artifact.file);
    await store.remove(otherNames(of.media, of.key, of.output, format.extension));
    const warning = lack && `${artifact.file}: ${lack}. It came like this twice, and is kept as it is`;
    return { ok: true, value: artifact, ...(warning !== undefined && { warning }) };
  } finally {
    await file.discard();
  }
}

/** Largest JPEG that is read back and decoded, in bytes. */
const maxDecoded = 32 * 1024 * 1024;
/** Rows of a block of JPEG: the last block that arrived may reach this far into the missing part. */
const blockRows = 16;

/**
 * Returns what is missing of a JPEG file with an end mark: servers write the mark after half a file, and decoders fill the rest with
 * one colour, with a warning at most (gateway 4.7). Undefined: nothing, or it is unknown. Other formats are checked over all of their
 * bytes. Decodes to an eighth of the size first, off this thread: 3 ms for 1024 × 1024 pixels, 8 ms for 2048 × 2048.
 */
async function missingHalf(file: IncomingArtifact): Promise<string | undefined> {
  if (file.size > maxDecoded) return undefined;
  const bytes = await file.read(0, file.size);
  let warned: unknown;
  try {
    // A decoded image is not needed again.
    imageLibrary().cache(false);
    const { width } = await sharp(bytes).metadata();
    const small = { width: Math.ceil(width / 8), kernel: 'nearest' } as const;
    await sharp(bytes, { failOn: 'warning', sequentialRead: true }).resize(small).raw().toBuffer();
    return undefined;
  } catch (cause) {
    warned = cause;
  }
  try {
    const { width, height } = await sharp(bytes).metadata();
    const top = Math.min(height - 1, Math.ceil(height / 2) + blockRows);
    // As it is stored, from top to bottom.
    const lower = sharp(bytes, { failOn: 'error' }).extract({ left: 0, top, width, height: height - top });
    const { channels } = await sharp(await lower.png({ compressionLevel: 0 }).toBuffer()).stats();
    const [words = ''] = (warned as Error).message.split('\n');
    const isFlat = channels.every(({ min, max }) => min === max);
    return isFlat ? `its lower half is of one colour, and its decoder says "${words}"` : undefined;
  } catch {
    // It cannot be decoded here, or the decoder is not installed: the file is kept as it came.
    return undefined;
  }
}

/** Checks the first bytes, then writes all that arrive. */
async function receive(
  body: DownloadBody,
  file: IncomingArtifact,
  media: Media,
  deadline: Deadline,
  limits: DownloadLimits,
): Promise<VideoFormat> {
  let start: Buffer = Buffer.alloc(0);
  let format: VideoFormat | undefined;
  for await (const chunk of chunks(body, deadline)) {
    if (format !== undefined) {
      if (file.size + chunk.length > limits.maxBytes) tooLarge(body, limits);
      await file.write(chunk);
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < headLength) continue;
    format = formatOf(media, start);
    if (format === undefined) {
      if (start.length >= wordsLength) break;
      continue;
    }
    if (start.length > limits.maxBytes) tooLarge(body, limits);
    await file.write(start);
  }
  if (format !== undefined) return format;
  if (start.length === 0) {
    return fail({
      code: 'download.truncated',
      class: 'retry',
      message: `${body.link} gave an empty file.`,
    });
  }
  format = formatOf(media, start);
  if (format === undefined)
    return fail(notWanted(start.subarray(0, wordsLength), body.link, media, limits.mask));
  await file.write(start);
  return format;
}

const tooLarge = (body: DownloadBody, limits: DownloadLimits): never =>
  fail({
    code: 'download.too-large',
    class: 'permanent',
    message: `The file at ${body.link} is larger than ${limits.maxBytes} bytes, the most that is accepted.`,
  });
