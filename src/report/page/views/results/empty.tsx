import type { JSX } from 'preact';
import type { PageSummary } from '../../../results/wire.ts';
import { useApp } from '../../parts/use.ts';
import { unfiltered } from '../../state/query.ts';

/** Says why nothing is shown, and what to do. */
export function Empty({ summary }: { readonly summary: PageSummary }): JSX.Element {
  const { go } = useApp();
  if (summary.results === 0)
    return (
      <div class="empty">
        <h2>No results yet</h2>
        <p>
          The run has planned nothing, or has not begun. Start it with <code>promptpress run</code>; what it
          makes is shown here.
        </p>
      </div>
    );
  return (
    <div class="empty">
      <h2>No result matches</h2>
      <p>All words of a search must be in one result. Fewer words, or fewer filters, find more.</p>
      <button
        type="button"
        class="primary"
        onClick={() => go(({ mark: _mark, ...now }) => ({ ...now, query: unfiltered(now.query) }), 'replace')}
      >
        Clear all filters
      </button>
    </div>
  );
}
