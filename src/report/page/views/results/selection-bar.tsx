import type { JSX } from 'preact';
import { Icon } from '../../parts/icon.tsx';
import { useApp, useStore } from '../../parts/use.ts';
import { jobsWith, marksTable } from '../../state/marks.ts';
import { count } from '../../text/format.ts';

/** What can be done with results that were selected or marked. */
export function SelectionBar(): JSX.Element | null {
  const app = useApp();
  const [selected, marks] = [useStore(app.selected), useStore(app.marks)];
  const { summary } = app.source;
  if (selected.length === 0 && marks.size === 0) return null;
  const download = (): void => {
    const address = URL.createObjectURL(new Blob([marksTable(marks)], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `${summary?.name ?? 'results'}-selection.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return (
    <div class="selection-bar" role="region" aria-label="Selection">
      {selected.length > 0 ? (
        <div class="part">
          <span>{count(selected.length)} selected</span>
          <button
            type="button"
            class="primary"
            disabled={selected.length < 2}
            title={selected.length < 2 ? 'Select two to four results' : undefined}
            onClick={() => app.go((now) => ({ ...now, compare: selected }), 'push')}
          >
            Compare
          </button>
          <button type="button" class="quiet" onClick={() => app.selected.set([])}>
            Clear selection
          </button>
        </div>
      ) : null}
      {marks.size > 0 ? (
        <div class="part">
          <span class="tally keep">
            <Icon of="keep" /> {count(jobsWith(marks, 'keep').size)} kept
          </span>
          <span class="tally reject">
            <Icon of="reject" /> {count(jobsWith(marks, 'reject').size)} rejected
          </span>
          <button type="button" class="quiet" onClick={download}>
            <Icon of="download" /> Download selection
          </button>
        </div>
      ) : null}
    </div>
  );
}
