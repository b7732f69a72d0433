import type { JSX } from 'preact';

/** One bar of a bar chart. */
export interface Bar {
  readonly label: string;
  /** Value of the bar; its length is relative to the largest one. */
  readonly value: number;
  /** The value in words. */
  readonly shown: string;
  /** Range drawn in place of a bar, with a sign at {@link value}. */
  readonly range?: readonly [from: number, to: number];
  readonly bad?: boolean;
}

/** A horizontal bar chart. The labels contain all the information. */
export function Bars({ bars }: { readonly bars: readonly Bar[] }): JSX.Element {
  const most = Math.max(...bars.map(({ value, range }) => range?.[1] ?? value), Number.MIN_VALUE);
  const share = (value: number): string => `${Math.max(0, Math.min(100, (100 * value) / most))}%`;
  return (
    <ul class="bars">
      {bars.map(({ label, value, shown, range, bad }) => (
        <li key={label}>
          <span class="bar-label" dir="auto">
            {label}
          </span>
          <span class={`bar-track ${bad ? 'bad' : ''}`} aria-hidden="true">
            {range ? (
              <>
                <span
                  class="bar-range"
                  style={{ left: share(range[0]), width: share(range[1] - range[0]) }}
                />
                <span class="bar-middle" style={{ left: share(value) }} />
              </>
            ) : (
              value > 0 && <span class="bar-fill" style={{ width: share(value) }} />
            )}
          </span>
          <span class="bar-value">{shown}</span>
        </li>
      ))}
    </ul>
  );
}
