import type { MaskShape } from '../plan/job-request.ts';
import type { InlineImage } from '../service/text-service.ts';
import type { Size } from './formats/format.ts';
import type { SaveFailure } from './writer.ts';

/** The source of an image that a request shows. */
export type InputSource =
  /** A file of the pipeline, by path relative to it; it must still have this content. */
  | { readonly kind: 'file'; readonly path: string; readonly sha256: string }
  /** A file of the run directory, by path relative to it; it must still have the content that its job saved. */
  | { readonly kind: 'artifact'; readonly file: string; readonly mime: string; readonly sha256: string }
  /** An http(s) address or a data URI. */
  | { readonly kind: 'url'; readonly url: string };

/** An image as it is sent, and its size in pixels if its file gives it (the size of a HEIC file is not read). */
export interface LoadedImage extends InlineImage, Partial<Size> {}

/** The request for a mask of one image. */
export interface MaskRequest {
  readonly source: /** A PNG file of the pipeline, by path relative to it; it must still have this content, and the size of the image. */
    | { readonly kind: 'file'; readonly path: string; readonly sha256: string }
    /** Shapes in fractions of the image, drawn in its size with crisp edges. */
    | { readonly kind: 'shapes'; readonly shapes: readonly MaskShape[] };
  readonly invert: boolean;
  /** Size of the image, in pixels. */
  readonly size: Size;
  /**
   * `white`: white is repainted, black is kept, no alpha (modals). `transparent`: transparent pixels are repainted (edit; gateway 2.7).
   * Transparent pixels of a mask file are kept in both forms.
   */
  readonly form: 'white' | 'transparent';
}

/**
 * An image for a request, or its failure. Codes besides those of downloads: `input.missing` (no such file), `input.outside` (it leads
 * out of the folder that must contain a pipeline's files), `input.changed` (not the file that the job was planned with, or that an
 * earlier job saved), `input.not-image`, `input.too-large`; for masks `mask.type` (not a complete PNG file), `mask.size` (another size
 * than the image), `mask.empty` (nothing is repainted), `mask.too-large`. All but a failed download are permanent.
 */
export type InputResult =
  | { readonly ok: true; readonly value: LoadedImage }
  | { readonly ok: false; readonly error: SaveFailure };

/** Reads the images of requests, each of at most {@link largestInput} bytes. */
export interface InputReader {
  load(source: InputSource, signal: AbortSignal): Promise<InputResult>;
  /** Makes a mask as a PNG of at most {@link largestMask} bytes. Equal masks are made once; a file may change and is read each time. */
  mask(request: MaskRequest, signal: AbortSignal): Promise<InputResult>;
}

/** Largest image that is sent inline, in bytes: with its base64 it must fit a gateway's 32 MB body (gateway 9.1). */
export const largestInput = 20 * 1024 * 1024;

/** Largest mask, in bytes (gateway 2.7). */
export const largestMask = 12 * 1024 * 1024;

/** Most pixels of an image with a mask: four times those of the largest upscale. */
export const maxMaskPixels = 64 * 1024 * 1024;

/**
 * Files of the pipeline that the lead of a run on an engine has copied to the run's place, for workers that do not have them. They are
 * not artifacts, and are removed when the run ends.
 */
export interface SharedInputs {
  /** Stores a file durably. @throws SaveError, StateError, the error of the file system */
  put(sha256: string, bytes: Buffer): Promise<void>;
  /** Reads a file. It may have been changed: compare hashes. Undefined: there is no file that a request can show. @throws as `put` */
  get(sha256: string): Promise<Buffer | undefined>;
  /** Removes all files. @throws as `put` */
  clear(): Promise<void>;
}

/** Returns the name of a shared file in the place of its run, from the hash of its content. */
export const sharedInputName = (sha256: string): string => `inputs/${sha256}.image`;

/** Whether a name in the place of a run is a {@link sharedInputName}. */
export const isSharedInput = (name: string): boolean => /^inputs\/[0-9a-f]{64}\.image$/.test(name);
