import type { JSX } from 'preact';
import type { PageResult } from '../../results/wire.ts';
import type { ResultSource } from '../source/source.ts';

/** Returns the address of a result's thumbnail, or of its file if it has no thumbnail. */
export function pictureOf(source: ResultSource, result: PageResult): string | undefined {
  if (result.thumbnail) return source.thumbnailAddress(result.thumbnail);
  return result.media === 'image' && result.file ? source.fileAddress(result.file) : undefined;
}

/** Returns the aspect ratio of a picture as a style, which reserves its place while it loads. */
export const proportions = ({ width, height }: PageResult): { readonly aspectRatio?: string } =>
  width && height ? { aspectRatio: `${width} / ${height}` } : {};

/** The label of a status, in words and in its colour. */
export const Status = ({ of }: { readonly of: string }): JSX.Element => (
  <span class={`status status-${of}`}>{of}</span>
);
