import type { JSX } from 'preact';
import type { FailureGroup, PageSummary } from '../../results/wire.ts';
import { Command } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { Empty, ResultLink } from '../parts/pieces.tsx';
import { useApp, useLoaded } from '../parts/use.ts';
import { count, counted } from '../text/format.ts';
import { nameOf } from '../text/names.ts';

/** The tab with failures by reason, most frequent first, each with advice. */
export function Failures({ summary }: { readonly summary: PageSummary }): JSX.Element {
  const { failures } = summary;
  if (failures.length === 0)
    return (
      <Empty title="Nothing failed">
        <p>{summary.live ? 'Failures are shown here as they happen.' : 'All finished jobs succeeded.'}</p>
      </Empty>
    );
  const all = failures.reduce((sum, { results }) => sum + results, 0);
  const accepted = failures.reduce((sum, group) => sum + (group.accepted ? group.results : 0), 0);
  return (
    <div class="failures">
      <p>
        {counted(all, 'result')} failed, for {counted(failures.length, 'reason')}.
        {accepted > 0 ? ` ${count(accepted)} accepted by the pipeline.` : null}
      </p>
      {failures.map((group) => (
        <Reason key={`${group.code} ${group.message}`} group={group} all={all} />
      ))}
    </div>
  );
}

function Reason({ group, all }: { readonly group: FailureGroup; readonly all: number }): JSX.Element {
  const { go } = useApp();
  const { code, accepted, message, advice, commands, results, examples, steps } = group;
  return (
    <section class={accepted ? 'reason accepted' : 'reason'} aria-label={code}>
      <header class="flow spread">
        <h2>
          <Icon of={accepted ? 'minus' : 'alert'} /> {code}
        </h2>
        <p>
          <strong>{count(results)}</strong> {results === 1 ? 'result' : 'results'}
        </p>
      </header>
      <span class="share-bar" aria-hidden="true">
        <span style={{ width: `${(100 * results) / all}%` }} />
      </span>
      <p class="message" dir="auto">
        {message}
      </p>
      {advice ? <p class="advice">{advice}</p> : null}
      {commands.map((line) => (
        <Command key={line} line={line} />
      ))}
      <p class="hint">
        {Object.entries(steps)
          .map(([step, number]) => `${step}: ${count(number)}`)
          .join(' · ')}
      </p>
      <footer class="flow">
        <button
          type="button"
          class="primary"
          onClick={() => go(() => ({ tab: 'results', query: { errorCode: code } }), 'push')}
        >
          Show these results
        </button>
        <ul class="examples flow" aria-label={`Examples of ${code}`}>
          {examples.slice(0, 6).map((at) => (
            <li key={at}>
              <Example at={at} />
            </li>
          ))}
        </ul>
      </footer>
    </section>
  );
}

function Example({ at }: { readonly at: number }): JSX.Element {
  const { source } = useApp();
  const result = useLoaded(at, 0, () => source.result(at));
  return <ResultLink at={at}>{result ? nameOf(result) : `result ${count(at + 1)}`}</ResultLink>;
}
