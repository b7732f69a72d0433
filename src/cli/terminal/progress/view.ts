import picocolors from 'picocolors';
import type { Formatter } from 'picocolors/types.js';
import type { Progress, StepProgress } from '../../../app/progress/model.ts';
import { columnsOf, cut } from '../../../pipeline/diagnostics/columns.ts';
import { count } from '../../../report/text/amounts.ts';
import { shownLine } from '../../../report/text/printable.ts';
import {
  activityParts,
  type Counts,
  countParts,
  failureWords,
  fitted,
  leftWords,
  settledOf,
  spendingParts,
  sumOf,
} from './figures.ts';

/** Width, height and style of the live view. */
export interface ViewOptions {
  readonly columns: number;
  readonly rows: number;
  /** Whether bars use block characters; otherwise ASCII. */
  readonly unicode: boolean;
  readonly paint: Paint;
}

/** Formatters that colour a text, or leave it unchanged. */
export interface Paint {
  readonly done: Formatter;
  readonly bad: Formatter;
  readonly faint: Formatter;
  readonly strong: Formatter;
}

export const plainPaint: Paint = { done: String, bad: String, faint: String, strong: String };

/** Width in columns below which auxiliary words are left out. */
const narrow = 50;

/**
 * Formats the live view of a run: time left, total progress, a bar for each step, work in flight, spending, the last failure, and why
 * nothing moves. Lines fit the width and height of the terminal, because a view that scrolls cannot be redrawn.
 */
export function progressLines(progress: Progress, now: number, options: ViewOptions): readonly string[] {
  const { paint } = options;
  // The last column stays free because some terminals wrap there, and the last row for the cursor.
  const columns = Math.max(20, options.columns - 1);
  const rows = Math.max(1, options.rows - 1);
  const spending = fitted(spendingParts(progress), columns);
  const failure = failureWords(progress);
  const activity = fitted(activityParts(progress, now), columns);
  const line = (text: string | undefined): readonly string[] =>
    text === undefined || text === '' ? [] : [cut(shownLine(text), columns)];
  // Each line with the least height at which it fits below a step or two.
  const below: readonly (readonly [height: number, lines: readonly string[]])[] = [
    [4, line(activity).map(paint.faint)],
    [6, line(spending).map(paint.faint)],
    [5, line(failure).map(paint.bad)],
    [2, line(progress.notice)],
  ];
  const details = below.flatMap(([height, lines]) => (rows >= height ? lines : []));
  const names = widthOfNames(progress.steps, columns);
  return [
    overallLine(progress, names, columns, options),
    ...stepLines(progress.steps, rows - 1 - details.length, names, columns, options),
    ...details,
  ];
}

const widthOfNames = (steps: readonly StepProgress[], columns: number): number =>
  Math.min(24, Math.floor(columns / 3), Math.max(4, ...steps.map(({ name }) => columnsOf(shownLine(name)))));

function overallLine(progress: Progress, names: number, columns: number, options: ViewOptions): string {
  const left = leftWords(progress, columns < narrow);
  // Aligned with the bars of the steps if possible.
  const width = Math.min(Math.max(names, columnsOf(left)), columns);
  return barLine(cut(left, width), width, sumOf(progress), columns, options, options.paint.strong);
}

/** Returns a line for each step; if they do not fit, running steps come first and finished ones last. */
function stepLines(
  steps: readonly StepProgress[],
  rows: number,
  names: number,
  columns: number,
  options: ViewOptions,
): readonly string[] {
  const lineOf = (step: StepProgress): string =>
    barLine(cut(shownLine(step.name), names), names, step, columns, options, String);
  // With one step the line above shows the same.
  if (steps.length < 2 || rows < 1) return [];
  if (steps.length <= rows) return steps.map(lineOf);
  const byUrgency = steps.toSorted((one, other) => urgencyOf(one) - urgencyOf(other));
  const shown = byUrgency.slice(0, rows - 1);
  const hidden = byUrgency.slice(shown.length);
  const over = hidden.filter((step) => urgencyOf(step) === 2).length;
  const those = over === hidden.length ? 'all' : `${count(over)} of them`;
  const words = `and ${count(hidden.length)} more steps${over === 0 ? '' : `, ${those} over`}`;
  return [...shown.map(lineOf), options.paint.faint(cut(words, columns))];
}

/** Urgency of a step: 0 if it runs, 1 if something is left or unknown, 2 if it is over. */
function urgencyOf(step: StepProgress): number {
  if (step.active > 0) return 0;
  return step.total !== undefined && settledOf(step) >= step.total ? 2 : 1;
}

function barLine(
  label: string,
  width: number,
  counts: Counts & { readonly active?: number },
  columns: number,
  options: ViewOptions,
  paint: Formatter,
): string {
  const padded = paint(label) + ' '.repeat(width - columnsOf(label));
  const room = columns - width - 1;
  const parts = countParts(counts);
  const numbers = fitted(parts, room);
  // Gives bars of steps with few failures the length of the others.
  const barWidth = Math.min(40, room - 1 - Math.max(columns < narrow ? 0 : 24, columnsOf(numbers)));
  if (barWidth < 5) return `${padded} ${numbers}`;
  return `${padded} ${bar(counts, barWidth, options)} ${numbers}`;
}

/** Draws a bar: done, skipped or accepted, then failed and blocked, then open. */
function bar(
  {
    done,
    failed,
    inDoubt,
    skipped,
    blocked,
    accepted,
    total,
    active = 0,
  }: Counts & { readonly active?: number },
  width: number,
  { unicode, paint }: ViewOptions,
): string {
  const [full, empty] = unicode ? ['█', '░'] : ['#', '-'];
  const fine = done + skipped + accepted;
  const bad = failed + inDoubt + blocked;
  const all = total ?? fine + bad + active;
  if (all === 0) return paint.faint(empty.repeat(width));
  const share = (part: number): number => Math.floor((Math.min(part, all) * width) / all);
  const settled = share(fine + bad);
  // A single failure must stay visible.
  const badWidth = bad === 0 ? 0 : Math.min(width, Math.max(1, settled - share(fine)));
  const doneWidth = Math.min(share(fine), width - badWidth);
  return (
    paint.done(full.repeat(doneWidth)) +
    paint.bad((unicode ? full : 'x').repeat(badWidth)) +
    paint.faint(empty.repeat(width - doneWidth - badWidth))
  );
}

/** Returns formatters with or without colours. */
export function paintWith(colors: boolean): Paint {
  const { green, red, dim, bold } = picocolors.createColors(colors);
  return { done: green, bad: red, faint: dim, strong: bold };
}
