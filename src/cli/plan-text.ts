import type { PlanCounts, PlanReport } from '../plan/report.ts';
import { count, counted, money } from './progress/amounts.ts';
import { cut, printable } from './progress/printable.ts';

const promptWidth = 100;

/** A plan as a table and the reasons behind it, for people. */
export function planText(report: PlanReport): string {
  const { pipeline, cells, exact, total, steps, warnings, examples } = report;
  const chosen =
    cells.chosen === cells.total
      ? counted(cells.total, 'cell')
      : `${count(cells.chosen)} of ${counted(cells.total, 'cell')}`;
  return [
    `${printable(pipeline)}: ${chosen}, ${counted(report.slotsPerCell, 'slot')} each. Service: ${printable(report.service)}`,
    '',
    ...table([
      ['step', 'kind', 'slots', 'jobs', 'to submit', 'tokens', 'cost', 'already', 'other'],
      ...steps.map((step) => row(step.step, step.kind, step, step.open)),
      ...(steps.length > 1
        ? [
            row(
              'all',
              '',
              total,
              steps.some(({ open }) => open),
            ),
          ]
        : []),
    ]),
    '',
    `${exact ? '' : 'at most '}${counted(total.submits, 'submission')}${whyText(total)}${tokenText(total)}${costText(total)}`,
    ...laterText(total),
    ...examples.map(
      ({ cell, step, prompt }) =>
        `  cell ${cell}, ${printable(step)}: ${cut(printable(prompt), promptWidth)}`,
    ),
    ...warnings.map(({ code, message }) => `warning ${code}: ${printable(message)}`),
    '',
  ].join('\n');
}

/** A `+` marks what may grow in the run: a wildcard finds as many buttons as there are. */
const row = (name: string, kind: string, counts: PlanCounts, open: boolean): readonly string[] => [
  printable(name),
  kind,
  `${count(counts.slots)}${open ? '+' : ''}`,
  count(counts.jobs),
  count(counts.submits),
  counts.tokens.input + counts.tokens.output === 0
    ? ''
    : `~${count(counts.tokens.input + counts.tokens.output)}`,
  counts.cost === 0 ? '' : money(counts.cost),
  listed([
    [counts.done, 'done'],
    [counts.running, 'running'],
    [counts.unsaved, 'to save'],
    [counts.failed, 'failed'],
    [counts.inDoubt, 'in doubt'],
  ]),
  listed([
    [counts.shared, 'shared'],
    [counts.waiting, 'waiting for results'],
    [counts.held, 'held below doubt'],
    [counts.skipped, 'skipped'],
    [counts.blocked, 'blocked'],
    [counts.invalid, 'invalid'],
  ]),
];

const listed = (amounts: readonly (readonly [number, string])[]): string =>
  amounts
    .filter(([amount]) => amount > 0)
    .map(([amount, word]) => `${count(amount)} ${word}`)
    .join(', ');

function whyText({ why, submits, waiting }: PlanCounts): string {
  if (submits === 0) return waiting === 0 ? ': nothing is left to do' : '';
  const reasons = listed([
    [why.new, 'new'],
    [why.changed, 'changed since the last run'],
    [why.retry, 'tried again'],
  ]);
  return reasons === '' ? '' : `: ${reasons}`;
}

/** A guess: what the answers take is known when they are there. */
const tokenText = ({ tokens: { input, output } }: PlanCounts): string =>
  input + output === 0 ? '' : `. About ${count(input)} tokens in and ${count(output)} out, thinking included`;

function costText({ cost, unpriced, submits }: PlanCounts): string {
  if (submits === 0) return '';
  if (unpriced === submits) return '. The pipeline gives no prices, so the cost is not known';
  return `. Cost ${money(cost)}${unpriced === 0 ? '' : `, without the ${counted(unpriced, 'submission')} that have no price`}`;
}

/** What comes on top, as far as it can be told before the results are there. */
function laterText({ waiting, later }: PlanCounts): readonly string[] {
  if (waiting === 0) return [];
  const { tokens, cost, unpriced } = later;
  const taken = tokens.input + tokens.output;
  const amounts = [
    ...(taken === 0 ? [] : [`about ${count(tokens.input)} tokens in and ${count(tokens.output)} out`]),
    ...(unpriced === waiting ? [] : [`cost ${money(cost)}`]),
  ];
  return [
    `and ${count(waiting)} more that wait for results${amounts.length === 0 ? '' : `: ${amounts.join(', ')}`}`,
  ];
}

/** slots, jobs, to submit, tokens, cost */
const isNumber = (column: number): boolean => column >= 2 && column <= 6;

/** Columns as wide as their widest entry; numbers to the right; columns with nothing in them are left out. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const [head = [], ...body] = rows;
  const used = head.map((_, column) => column).filter((column) => body.some((cells) => cells[column] !== ''));
  const widths = new Map(
    used.map((column) => [column, Math.max(...rows.map((cells) => (cells[column] ?? '').length))]),
  );
  return rows.map((cells) =>
    used
      .map((column) => {
        const text = cells[column] ?? '';
        const width = widths.get(column) ?? 0;
        return isNumber(column) ? text.padStart(width) : text.padEnd(width);
      })
      .join('  ')
      .trimEnd()
      .replace(/^/, '  '),
  );
}
