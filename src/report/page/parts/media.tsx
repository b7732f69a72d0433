import type { JSX } from 'preact';
import type { PageResult } from '../../results/wire.ts';
import type { ResultSource } from '../source/source.ts';

/** The picture that stands for a result: its thumbnail, or the file itself where none was made. */
export function pictureOf(source: ResultSource, result: PageResult): string | undefined {
  if (result.thumbnail) return source.thumbnailAddress(result.thumbnail);
  return result.media === 'image' && result.file ? source.fileAddress(result.file) : undefined;
}

/** The share of a square that a picture takes, so that its place is kept while it loads. */
export const proportions = ({ width, height }: PageResult): { readonly aspectRatio?: string } =>
  width && height ? { aspectRatio: `${width} / ${height}` } : {};

/** A status with its colour; the word says it too. */
export const Status = ({ of }: { readonly of: string }): JSX.Element => (
  <span class={`status status-${of}`}>{of}</span>
);
