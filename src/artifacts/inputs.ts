import type { InlineImage } from '../service/text.ts';
import type { SaveFailure } from './writer.ts';

/** Where an image lies that a text call shows to the model. */
export type InputSource =
  /** A file of the pipeline, by path relative to it; it must still have this content. */
  | { readonly kind: 'file'; readonly path: string; readonly sha256: string }
  /** A file of the run directory, relative to it. */
  | { readonly kind: 'artifact'; readonly file: string; readonly mime: string }
  /** An http(s) address or a data URI. */
  | { readonly kind: 'url'; readonly url: string };

/**
 * Besides the download codes: `input.missing` (no such file), `input.outside` (it leads out of the folder that
 * a pipeline's files must lie in), `input.changed` (a file that is not what the job was planned
 * with), `input.not-image`, `input.too-large`. All but a failed download are permanent.
 */
export type InputAnswer =
  | { readonly ok: true; readonly value: InlineImage }
  | { readonly ok: false; readonly error: SaveFailure };

/** Reads the images of text calls. Bounded: one image at most {@link largestInput} bytes. */
export interface InputReader {
  load(source: InputSource, signal: AbortSignal): Promise<InputAnswer>;
}

/** Bytes of one image that is sent inline: with its base64 it must fit a gateway's 32 MB body (protocol.md 5.4). */
export const largestInput = 20 * 1024 * 1024;
