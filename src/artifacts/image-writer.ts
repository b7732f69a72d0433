import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { Artifact } from '../plan/job.ts';
import { addressRule } from './address.ts';
import { headLength, imageExtensions, imageFormat, notAnImage, wordsLength } from './content.ts';
import {
  type Deadline,
  type DownloadClock,
  type DownloadTimeouts,
  startDeadline,
  systemClock,
} from './deadline.ts';
import { fail, SaveError } from './failure.ts';
import type { ImageFormat } from './formats/format.ts';
import { ImageFolder, type IncomingFile } from './image-folder.ts';
import { type Arrival, aborted, chunks, openLink, type Route } from './request.ts';
import type { ArtifactWriter, SaveAnswer } from './writer.ts';

export interface ArtifactWriterOptions {
  /** The run directory; the caller holds its lock. */
  readonly directory: string;
  /** The service's base address: links may lead to its host name, whatever that resolves to. */
  readonly baseUrl: string;
  /**
   * A proxy of the environment, which then resolves the names: links are judged by name before the request. The
   * caller closes it. Default: direct connections, judged by the address that is connected to.
   */
  readonly dispatcher?: Dispatcher;
  /** Default: 60 s for the next byte, 10 min for a whole download. */
  readonly timeouts?: DownloadTimeouts;
  /** Of one file. Default 256 MiB. */
  readonly maxBytes?: number;
  /** Width times height of one image. Default 268,402,689, which is also the most that sharp opens. */
  readonly maxPixels?: number;
  /** Connections to one host. Default 16. */
  readonly connections?: number;
  /** Default: the system's `dns.lookup`. */
  readonly lookup?: LookupFunction;
  /** Default: the machine's. */
  readonly clock?: DownloadClock;
  /** Takes secrets out of a text: servers repeat what they like. Default: there are none. */
  readonly mask?: (text: string) => string;
}

const defaults = {
  timeouts: { idleMs: 60_000, totalMs: 600_000 },
  maxBytes: 256 * 1024 * 1024,
  maxPixels: 0x3fff * 0x3fff,
  connections: 16,
} as const;

/**
 * Brings images into `images/<first 2 characters of key>/<key>-<output>.<extension>` of a run directory. A file has
 * its final name when it is whole, known to be an image and on the disk, and not before; the answer comes after that.
 */
export function createArtifactWriter(options: ArtifactWriterOptions): ArtifactWriter {
  const rule = addressRule(options.baseUrl, options.lookup);
  const proxied = options.dispatcher !== undefined;
  const dispatcher = options.dispatcher ?? directAgent(rule.lookup, options);
  const mask = options.mask ?? ((text: string): string => text);
  const route: Route = { rule, dispatcher, proxied, mask };
  const clock = options.clock ?? systemClock;
  const limits: Limits = {
    maxBytes: options.maxBytes ?? defaults.maxBytes,
    maxPixels: options.maxPixels ?? defaults.maxPixels,
    mask,
  };
  const folder = new ImageFolder(options.directory);

  return {
    save: async ({ url, key, output }, signal): Promise<SaveAnswer> => {
      const stem = stemOf(key, output);
      if (signal.aborted) return { ok: false, error: aborted(signal.reason) };
      const deadline = startDeadline(clock, options.timeouts ?? defaults.timeouts, signal);
      try {
        const arrival = await openLink(url, route, deadline, clock.now());
        try {
          return { ok: true, value: await bringIn(arrival, folder, stem, deadline, limits) };
        } finally {
          arrival.discard();
        }
      } catch (failure) {
        if (failure instanceof SaveError) {
          return { ok: false, error: { ...failure.failure, message: mask(failure.failure.message) } };
        }
        throw failure;
      } finally {
        deadline.end();
      }
    },
    keep: () => Promise.reject(new Error('Internal error: text answers cannot be written yet.')),
    close: async () => {
      if (!proxied) await dispatcher.destroy();
      await folder.close();
    },
  };
}

/** What a download may be, and may say. */
interface Limits {
  readonly maxBytes: number;
  readonly maxPixels: number;
  readonly mask: (text: string) => string;
}

interface Stem {
  readonly folder: string;
  readonly name: string;
  readonly output: number;
}

/** Keys are hashes; one that could lead out of the folder is not one of ours. */
function stemOf(key: string, output: number): Stem {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(key) || !Number.isSafeInteger(output) || output < 1) {
    throw new Error(`Internal error: ${JSON.stringify(key)}, output ${output}, cannot be a file name.`);
  }
  return { folder: `images/${key.slice(0, 2)}`, name: `${key}-${output}`, output };
}

function directAgent(lookup: LookupFunction, options: ArtifactWriterOptions): Agent {
  return new Agent({
    connect: { lookup, timeout: options.timeouts?.idleMs ?? defaults.timeouts.idleMs },
    connections: options.connections ?? defaults.connections,
    pipelining: 1,
    maxHeaderSize: 16_384,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

async function bringIn(
  arrival: Arrival,
  folder: ImageFolder,
  stem: Stem,
  deadline: Deadline,
  limits: Limits,
): Promise<Artifact> {
  if ((arrival.contentLength ?? 0) > limits.maxBytes) tooLarge(arrival, limits);
  const file = await folder.receive(stem.name);
  try {
    const format = await receive(arrival, file, deadline, limits);
    const size = await format.measure(file);
    if (size === undefined) {
      return fail({
        code: 'download.truncated',
        class: 'retry',
        message: `The ${format.mime} file at ${arrival.link} is damaged, or its end is missing (${file.size} bytes came).`,
      });
    }
    if (size.width * size.height > limits.maxPixels) {
      return fail({
        code: 'download.too-large',
        class: 'permanent',
        message: `The image at ${arrival.link} claims ${size.width} × ${size.height} pixels.`,
      });
    }
    const name = `${stem.folder}/${stem.name}`;
    const artifact: Artifact = {
      output: stem.output,
      file: `${name}.${format.extension}`,
      bytes: file.size,
      sha256: file.sha256,
      mime: format.mime,
      ...size,
    };
    await file.finish(artifact.file);
    await folder.remove(
      imageExtensions.filter((other) => other !== format.extension).map((other) => `${name}.${other}`),
    );
    return artifact;
  } finally {
    await file.discard();
  }
}

/** Writes what arrives; looks at its beginning before a byte of it is written. */
async function receive(
  arrival: Arrival,
  file: IncomingFile,
  deadline: Deadline,
  limits: Limits,
): Promise<ImageFormat> {
  let start: Buffer = Buffer.alloc(0);
  let format: ImageFormat | undefined;
  for await (const chunk of chunks(arrival, deadline)) {
    if (format !== undefined) {
      if (file.size + chunk.length > limits.maxBytes) tooLarge(arrival, limits);
      await file.write(chunk);
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < headLength) continue;
    format = imageFormat(start);
    if (format === undefined) {
      if (start.length >= wordsLength) break;
      continue;
    }
    if (start.length > limits.maxBytes) tooLarge(arrival, limits);
    await file.write(start);
  }
  if (format !== undefined) return format;
  if (start.length === 0) {
    return fail({
      code: 'download.truncated',
      class: 'retry',
      message: `${arrival.link} gave an empty file.`,
    });
  }
  format = imageFormat(start);
  if (format === undefined)
    return fail(notAnImage(start.subarray(0, wordsLength), arrival.link, limits.mask));
  await file.write(start);
  return format;
}

const tooLarge = (arrival: Arrival, limits: Limits): never =>
  fail({
    code: 'download.too-large',
    class: 'permanent',
    message: `The file at ${arrival.link} is larger than ${limits.maxBytes} bytes, the most that is taken.`,
  });
