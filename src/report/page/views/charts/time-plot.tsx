import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import { about, time } from '../../text/format.ts';
import type { Series, TimeChart } from './figures.ts';

/** A chart over time. Screen readers get the table beside it. */
export function TimePlot({ chart }: { readonly chart: TimeChart }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | undefined>(undefined);
  const shown = useRef(chart);
  shown.current = chart;
  const lines = chart.series.map(({ name }) => name).join();
  useEffect(() => {
    const element = place.current as HTMLDivElement;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new UPlot(optionsOf(shown.current, element), dataOf(shown.current), element);
    };
    draw();
    // The colours are drawn into a canvas, so a new colour scheme needs a new drawing.
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    const observer = new ResizeObserver(() =>
      plot.current?.setSize({ width: Math.max(200, element.clientWidth), height: heightOf(element) }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [lines]);
  // During a run only the figures change.
  useEffect(() => plot.current?.setData(dataOf(chart)), [chart]);
  return <div ref={place} class="plot" role="img" aria-label={`${chart.name}, ${chart.unit}, over time`} />;
}

const heightOf = (element: HTMLElement): number => (element.clientWidth < 420 ? 180 : 220);

function dataOf({ times, series }: TimeChart): UPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

/** Formats the time of a point, as short as the distance between points allows. */
function clock(seconds: number, distance: number): string {
  const [day = '', clockTime = ''] = time(seconds * 1000).split(' ');
  if (distance >= 86_400) return day.slice(5);
  return distance < 60 ? clockTime : clockTime.slice(0, 5);
}

const wholes = [1, 2, 5]
  .flatMap((digit) => Array.from({ length: 7 }, (_, power) => digit * 10 ** power))
  .sort((a, b) => a - b);

function optionsOf({ series, whole }: TimeChart, element: HTMLElement): UPlot.Options {
  const barred = series.some(({ bars }) => bars);
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const font = `12px ${style.fontFamily}`;
  const axis = { stroke: colour('--text-soft'), font, ticks: { show: false } };
  const grid = { stroke: colour('--line'), width: 1 };
  return {
    width: Math.max(200, element.clientWidth),
    height: heightOf(element),
    padding: [8, 8, 0, 0],
    cursor: { y: false, drag: { x: true, y: false } },
    legend: { live: true },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 28,
        values: (_plot, times, _axis, _space, distance) => times.map((at) => clock(at, distance)),
      },
      {
        ...axis,
        grid,
        size: 52,
        values: (_plot, values) => values.map(about),
        ...(whole ? { incrs: wholes } : {}),
      },
    ],
    scales: {
      // Bars are centred on their times: the first and the last need half of their width.
      x: {
        range: ({ data: [times] }, first, last) => {
          const edge = barred && times.length > 1 ? ((times[1] as number) - (times[0] as number)) / 2 : 0;
          return [first - edge, last + edge];
        },
      },
      y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.08 : 1] },
    },
    series: [
      { label: 'Time', value: (_plot, at: number | null) => (at === null ? '–' : time(at * 1000)) },
      ...series.map((one) => lineOf(one, colour)),
    ],
  };
}

const value = (_plot: UPlot, figure: number | null): string => (figure === null ? '–' : about(figure));

function lineOf(
  { name, colour: number, bars, bound }: Series,
  colour: (name: string) => string,
): UPlot.Series {
  const stroke = colour(`--chart-${number}`);
  if (bound) return { label: name, stroke, width: 1.5, dash: [6, 4], points: { show: false }, value };
  const fill = `${stroke}${bars ? 'cc' : '22'}`;
  const base = { label: name, stroke, fill, width: bars ? 0 : 2, points: { show: false }, value };
  const paths = bars ? UPlot.paths.bars?.({ size: [0.8, 40], radius: 0.15 }) : undefined;
  return paths ? { ...base, paths } : base;
}
