import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { PageSummary } from '../../../results/wire.ts';
import { Empty } from '../../parts/pieces.tsx';
import { type Bar, barChartsOf, type Figures, figuresOf, timeChartsOf } from './figures.ts';
import { TimePlot } from './time-plot.tsx';

/** The tab with the charts. */
export function Charts({ summary }: { readonly summary: PageSummary }): JSX.Element {
  const budget = summary.totals.budget?.cost;
  const times = useMemo(() => timeChartsOf(summary.charts, budget), [summary]);
  const bars = barChartsOf(summary);
  if (times.length === 0 && bars.length === 0)
    return (
      <Empty title="Nothing to draw yet">
        <p>Charts are drawn once jobs have been submitted.</p>
      </Empty>
    );
  return (
    <div class="charts">
      {times.map((chart) => (
        <Chart key={chart.name} name={chart.name} note={chart.unit} figures={figuresOf(chart)}>
          <TimePlot chart={chart} />
        </Chart>
      ))}
      {bars.map(({ name, note, figures, bars: lines }) => (
        <Chart key={name} name={name} note={note} figures={figures}>
          <Bars bars={lines} />
        </Chart>
      ))}
    </div>
  );
}

interface ChartProps {
  readonly name: string;
  readonly note: string;
  readonly figures: Figures;
  readonly children: ComponentChildren;
}

/** A chart that can also be read as a table. */
function Chart({ name, note, figures, children }: ChartProps): JSX.Element {
  const [asTable, setAsTable] = useState(false);
  return (
    <section class="chart" aria-label={name}>
      <div class="chart-head line spread">
        <div>
          <h2>{name}</h2>
          <p class="hint">{note}</p>
        </div>
        <button
          type="button"
          class="toggle"
          aria-pressed={asTable}
          aria-label={`Show ${name} as a table`}
          onClick={() => setAsTable(!asTable)}
        >
          Table
        </button>
      </div>
      {asTable ? <FiguresTable name={name} figures={figures} /> : children}
    </section>
  );
}

function FiguresTable({ name, figures }: { readonly name: string; readonly figures: Figures }): JSX.Element {
  return (
    // biome-ignore lint: a table that scrolls is reached with the Tab key.
    <div class="table-scroll" tabIndex={0} role="group" aria-label={`${name}, table`}>
      <table>
        <caption class="sr">{name}</caption>
        <thead>
          <tr>
            {figures.columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {figures.rows.map((row) => (
            <tr key={row.join(' ')}>
              <th scope="row">{row[0]}</th>
              {row.slice(1).map((value, n) => (
                <td key={n}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A horizontal bar chart. The labels contain all the information. */
function Bars({ bars }: { readonly bars: readonly Bar[] }): JSX.Element {
  const most = Math.max(...bars.map(({ value, range }) => range?.[1] ?? value), Number.MIN_VALUE);
  const share = (value: number): string => `${Math.max(0, Math.min(100, (100 * value) / most))}%`;
  return (
    <ul class="bars">
      {bars.map(({ label, value, shown, range, bad }) => (
        <li key={label}>
          <span dir="auto">{label}</span>
          <span class="bar-track" aria-hidden="true">
            {range ? (
              <>
                <span class="range" style={{ left: share(range[0]), width: share(range[1] - range[0]) }} />
                <span class="middle" style={{ left: share(value) }} />
              </>
            ) : (
              value > 0 && <span class={bad ? 'bad' : ''} style={{ width: share(value) }} />
            )}
          </span>
          <span class="hint">{shown}</span>
        </li>
      ))}
    </ul>
  );
}
