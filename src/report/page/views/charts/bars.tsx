import type { JSX } from 'preact';

/** One line of a bar chart. */
export interface Bar {
  readonly label: string;
  /** Lies over the largest one. */
  readonly value: number;
  /** The value in words. */
  readonly shown: string;
  /** From where to where a range is drawn, with a sign at {@link value}. */
  readonly range?: readonly [from: number, to: number];
  readonly bad?: boolean;
}

/** Bars that lie: their names need no turning of the head. The words beside them say all that they show. */
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
