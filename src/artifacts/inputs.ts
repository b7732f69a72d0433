import type { MaskShape } from '../plan/job-request.ts';
import type { InlineImage } from '../service/text-service.ts';
import type { Size } from './formats/format.ts';
import type { SaveFailure } from './writer.ts';

/** Where an image lies that a request shows. */
export type InputSource =
  /** A file of the pipeline, by path relative to it; it must still have this content. */
  | { readonly kind: 'file'; readonly path: string; readonly sha256: string }
  /** A file of the run directory, relative to it; it must still be what its job saved. */
  | { readonly kind: 'artifact'; readonly file: string; readonly mime: string; readonly sha256: string }
  /** An http(s) address or a data URI. */
  | { readonly kind: 'url'; readonly url: string };

/** An image as it is sent, and its size in pixels where its file gives it (the size of a HEIC file is not read). */
export interface LoadedImage extends InlineImage, Partial<Size> {}

/** A mask for one image. */
export interface MaskRequest {
  readonly source: /** A PNG file of the pipeline, by path relative to it; it must still have this content, and the size of the image. */
    | { readonly kind: 'file'; readonly path: string; readonly sha256: string }
    /** Boxes in fractions of the image, drawn in its size with crisp edges. */
    | { readonly kind: 'shapes'; readonly shapes: readonly MaskShape[] };
  readonly invert: boolean;
  /** Of the image, in pixels. */
  readonly size: Size;
  /**
   * `white`: white is repainted, black is kept, no alpha (modals); `transparent`: what is repainted is transparent (edit;
   * gateway 2.7). Of a mask file a transparent pixel is kept in both: it says nothing.
   */
  readonly form: 'white' | 'transparent';
}

/**
 * Besides the download codes: `input.missing` (no such file), `input.outside` (it leads out of the folder that
 * a pipeline's files must lie in), `input.changed` (a file that is not what the job was planned
 * with, or not what an earlier job saved), `input.not-image`, `input.too-large`; of masks `mask.type` (no whole PNG file), `mask.size` (another size than
 * the image), `mask.empty` (nothing is repainted), `mask.too-large`. All but a failed download are permanent.
 */
export type InputResult =
  | { readonly ok: true; readonly value: LoadedImage }
  | { readonly ok: false; readonly error: SaveFailure };

/** Reads the images of requests. Bounded: one image at most {@link largestInput} bytes. */
export interface InputReader {
  load(source: InputSource, signal: AbortSignal): Promise<InputResult>;
  /** A mask as a PNG of at most {@link largestMask} bytes. Equal ones are made once; the file is read each time, for it may change. */
  mask(request: MaskRequest, signal: AbortSignal): Promise<InputResult>;
}

/** Bytes of one image that is sent inline: with its base64 it must fit a gateway's 32 MB body (gateway 9.1). */
export const largestInput = 20 * 1024 * 1024;

/** Bytes of one mask (gateway 2.7). */
export const largestMask = 12 * 1024 * 1024;

/** Of an image that is masked: four times what the largest upscale has. */
export const mostMaskPixels = 64 * 1024 * 1024;

/**
 * Files of the pipeline that the coordinator of a run on an engine has copied into the place of the run, for workers that do not have them.
 * They are no artifacts, and go when the run ends.
 */
export interface SharedInputs {
  /** Durably. @throws SaveError, StateError, the error of the file system */
  put(sha256: string, bytes: Buffer): Promise<void>;
  /** It may have been changed since: compare hashes. Undefined: no file that a request can show lies there. @throws as `put` */
  get(sha256: string): Promise<Buffer | undefined>;
  /** Removes them all. @throws as `put` */
  clear(): Promise<void>;
}

/** Where a shared file lies in the place of its run, by the hash of its content. */
export const sharedInputName = (sha256: string): string => `inputs/${sha256}.image`;

/** Whether a name in the place of a run is one of {@link sharedInputName}. */
export const isSharedInput = (name: string): boolean => /^inputs\/[0-9a-f]{64}\.image$/.test(name);
