import picocolors from 'picocolors';
import type { Formatter } from 'picocolors/types.js';
import { columnsOf, cut } from '../../../pipeline/diagnostics/terminal-text.ts';
import { count, money, rateWords, span, tokenWords } from '../../../report/text/amounts.ts';
import { shownLine } from '../../../report/text/printable.ts';
import type { Progress, StepProgress } from './model.ts';

/** The style of a view. */
export interface ViewOptions {
  readonly columns: number;
  /** Block characters for bars; else ASCII. */
  readonly unicode: boolean;
  readonly paint: Paint;
}

/** Colours, or none. */
export interface Paint {
  readonly done: Formatter;
  readonly bad: Formatter;
  readonly faint: Formatter;
  readonly strong: Formatter;
}

export const plainPaint: Paint = { done: String, bad: String, faint: String, strong: String };

/** More steps than fit on a screen would scroll, and a view that scrolls cannot be redrawn. */
const mostSteps = 20;

/** The live view of a run: one bar per step, then the current state. Pure; every line fits the width. */
export function progressLines(progress: Progress, now: number, options: ViewOptions): readonly string[] {
  // The last column stays free: some terminals wrap when it is written.
  const columns = Math.max(20, options.columns - 1);
  const shown = progress.steps.slice(0, mostSteps);
  const nameWidth = Math.min(
    24,
    Math.floor(columns / 3),
    Math.max(...shown.map(({ name }) => columnsOf(shownLine(name))), 4),
  );
  const hidden = progress.steps.length - shown.length;
  return [
    ...shown.map((step) => stepLine(step, nameWidth, columns, options)),
    ...(hidden > 0 ? [options.paint.faint(cut(`and ${hidden} more steps`, columns))] : []),
    options.paint.faint(cut(headline(progress, now), columns)),
    ...(progress.notice === undefined ? [] : [cut(shownLine(progress.notice), columns)]),
  ];
}

/** One line for logs and build servers. */
export function progressSentence(progress: Progress, now: number): string {
  const sum = sumOf(progress.steps);
  return shownLine(
    [
      `${progress.name}: ${ofTotal(sum.done, sum.total)} done`,
      ...others(sum),
      headline(progress, now),
      ...(progress.notice === undefined ? [] : [progress.notice]),
    ].join(', '),
  );
}

function headline(progress: Progress, now: number): string {
  const left = timeLeft(progress);
  const tokens = tokenWords(progress.tokens);
  return [
    span(now - progress.startedAt),
    `${count(progress.tasks)} in flight`,
    rateWords(progress.perMinute),
    ...(tokens === undefined ? [] : [tokens]),
    ...(progress.cost === undefined ? [] : [`cost ${money(progress.cost)}`]),
    ...(progress.stopping ? ['stopping'] : left === undefined ? [] : [`about ${span(left)} left`]),
  ].join(', ');
}

function stepLine(step: StepProgress, nameWidth: number, columns: number, options: ViewOptions): string {
  const name = cut(shownLine(step.name), nameWidth);
  const padded = name + ' '.repeat(nameWidth - columnsOf(name));
  const numbers = [ofTotal(step.done, step.total), ...others(step)].join(', ');
  const barWidth = Math.min(40, columns - nameWidth - 2 - Math.max(24, columnsOf(numbers)));
  const room = columns - nameWidth - 1;
  if (barWidth < 5) return `${padded} ${cut(numbers, room)}`;
  return `${padded} ${bar(step, barWidth, options)} ${cut(numbers, room - barWidth - 1)}`;
}

/** Done or skipped, then failed, then what is still to come. */
function bar(step: StepProgress, width: number, { unicode, paint }: ViewOptions): string {
  const [full, empty] = unicode ? ['█', '░'] : ['#', '-'];
  const fine = step.done + step.skipped;
  const total = step.total ?? fine + step.failed + step.inDoubt + step.active;
  if (total === 0) return paint.faint(empty.repeat(width));
  const bad = step.failed + step.inDoubt;
  const share = (part: number): number => Math.floor((Math.min(part, total) * width) / total);
  const settled = share(fine + bad);
  // One failure among thousands must still be seen.
  const badWidth = bad === 0 ? 0 : Math.min(width, Math.max(1, settled - share(fine)));
  const doneWidth = Math.min(share(fine), width - badWidth);
  return (
    paint.done(full.repeat(doneWidth)) +
    paint.bad((unicode ? full : 'x').repeat(badWidth)) +
    paint.faint(empty.repeat(width - doneWidth - badWidth))
  );
}

type Sum = Pick<StepProgress, 'done' | 'failed' | 'inDoubt' | 'skipped' | 'total'>;

const others = ({ failed, inDoubt, skipped }: Sum): readonly string[] => [
  ...(failed === 0 ? [] : [`${count(failed)} failed`]),
  ...(inDoubt === 0 ? [] : [`${count(inDoubt)} in doubt`]),
  ...(skipped === 0 ? [] : [`${count(skipped)} skipped`]),
];

const ofTotal = (done: number, total: number | undefined): string =>
  total === undefined ? count(done) : `${count(done)}/${count(total)}`;

function sumOf(steps: readonly StepProgress[]): Sum {
  const sum = { done: 0, failed: 0, inDoubt: 0, skipped: 0 };
  let total: number | undefined = 0;
  for (const step of steps) {
    sum.done += step.done;
    sum.failed += step.failed;
    sum.inDoubt += step.inDoubt;
    sum.skipped += step.skipped;
    total = total === undefined || step.total === undefined ? undefined : total + step.total;
  }
  return { ...sum, ...(total === undefined ? {} : { total }) };
}

/** At the pace of the last minute; nothing while there is none, or nothing left. */
function timeLeft({ steps, perMinute }: Progress): number | undefined {
  const { done, failed, inDoubt, skipped, total } = sumOf(steps);
  if (total === undefined || perMinute === 0) return undefined;
  const open = total - done - failed - inDoubt - skipped;
  return open > 0 ? (open / perMinute) * 60_000 : undefined;
}

/** Colours where the user wants any. */
export function paintWith(colors: boolean): Paint {
  const { green, red, dim, bold } = picocolors.createColors(colors);
  return { done: green, bad: red, faint: dim, strong: bold };
}
