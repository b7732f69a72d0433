import { Virtualizer } from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import { Stretch } from './stretch.ts';

/** Virtual rows of equal height, which the window scrolls. */
export interface Rows {
  readonly virtualizer: Virtualizer<Window, Element>;
  /** Height of all rows on the page, in pixels. */
  readonly height: number;
  /** Scrolls the window until a row is visible. */
  readonly reveal: (row: number) => void;
  /** Converts an offset in the list into an offset on the page. */
  readonly top: (start: number) => number;
}

export function useRows(
  list: RefObject<HTMLElement | null>,
  count: number,
  size: number,
  covered: number,
): Rows {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const kept = useRef<
    { virtualizer: Virtualizer<Window, Element>; stretch: Stretch; size: number } | undefined
  >(undefined);
  kept.current ??= made(list, () => redraw(0));
  const { virtualizer, stretch } = kept.current;
  stretch.total = count * size;
  virtualizer.setOptions({
    ...virtualizer.options,
    count,
    estimateSize: () => size,
  });
  if (kept.current.size !== size) {
    kept.current.size = size;
    virtualizer.measure();
  }
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  const reveal = (row: number): void => {
    const target = stretch.reveal(row * size, size, covered);
    if (target !== undefined) scrollTo({ top: topOf(list) + target, behavior: 'instant' });
  };
  return { virtualizer, height: stretch.height, top: (start) => stretch.shown(start), reveal };
}

/** Returns the offset of the list on the page. */
const topOf = (list: RefObject<HTMLElement | null>): number =>
  list.current ? list.current.getBoundingClientRect().top + scrollY : 0;

function made(
  list: RefObject<HTMLElement | null>,
  redraw: () => void,
): { virtualizer: Virtualizer<Window, Element>; stretch: Stretch; size: number } {
  const stretch = new Stretch();
  const virtualizer = new Virtualizer<Window, Element>({
    count: 0,
    estimateSize: () => 1,
    overscan: 1,
    getScrollElement: () => window,
    observeElementRect: (_instance, rect) => {
      const tell = (): void => {
        stretch.view = innerHeight;
        rect({ width: innerWidth, height: innerHeight });
      };
      tell();
      addEventListener('resize', tell);
      return () => removeEventListener('resize', tell);
    },
    observeElementOffset: (_instance, offset) => {
      let settled = 0;
      const tell = (scrolling: boolean): void => offset(stretch.scrolled(scrollY - topOf(list)), scrolling);
      const scrolled = (): void => {
        tell(true);
        clearTimeout(settled);
        settled = setTimeout(() => {
          const moved = stretch.settle();
          if (moved !== undefined) scrollTo({ top: topOf(list) + moved, behavior: 'instant' });
          tell(false);
        }, 150);
      };
      tell(false);
      addEventListener('scroll', scrolled, { passive: true });
      return () => {
        clearTimeout(settled);
        removeEventListener('scroll', scrolled);
      };
    },
    scrollToFn: () => undefined,
    onChange: redraw,
  });
  return { virtualizer, stretch, size: 0 };
}
