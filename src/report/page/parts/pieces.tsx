import type { ComponentChildren, JSX } from 'preact';
import type { PageResult } from '../../results/wire.ts';
import type { ResultSource } from '../source/source.ts';
import { type Mark, writeAddress } from '../state/address.ts';
import { piecesOf } from '../text/fold.ts';
import { Icon } from './icon.tsx';
import { useApp, useStore } from './use.ts';

/** Returns the address of a result's thumbnail, or of its file if it has no thumbnail. */
export function pictureOf(source: ResultSource, result: PageResult): string | undefined {
  if (result.thumbnail) return source.thumbnailAddress(result.thumbnail);
  return result.media === 'image' && result.file ? source.fileAddress(result.file) : undefined;
}

/** Returns the aspect ratio of a picture as a style, which reserves its place while it loads. */
export const proportions = ({ width, height }: PageResult): { readonly aspectRatio?: string } =>
  width && height ? { aspectRatio: `${width} / ${height}` } : {};

/** The label of a status, in words and in its colour. */
export const Status = ({ of }: { readonly of: string }): JSX.Element => <span class={`tag ${of}`}>{of}</span>;

interface HighlightedProps {
  readonly text: string;
  readonly words: readonly string[];
}

/** A text in which the words of the search are highlighted. */
export const Highlighted = ({ text, words }: HighlightedProps): JSX.Element => (
  <>{piecesOf(text, words).map(({ text: piece, hit }) => (hit ? <mark>{piece}</mark> : piece))}</>
);

interface EmptyProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A message in place of what cannot be shown. */
export const Empty = ({ title, children }: EmptyProps): JSX.Element => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
);

interface ResultLinkProps {
  readonly at: number;
  /** Whether the result is open. */
  readonly current?: boolean;
  readonly children: ComponentChildren;
}

/** A link that opens a result. */
export function ResultLink({ at, current = false, children }: ResultLinkProps): JSX.Element {
  const { go, address } = useApp();
  return (
    <a
      href={`#${writeAddress({ ...useStore(address), open: at })}`}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go((now) => ({ ...now, open: at }), 'push');
      }}
    >
      {children}
    </a>
  );
}

/** What results with a mark are called. */
export const markNames: Readonly<Record<Mark, string>> = { keep: 'kept', reject: 'rejected' };

const markButtons = [
  ['keep', 'Keep', 'k'],
  ['reject', 'Reject', 'x'],
] as const;

interface MarkButtonsProps {
  readonly result: PageResult;
  /** Name of the result for screen readers, where several results have such buttons. */
  readonly name?: string;
}

/** The buttons that mark a result. */
export function MarkButtons({ result: { job }, name }: MarkButtonsProps): JSX.Element {
  const app = useApp();
  const marks = useStore(app.marks);
  return (
    <>
      {markButtons.map(([mark, label, key]) => (
        <button
          key={mark}
          type="button"
          class={`toggle ${mark}`}
          aria-pressed={job !== undefined && marks.get(job) === mark}
          aria-label={name && `${label} ${name}`}
          disabled={job === undefined}
          onClick={() => job !== undefined && app.flip(job, mark)}
        >
          <Icon of={mark} /> {label}
          <kbd aria-hidden="true">{key}</kbd>
        </button>
      ))}
    </>
  );
}
