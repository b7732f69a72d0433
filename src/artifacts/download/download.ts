import type { Artifact } from '../../plan/job.ts';
import { fail } from '../failure.ts';
import type { VideoFormat } from '../formats/format.ts';
import { formatOf, type Media, otherNames } from '../media.ts';
import type { ArtifactStore, IncomingArtifact } from '../store/store.ts';
import { chunks, type DownloadBody } from './body.ts';
import type { Deadline } from './deadline.ts';
import { headLength, notWanted, wordsLength } from './verify.ts';

/** What a download may be, and may say. */
export interface DownloadLimits {
  /** Of one file. */
  readonly maxBytes: number;
  readonly maxPixels: number;
  /** Takes secrets out of a message. */
  readonly mask: (text: string) => string;
}

/**
 * Takes an arriving file in under its final name. @throws SaveError
 */
export async function download(
  body: DownloadBody,
  store: ArtifactStore,
  of: { readonly key: string; readonly output: number; readonly media: Media },
  deadline: Deadline,
  limits: DownloadLimits,
): Promise<Artifact> {
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
    return artifact;
  } finally {
    await file.discard();
  }
}

/** Writes the bytes that arrive, after a check of the first ones. */
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
    message: `The file at ${body.link} is larger than ${limits.maxBytes} bytes, the most that is taken.`,
  });
