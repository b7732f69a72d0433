import pLimit from 'p-limit';
import { cutGrid } from './cut-grid.ts';
import { type DownloadClock, startDeadline } from './download/deadline.ts';
import { type Acceptance, type DownloadLimits, download, HalfMissing } from './download/download.ts';
import { openLink } from './download/follow-link.ts';
import { defaultTimeouts, type LinkOptions, openRoute } from './download/link-route.ts';
import { aborted, fail, SaveError } from './failure.ts';
import { images, maxFileBytes, videos } from './media.ts';
import { checkName } from './store/names.ts';
import type { ArtifactStore } from './store/store.ts';
import { type ReplyKeeper, writeReply } from './write-reply.ts';
import type { ArtifactWriter, CutResult, KeepResult, SaveFailure, SaveResult } from './writer.ts';

export interface ArtifactWriterOptions extends LinkOptions {
  /** Store of the files. The caller closes it, after the writer. */
  readonly store: ArtifactStore;
  /** Keeper of whole replies: the state of the run. Absent: they are not kept. */
  readonly replies?: ReplyKeeper;
  /** Largest image, in bytes. Default 256 MiB. */
  readonly maxBytes?: number;
  /** Largest video, in bytes. Default 512 MiB. */
  readonly maxVideoBytes?: number;
  /** Largest width times height of an image. Default 268,402,689, which is also the most that sharp opens. */
  readonly maxPixels?: number;
  readonly clock: DownloadClock;
}

const defaultMaxPixels = 0x3fff * 0x3fff;

/**
 * Most images that are decoded at the same time. Cutting a grid takes its file, its pixels and one frame: about 30 MB for one of 2048 ×
 * 2048, a few hundred for the largest.
 */
const decodesAtOnce = 2;

type SaveRequest = Omit<Parameters<ArtifactWriter['save']>[0], 'spare' | 'others'>;

/** Whether a failure is about its link alone, so that another link may give the file. */
const passesOver = ({ code, class: kind }: SaveFailure): boolean =>
  kind === 'fresh-link' || code === 'download.address' || code === 'download.status';

/**
 * Downloads images and videos, and writes those of replies, into a store. A file gets its final name only when it is complete, checked
 * and durable; the call returns after that.
 */
export function createArtifactWriter(options: ArtifactWriterOptions): ArtifactWriter {
  const route = openRoute(options);
  const { mask, dataMask } = route;
  const { clock, store, replies } = options;
  const limits: DownloadLimits = {
    maxBytes: options.maxBytes ?? maxFileBytes.image,
    maxPixels: options.maxPixels ?? defaultMaxPixels,
    mask,
  };
  const replyLimits = { ...limits, dataMask };
  const maxVideoBytes = options.maxVideoBytes ?? maxFileBytes.video;
  const wanted = {
    image: { media: images, limits },
    video: { media: videos, limits: { ...limits, maxBytes: maxVideoBytes } },
  };
  const decoding = pLimit({ concurrency: decodesAtOnce, rejectOnClear: true });
  const masked = (failure: SaveFailure): SaveFailure => ({ ...failure, message: mask(failure.message) });

  const save = async (
    { url, key, output, media = 'image', ...accepts }: SaveRequest & Acceptance,
    signal: AbortSignal,
  ): Promise<SaveResult & { readonly isHalf?: boolean }> => {
    checkName(key, output);
    if (signal.aborted) return { ok: false, error: aborted(signal.reason) };
    const deadline = startDeadline(clock, options.timeouts ?? defaultTimeouts, signal);
    try {
      const body = await openLink(url, route, deadline, clock.now());
      try {
        const { limits: bounds, ...as } = wanted[media];
        const of = { key, output, ...as, ...accepts, decoding };
        return await download(body, store, of, deadline, bounds);
      } finally {
        body.discard();
      }
    } catch (failure) {
      if (failure instanceof SaveError)
        return { ok: false, error: masked(failure.failure), isHalf: failure instanceof HalfMissing };
      throw failure;
    } finally {
      deadline.end();
    }
  };

  return {
    save: async ({ spare, others, ...request }, signal): Promise<SaveResult> => {
      const first = await save(request, signal);
      const saved = first.isHalf ? await save({ ...request, asIs: true }, signal) : first;
      if (saved.ok || spare === undefined || !passesOver(saved.error)) return saved;
      const spared = await save({ ...request, url: spare, ...(others && { others }) }, signal);
      return spared.ok ? spared : saved;
    },
    cut: async (request, signal): Promise<CutResult> => {
      checkName(request.key, request.grid.output);
      try {
        return await decoding(async () =>
          signal.aborted
            ? fail(aborted(signal.reason))
            : await cutGrid(store, request, limits.maxBytes, signal),
        );
      } catch (failure) {
        if (failure instanceof SaveError) return { ok: false, error: failure.failure };
        throw failure;
      }
    },
    keep: async (request, signal): Promise<KeepResult> => {
      for (;;) {
        try {
          return {
            ok: true,
            value: await writeReply(request, { store, replies }, replyLimits, signal),
          };
        } catch (failure) {
          if (!(failure instanceof SaveError)) throw failure;
          // The reply is paid for.
          if (failure.failure.code !== 'disk.full' || replies?.makeRoom?.() !== true)
            return { ok: false, error: masked(failure.failure) };
        }
      }
    },
    close: () => route.close(),
  };
}
