import { cut } from '../../pipeline/diagnostics/columns.ts';
import { isPress } from '../../pipeline/kinds.ts';
import type { PlanCounts, PlanReport, StepReport } from '../../plan/estimate/report.ts';
import { count, counted, money, possibleCostWords, soFarWords } from './amounts.ts';
import { shownLine } from './printable.ts';
import { tableLines } from './table.ts';

const promptWidth = 100;
const nameWidth = 40;

/** Formats a service: its id, and its address if the id does not contain it. */
export const serviceWords = (id: string, origin: string | undefined): string =>
  shownLine(origin === undefined || origin === id ? id : `${id} at ${origin}`);

/**
 * Formats a plan for users, as a table with reasons.
 *
 * @param origin of the service, if known
 */
export function planText(report: PlanReport, origin?: string): string {
  const { pipeline, cells, exact, total, steps, warnings, examples } = report;
  const chosen =
    cells.chosen === cells.total
      ? counted(cells.total, 'cell')
      : `${count(cells.chosen)} of ${counted(cells.total, 'cell')}`;
  return [
    `${shownLine(pipeline)}: ${chosen}, ${steps.some(({ atMost }) => atMost) ? 'at most ' : ''}${counted(report.slotsPerCell, 'slot')} each. Service: ${serviceWords(report.service, origin)}`,
    '',
    ...tableLines(
      [
        ...steps.map((step) => row(step.step, kindWords(step), step, step)),
        ...(steps.length > 1
          ? [
              row('all', '', total, {
                open: steps.some(({ open }) => open),
                ...(steps.some(({ atMost }) => atMost) && { atMost: true }),
              }),
            ]
          : []),
      ],
      { head: columnNames, isNumber },
    ).map((line) => `  ${line}`),
    '',
    `${exact ? '' : 'at most '}${counted(total.submits, 'submission')}${whyText(report)}${tokenText(total)}${costText(report)}`,
    ...laterText(total),
    ...soFarText(report),
    ...redoText(report),
    ...reuseText(report),
    ...cutText(total),
    ...(examples.length === 0 ? [] : [total.submits === 1 ? 'Its prompt:' : 'The first prompts:']),
    ...examples.map(
      ({ cell, step, prompt }) =>
        `  cell ${cell}, ${shownLine(step)}: ${cut(shownLine(prompt), promptWidth)}`,
    ),
    ...warnings.map(({ code, message }) => `warning ${code}: ${shownLine(message)}`),
    '',
  ].join('\n');
}

const kindWords = ({ kind, path }: StepReport): string => (path && !isPress(kind) ? `${kind}, clicks` : kind);

/**
 * One row of the table. `+` marks counts that may grow in the run, because a wildcard matches any number of buttons; `≤` those that may
 * shrink, because a list may have fewer items.
 */
const row = (
  name: string,
  kind: string,
  counts: PlanCounts,
  marks: Pick<StepReport, 'open' | 'atMost'>,
): readonly string[] => [
  shownLine(name),
  kind,
  `${marks.atMost ? '≤ ' : ''}${count(counts.slots)}${marks.open ? '+' : ''}`,
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
    [counts.held, 'below one in doubt'],
    [counts.skipped, 'skipped'],
    [counts.blocked, 'blocked'],
    [counts.accepted, 'failed or blocked as accepted'],
    [counts.invalid, 'invalid'],
  ]),
];

const listed = (amounts: readonly (readonly [number, string])[]): string =>
  amounts
    .filter(([amount]) => amount > 0)
    .map(([amount, word]) => `${count(amount)} ${word}`)
    .join(', ');

/** Reasons for the submissions; unknown if the slots were only multiplied. */
function whyText({ total, exact }: PlanReport): string {
  const { why, submits } = total;
  if (submits === 0) return idleText(total);
  if (!exact) return '';
  const reasons: readonly (readonly [number, string])[] = [
    [why.new, 'new'],
    [why.changed, 'changed since the last run'],
    [why.retry, 'tried again'],
    [why.anew, 'redone (--redo, and jobs that came from a redone one)'],
  ];
  const only = reasons.find(([amount]) => amount === submits);
  if (only === undefined) return `: ${listed(reasons)}`;
  return `, ${submits === 1 ? '' : 'all '}${only[1]}`;
}

/** Explains why there is nothing to submit, and which jobs wait for the user. */
function idleText({ waiting, running, unsaved, inDoubt, held, failed, invalid }: PlanCounts): string {
  if (waiting > 0) return '';
  const below = held === 0 ? '' : ` and ${count(held)} below ${inDoubt === 1 ? 'it' : 'them'}`;
  const open = [
    ...(running === 0 ? [] : [`${count(running)} under way from an earlier run`]),
    ...(unsaved === 0 ? [] : [`${count(unsaved)} to save`]),
    ...(inDoubt === 0
      ? []
      : [
          `${count(inDoubt)} in doubt${below} ${inDoubt + held === 1 ? 'waits' : 'wait'} for your decision (promptpress status)`,
        ]),
    ...(failed === 0
      ? []
      : [`${count(failed)} failed ${failed === 1 ? 'stays' : 'stay'} so until --retry-failed`]),
    ...(invalid === 0
      ? []
      : [`${counted(invalid, 'slot')} ${invalid === 1 ? 'fails' : 'fail'} without a request`]),
  ];
  return `: ${open.length === 0 ? 'nothing is left to do' : open.join('; ')}`;
}

/** An estimate; the replies decide the real number. */
const tokenText = ({ tokens: { input, output } }: PlanCounts): string =>
  input + output === 0 ? '' : `. About ${count(input)} tokens in and ${count(output)} out, thinking included`;

const maxNamed = 4;

function costText(report: PlanReport): string {
  const { total, priced, unpricedNames } = report;
  const { unpriced, submits, later } = total;
  if (submits === 0) return later.cost === 0 ? '' : `. ${toComeWords(report)}`;
  if (!priced) return '. The pipeline gives no prices, so the cost is not known';
  if (unpriced === 0) return `. ${toComeWords(report)}`;
  const names = unpricedNames.slice(0, maxNamed).map((name) => cut(shownLine(name), nameWidth));
  const shown = [...names, ...(unpricedNames.length > maxNamed ? ['…'] : [])].join(', ');
  const which = shown === '' ? '' : ` (${shown})`;
  if (unpriced === submits)
    return `. ${submits === 1 ? 'It has no price' : 'None of these has a price'}${which}, so the cost is not known`;
  return `. ${toComeWords(report)}, without ${unpriced === 1 ? '1 submission that has' : `the ${count(unpriced)} that have`} no price${which}`;
}

/** The total still to come. Slots that wait for results may need fewer jobs. */
const toComeWords = ({ total: { cost, later }, atMost, exact }: PlanReport): string =>
  later.cost === 0
    ? `Still to come: cost ${money(cost)}${exact ? '' : ' at most'}`
    : `Still to come: cost ${money(atMost)} at most, ${money(cost)} of it for ${exact ? 'these' : 'them'}`;

function soFarText({ state }: PlanReport): readonly string[] {
  if (state === undefined || state.cost + state.possibleCost === 0) return [];
  const spent = [
    ...(state.cost === 0 ? [] : [`cost ${money(state.cost)}`]),
    ...(state.possibleCost === 0
      ? []
      : [possibleCostWords(state.possibleCost, state.cost === 0 ? undefined : state.cost)]),
  ].join(', ');
  return [`T${soFarWords(spent).slice(1)}`];
}

/** The part of the total that waits for results, as far as it is known. */
function laterText({ waiting, later }: PlanCounts): readonly string[] {
  if (waiting === 0) return [];
  const { tokens, cost, unpriced } = later;
  const used = tokens.input + tokens.output;
  const amounts = [
    ...(used === 0 ? [] : [`about ${count(tokens.input)} tokens in and ${count(tokens.output)} out`]),
    ...(unpriced === waiting ? [] : [`cost ${money(cost)}`]),
  ];
  return [
    `${counted(waiting, 'slot')} ${waiting === 1 ? 'waits' : 'wait'} for results${amounts.length === 0 ? '' : `: ${amounts.join(', ')}`}`,
  ];
}

/** Remaining orders to make jobs again. A run of a part of the plan makes only those in that part. */
const redoText = ({ redo }: PlanReport): readonly string[] =>
  redo === undefined
    ? []
    : [
        `To be made anew (--redo): ${listed([
          [redo.waiting, 'to begin'],
          [redo.begun, 'begun'],
          [redo.made, 'made'],
        ])}; --redo-cancel drops what is left`,
      ];

/** What is taken over from other run directories is among the finished jobs. */
function reuseText({ reuse, priced }: PlanReport): readonly string[] {
  if (reuse === undefined) return [];
  const { jobs, cost, tokens } = reuse;
  const saved = [
    ...(priced && cost > 0 ? [`cost ${money(cost)}`] : []),
    ...(tokens.input + tokens.output === 0 ? [] : [`about ${count(tokens.input + tokens.output)} tokens`]),
  ].join(' and ');
  const what = jobs === 0 ? 'no job of this plan' : counted(jobs, 'job');
  return [`Taken over from other runs (--reuse): ${what}${saved === '' ? '' : `, which saves ${saved}`}`];
}

/** Only the buttons of a result show whether it is a grid. */
const cutText = ({ cuts = 0 }: PlanCounts): readonly string[] =>
  cuts === 0
    ? []
    : [
        `${counted(cuts, 'result')} to cut into frames (grid: split), which costs nothing; a result that is not a grid of four stays whole`,
      ];

const columnNames = ['step', 'kind', 'slots', 'jobs', 'to submit', 'tokens', 'cost', 'already', 'other'];

/** Columns: slots, jobs, to submit, tokens, cost. */
const isNumber = (column: number): boolean => column >= 2 && column <= 6;
