import { isS3Address } from '../../artifacts/store/s3/address.ts';
import { droppedCode } from '../../plan/job.ts';
import { messageText } from '../../results/messages.ts';
import { maxFailuresCode } from '../../run/events.ts';
import { lanesOf, noLimits } from '../../run/limits/learned-limits.ts';
import { finding } from '../facts/in-doubt.ts';
import type { End, JsonOutputs } from '../facts/json-outputs.generated.ts';
import {
  assumedTokenWords,
  count,
  counted,
  leftOutLines,
  money,
  possibleCostWords,
  sameFilesWords,
  soFarWords,
  span,
  timedOutWords,
  tokenWords,
  unansweredWords,
} from './amounts.ts';
import { byMessage, changeFor, mayHelp } from './job/advice.ts';
import { slotWords } from './job/mention.ts';
import { jobCommands } from './next-commands.ts';
import { paceWords } from './pace-words.ts';
import { serviceWords } from './plan-text.ts';
import { quoted, shownLine } from './printable.ts';
import { endingWord, slotNumbers, unsettled } from './slot-counts.ts';
import { factLines, padEnd, tableLines, widest } from './table.ts';

/** The summary of a run, printed by `run --json` and at the end of a run. Paths are relative to the current folder. */
export interface RunSummary extends Omit<JsonOutputs['run'], 'exitCode'> {
  readonly exitCode: number;
}

type Reason = RunSummary['reasons'][number];

const maxReasons = 10;

/**
 * Formats the end of a run for users: where the results are, what failed and why, and what to do next.
 *
 * @param mayFind whether `--in-doubt find` may find tasks of jobs in doubt; false if this run has tried
 */
export function endingText(summary: RunSummary, again: string, mayFind = false): string {
  const next = advice(summary, again, mayFind);
  return [
    headline(summary),
    '',
    ...factLines(8, [
      ['service', summary.sandbox ? undefined : serviceWords(summary.service, summary.origin)],
      ['images', summary.images],
      ['replies', summary.replies],
      ['videos', summary.videos],
      ['manifest', summary.manifest],
      // An aborted run has not checked which files exist.
      ['gallery', summary.manifest === undefined ? undefined : galleryCommand(summary)],
      ['log', summary.log],
      ...lanesOf(summary.limits ?? noLimits).map(
        (lane, n) => [n === 0 ? 'pace' : '', paceWords(lane)] as const,
      ),
    ]),
    ...(summary.sameFiles === undefined
      ? []
      : [
          '',
          `warning: ${shownLine(sameFilesWords(summary.sameFiles))}. Look at them: --redo JOB makes one again.`,
        ]),
    ...leftOutLines(summary),
    ...reasonLines(summary.reasons),
    ...inDoubtLines(summary),
    ...(next.length === 0 ? [] : ['', 'Next:', ...next]),
    '',
  ].join('\n');
}

/** The command that writes a report, which needs images in the run directory. */
const galleryCommand = ({ directory, manifest = '' }: RunSummary): string => {
  const { report } = jobCommands(directory);
  return isS3Address(manifest) ? `promptpress serve ${quoted(directory)}` : report;
};

function headline(summary: RunSummary): string {
  const {
    pipeline,
    end,
    slots,
    submits,
    redosFailed,
    gridsCut,
    timedOutAgain,
    putBack,
    runCost,
    cost,
    possibleCost,
    allTokens,
    startedAt,
    finishedAt,
  } = summary;
  const took = span(Date.parse(finishedAt) - Date.parse(startedAt));
  // Only the manifest separates kinds of tokens, but it lacks jobs that an edit has removed from the plan.
  const tokens =
    allTokens === undefined || allTokens === summary.tokens?.total
      ? tokenWords(summary.tokens)
      : `tokens ${count(allTokens)}`;
  const numbers = [
    ...(slots === undefined ? [] : slotNumbers(slots)),
    `${counted(submits, 'submission')} in this run${runCost === undefined ? '' : ` (cost ${money(runCost)})`}`,
    ...(gridsCut === undefined ? [] : [`${counted(gridsCut, 'grid')} cut into frames`]),
    ...(timedOutAgain === undefined ? [] : [timedOutWords(timedOutAgain)]),
    ...(putBack === undefined
      ? []
      : [`${counted(putBack, 'job')} refused and put back for a later run, nothing paid`]),
    ...(redosFailed === undefined ? [] : [`${count(redosFailed)} not made again (--redo)`]),
    ...redoWords(summary.redo),
  ].join(', ');
  const all = [
    ...(tokens === undefined ? [] : [tokens]),
    ...(summary.assumedTokens === undefined ? [] : [assumedTokenWords(summary.assumedTokens)]),
    ...(cost === undefined ? [] : [`cost ${money(cost)}`]),
    ...(possibleCost === undefined ? [] : [possibleCostWords(possibleCost, cost)]),
    ...(summary.unanswered === undefined ? [] : [unansweredWords(summary.unanswered)]),
  ].join(', ');
  const whole = all === '' ? '' : ` T${soFarWords(all).slice(1)}.`;
  return `${shownLine(`${pipeline}: ${endWords(end, slots)}`)} after ${took}. ${numbers}.${whole}`;
}

function redoWords(redo: RunSummary['redo']): readonly string[] {
  if (redo === undefined) return [];
  const left = redo.waiting + redo.begun;
  return [
    ...(redo.closed === 0
      ? []
      : [`the order to make ${counted(redo.closed, 'job')} anew (--redo) is closed`]),
    ...(left === 0 ? [] : [`${counted(left, 'job')} left to be made anew (--redo) by the next run`]),
  ];
}

function endWords(end: End, slots: RunSummary['slots']): string {
  switch (end.kind) {
    case 'complete':
      return endingWord(slots);
    case 'interrupted':
      return 'interrupted';
    case 'fail-fast':
      // Failures are listed below.
      return end.code === maxFailuresCode
        ? 'stopped after too many failures (--max-failures)'
        : 'stopped at the first failure (--fail-fast)';
    case 'stopped':
    case 'budget':
    case 'disk':
      return `stopped (${end.code}: ${end.message.replace(/\.$/, '')})`;
  }
}

function reasonLines(reasons: readonly Reason[]): readonly string[] {
  if (reasons.length === 0) return [];
  const shown = reasons.slice(0, maxReasons);
  const width = widest(shown.map(({ code }) => shownLine(code)));
  return [
    '',
    ...shown.map((reason) => {
      const { status, code, count: amount, accepted } = reason;
      const what = `${count(amount)} ${accepted ? 'accepted' : status === 'in-doubt' ? 'in doubt' : 'failed'}`;
      return `  ${what}  ${padEnd(shownLine(code), width)}  ${shownLine(messageText(reason))}`;
    }),
    ...(reasons.length > shown.length
      ? [`  and ${reasons.length - shown.length} other reasons: see the manifest`]
      : []),
    ...(reasons.every(({ accepted }) => accepted)
      ? []
      : ['  What each code means: schemas/errors.md of the promptpress package']),
  ];
}

function inDoubtLines({ inDoubt }: RunSummary): readonly string[] {
  if (inDoubt.length === 0) return [];
  return [
    '',
    'In doubt: the submission was sent and no response came, so the service may have made (and charged) it.',
    ...inDoubt.slice(0, 5).map((slot) => `  ${slot.job}  cell ${slot.cell}, ${slotWords(slot)}`),
    ...(inDoubt.length > 5 ? ['  and more: promptpress status lists them'] : []),
  ];
}

/** A budget covers the life of the directory, so the same command alone would stop at once. */
const goingOn = (end: End): string =>
  end.kind === 'budget' && end.code !== 'budget.max-submits'
    ? `continues here, once ${end.code} of the pipeline is raised`
    : 'continues where this run stopped';

const maxRetries = 3;

const retryWords = (failed: number): string =>
  `tries the ${failed === 1 ? 'failed job' : `${count(failed)} failed jobs`} again`;

/** Commands that retry jobs which may succeed without an edit. */
function retries(
  reasons: readonly Reason[],
  again: string,
  hasLate: boolean,
): readonly (readonly [string, string])[] {
  // Slots that failed before their submission have no job; only an edit or --redo helps.
  const asked = reasons.flatMap(({ status, code, count: all, unasked = 0, accepted }) =>
    status === 'failed' && all > unasked ? [{ code, count: all - unasked, accepted }] : [],
  );
  // Without a code, --retry-failed would also pay for accepted failures again.
  const open = asked.filter(({ code, accepted }) => accepted !== true && mayHelp(code));
  const [first] = open;
  if (first === undefined) return [];
  const submittedAgain = (code?: string): string =>
    hasLate && (code === undefined || code === 'task.timeout')
      ? '; what is still not finished is submitted again, and paid again'
      : '';
  const ofCode = `${again} --retry-failed --code`;
  if (open.length < asked.length)
    return open
      .slice(0, maxRetries)
      .map(({ code, count: failed }) => [
        `${ofCode} ${code}`,
        `${retryWords(failed)}${submittedAgain(code)}`,
      ]);
  const failed = open.reduce((sum, reason) => sum + reason.count, 0);
  return [
    [`${again} --retry-failed`, `${retryWords(failed)}${submittedAgain()}`],
    ...(reasons.length > 1
      ? [[`${ofCode} ${first.code}`, 'only those that failed for this reason'] as const]
      : []),
  ];
}

/** Edits of the pipeline file for failures that a retry cannot fix. */
function edits(reasons: readonly Reason[], file: string): readonly (readonly [string, string])[] {
  const said = reasons.flatMap(({ status, code, count: all, unasked, accepted }) =>
    status !== 'failed' || code === droppedCode || accepted
      ? []
      : (changeFor(code) ?? (unasked === all ? byMessage : [])),
  );
  return [...new Set(said)].slice(0, maxRetries).map((change) => [`edit ${file}`, change]);
}

/** Commands to copy, and edits where no command helps. */
function advice(
  { end, slots, reasons, inDoubt, directory, file, redo }: RunSummary,
  again: string,
  mayFind: boolean,
): readonly string[] {
  const lines: (readonly [string, string])[] = [];
  const unfinished = slots === undefined || unsettled(slots) > 0;
  const late = reasons.find(({ code, accepted }) => code === 'task.timeout' && !accepted)?.count ?? 0;
  const does = [
    ...(end.kind !== 'complete' && unfinished ? [goingOn(end)] : []),
    ...(late > 0
      ? [
          `polls the ${late === 1 ? 'task that was' : `${count(late)} tasks that were`} not finished in time once more: nothing is paid for ${late === 1 ? 'it' : 'them'}`,
        ]
      : []),
  ];
  if (does.length > 0) lines.push([again, does.join('; ')]);
  lines.push(...edits(reasons, file), ...retries(reasons, again, late > 0));
  if (redo !== undefined && redo.waiting + redo.begun > 0)
    lines.push([`${again} --redo-cancel`, 'drops what is left to be made anew']);
  if (slots !== undefined && slots['in-doubt'] > 0) {
    if (mayFind) lines.push([`${again} --in-doubt find`, finding]);
    const [first] = inDoubt;
    if (first !== undefined) {
      const { show, resolve } = jobCommands(directory);
      lines.push([show(first.job), 'shows the facts about the first job in doubt']);
      lines.push([
        `${resolve(first.job)} --task TASK_ID`,
        'the service made it: adopts its task (or --retry, or --drop)',
      ]);
    }
    lines.push([`${again} --in-doubt retry`, 'submits all jobs in doubt again: they may be paid twice']);
  }
  return tableLines(lines).map((line) => `  ${line}`);
}
