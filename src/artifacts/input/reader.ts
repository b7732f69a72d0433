import { type DownloadClock, startDeadline } from '../download/deadline.ts';
import type { LinkRoute } from '../download/follow-link.ts';
import { defaultTimeouts, type LinkOptions, openRoute } from '../download/link-route.ts';
import { imageFormat, inputType } from '../download/verify.ts';
import { aborted, fail, SaveError } from '../failure.ts';
import { inMemory } from '../formats/format.ts';
import type { InputReader, InputResult, InputSource, LoadedImage, SharedInputs } from '../inputs.ts';
import { MaskMaker } from '../masks/draw.ts';
import type { ArtifactStore } from '../store/store.ts';
import { notImage } from './failure.ts';
import { readArtifact, readInputFile } from './file.ts';
import { readDataUri, readLink } from './link.ts';

export interface InputReaderOptions extends LinkOptions {
  /** Store of the files of earlier jobs. */
  readonly store: Pick<ArtifactStore, 'get'>;
  /** Absolute folder of the pipeline; its files are named relative to it. */
  readonly folder: string;
  /** Folder that must contain the files, links resolved (`--files-root`). */
  readonly filesRoot: string;
  /** Copies of files that this machine may not have; absent: there are none. */
  readonly shared?: Pick<SharedInputs, 'get'>;
  readonly clock: DownloadClock;
}

/**
 * Reads the images of requests from any source, and makes their masks. Their content decides their type. They are passed on unchanged,
 * even in a format that the model may not read. Addresses follow the rule of image links (`address-policy.ts`).
 */
export function createInputReader(options: InputReaderOptions): InputReader & { close(): Promise<void> } {
  const route = openRoute(options);
  const { clock } = options;
  const masks = new MaskMaker();

  const read = async (source: InputSource, signal: AbortSignal): Promise<Buffer> => {
    switch (source.kind) {
      case 'file':
        return await readInputFile(source, options);
      case 'artifact':
        return await readArtifact(source, options.store);
      case 'url':
        return /^data:/i.test(source.url)
          ? readDataUri(source.url)
          : await download(source.url, route, clock, options, signal);
    }
  };

  const withResult = async (signal: AbortSignal, work: () => Promise<LoadedImage>): Promise<InputResult> => {
    if (signal.aborted) return { ok: false, error: aborted(signal.reason) };
    try {
      return { ok: true, value: await work() };
    } catch (failure) {
      if (signal.aborted && failure === signal.reason) return { ok: false, error: aborted(failure) };
      if (!(failure instanceof SaveError)) throw failure;
      return {
        ok: false,
        error: { ...failure.failure, message: route.mask(failure.failure.message) },
      };
    }
  };

  return {
    load: (source, signal) =>
      withResult(signal, async () => {
        const bytes = await read(source, signal);
        const mimeType = inputType(bytes) ?? fail(notImage(nameOf(source)));
        const size = await imageFormat(bytes)?.measure(inMemory(bytes));
        return { mimeType, data: bytes.toString('base64'), ...size };
      }),
    mask: (request, signal) =>
      withResult(signal, async () => {
        const { source } = request;
        const file = source.kind === 'file' ? await readInputFile(source, options) : undefined;
        return await masks.make(request, file, signal);
      }),
    close: () => route.close(),
  };
}

async function download(
  url: string,
  route: LinkRoute,
  clock: DownloadClock,
  { timeouts = defaultTimeouts }: LinkOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  const deadline = startDeadline(clock, timeouts, signal);
  try {
    return await readLink(url, route, deadline, clock.now());
  } finally {
    deadline.end();
  }
}

function nameOf(source: InputSource): string {
  switch (source.kind) {
    case 'file':
      return source.path;
    case 'artifact':
      return source.file;
    case 'url':
      return 'The data URI';
  }
}
