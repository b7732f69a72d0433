import type { JSX } from 'preact';
import type { LineageStop, PageDetail, PageResult } from '../../../results/wire.ts';
import { useApp, useStore } from '../../parts/use.ts';
import { writeAddress } from '../../state/address.ts';

/** Number of links in a list shown at first; the rest is counted. */
const most = 60;

/** Links to the results that a result was made from and to those made from it. */
export function Lineage(props: { readonly result: PageResult; readonly detail: PageDetail }): JSX.Element {
  const { result, detail } = props;
  const { lineage, inputs, children } = detail;
  return (
    <nav class="lineage" aria-label="Lineage">
      <ol class="way">
        {lineage.map((stop) => (
          <li key={stop.at}>
            <Stop stop={stop} current={stop.at === result.at} />
          </li>
        ))}
      </ol>
      <Stops name="Made of" stops={inputs} />
      <Stops name="Made from it" stops={children} />
    </nav>
  );
}

function Stops({
  name,
  stops,
}: {
  readonly name: string;
  readonly stops: readonly LineageStop[];
}): JSX.Element | null {
  if (stops.length === 0) return null;
  return (
    <div class="stops">
      <h3>{name}</h3>
      <ul>
        {stops.slice(0, most).map((stop) => (
          <li key={stop.at}>
            <Stop stop={stop} current={false} />
          </li>
        ))}
        {stops.length > most ? <li class="hint">and {stops.length - most} more</li> : null}
      </ul>
    </div>
  );
}

function Stop({ stop, current }: { readonly stop: LineageStop; readonly current: boolean }): JSX.Element {
  const { go, address } = useApp();
  const now = useStore(address);
  return (
    <a
      href={`#${writeAddress({ ...now, open: stop.at })}`}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go((before) => ({ ...before, open: stop.at }), 'push');
      }}
    >
      {stop.label}
    </a>
  );
}
