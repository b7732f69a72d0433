import { cut } from '../../../pipeline/diagnostics/columns.ts';
import { isTextKind } from '../../../pipeline/kinds.ts';
import { pressNames } from '../../../plan/estimate/price.ts';
import type { JobError } from '../../facts/json-outputs.generated.ts';
import { counted, money, size, tokenWords, unansweredWords } from '../amounts.ts';
import { shownLine } from '../printable.ts';
import { type FactRow, factLines } from '../table.ts';
import { imageRows } from './image-calls.ts';
import type { JobReport } from './job.ts';
import { slotWords } from './mention.ts';

/** Formats the report of a job for users. Texts of files and services are made safe for a terminal. */
export function jobReportText(report: JobReport): string {
  return [
    `${report.job} in ${shownLine(report.directory)}: ${statusWords(report)}`,
    '',
    ...factLines(undefined, [
      ['asked by', askedWords(report)],
      ...requestRows(report),
      ...report.inputs.map((input): FactRow => ['continues', referenceWords(input)]),
      ['outdated', report.outdated ? outdatedWords : undefined],
      ...report.children.map((child): FactRow => ['leads to', referenceWords(child)]),
      ['leads to', report.moreChildren ? 'and more' : undefined],
      ['task', report.taskId === undefined ? undefined : shownLine(report.taskId)],
      ['reused from', report.reusedFrom && shownLine(report.reusedFrom)],
      ['submitted', report.submittedAt],
      ['settled', report.finishedAt],
      ...replyRows(report),
      ['cost', report.cost === undefined ? undefined : money(report.cost)],
      ['unanswered', report.doubtful && doubtfulWords(report.doubtful)],
      ['offers', report.buttons.length === 0 ? undefined : shownLine(report.buttons.join(', '))],
      ...report.artifacts.map((artifact): FactRow => ['file', artifactWords(artifact)]),
      ['frames', report.whole && wholeWords(report.whole, report.artifacts.length > 1)],
    ]),
    ...historyLines(report),
    ...errorLines(report),
    ...nextLines(report),
    '',
  ].join('\n');
}

const outdatedWords = 'a job that it came from was redone since (--redo): the next run redoes this one too';

function doubtfulWords({ count, cost }: NonNullable<JobReport['doubtful']>): string {
  return cost === undefined
    ? unansweredWords(count)
    : `${counted(count, 'submission')} without a response, which may have cost ${money(cost)}`;
}

function artifactWords({ file, bytes, width, height, mime, sha256 }: JobReport['artifacts'][number]): string {
  const pixels = width === undefined || height === undefined ? '' : `, ${width}×${height}`;
  return `${shownLine(file)}  ${size(bytes)}${pixels}, ${shownLine(mime)}\nsha256 ${sha256}`;
}

const wholeWords = ({ code, message }: NonNullable<JobReport['whole']>, hasSome: boolean): string =>
  `${hasSome ? 'not all those of the service' : 'none'} (${code}): ${shownLine(message)}`;

const places: Readonly<Record<JobReport['status'], string>> = {
  pending: 'waiting for its turn',
  submitting: 'being submitted',
  running: 'running on the service',
  modal: 'waiting for a dialog',
  saving: 'being downloaded',
  done: 'done',
  failed: 'failed',
  'in-doubt': 'in doubt',
  skipped: 'skipped (its optional button is not there)',
};

function statusWords({ status, inDoubt, running, error, request }: JobReport): string {
  if (status === 'submitting' && inDoubt) return 'in doubt (the run ended while it was being submitted)';
  if (status === 'submitting' && !running && isTextKind(request.kind))
    return 'to be asked again (the run ended before its answer came)';
  const code =
    error === undefined || status === 'done' || status === 'skipped' ? '' : ` (${shownLine(error.code)})`;
  const stalled = ['pending', 'submitting', 'running', 'modal', 'saving'].includes(status) && !running;
  return `${places[status]}${code}${stalled ? '; no run is on' : ''}`;
}

function askedWords({ asked }: JobReport): string {
  const { reason, replaces } = asked;
  const why = reason === 'new' ? 'new' : `changed: this place asked for ${replaces} before`;
  return `cell ${asked.cell}, ${slotWords(asked)}; ${why}`;
}

function referenceWords({ job, cell, step, branch, status, taskId }: JobReport['inputs'][number]): string {
  if (cell === undefined || step === undefined || status === undefined) return `${job}  not on record`;
  const task = taskId === undefined ? '' : `, task ${shownLine(taskId)}`;
  return `${job}  cell ${cell}, ${slotWords({ step, branch: branch ?? '' })}: ${places[status]}${task}`;
}

function requestRows(report: JobReport): readonly FactRow[] {
  const { request, prompt, speed, pressed } = report;
  const { prompt: _prompt, ...fields } = request.fields;
  const others = Object.entries({ ...fields, ...request.extra });
  return [
    ['asks for', request.press === undefined ? request.kind : `a click on ${pressWords(request.press)}`],
    ['pressed', pressed && pressedWords(pressed)],
    // The task of a click is the one that it continues.
    ['prompt', prompt === undefined ? undefined : shownLine(prompt)],
    ...imageRows(report),
    ...others.map(([name, value]): FactRow => ['with', shownLine(`${name}: ${JSON.stringify(value)}`)]),
    ['speed', speed],
  ];
}

const longestText = 500;

function replyRows({ answer, usage, rounds = [], unusable }: JobReport): readonly FactRow[] {
  const counted = tokenWords(usage);
  const { model, requestId, blockReason, candidates = [], reply } = answer ?? {};
  return [
    ...rounds.map(
      ({ calls }, index): FactRow => ['called', `round ${index + 1}: ${shownLine(calls.join(', '))}`],
    ),
    ['answered by', model === undefined ? undefined : shownLine(model)],
    ['blocked', blockReason === undefined ? undefined : shownLine(blockReason)],
    ...candidates.map(({ text, finishReason, passedOver = [] }): FactRow => {
      const shown = cut(shownLine(text), longestText);
      const read = passedOver.length === 0 ? '' : `\nread as JSON without ${passedOver.join(', ')}`;
      return [
        'answer',
        `${shown}${finishReason === undefined ? '' : `\n(${shownLine(finishReason)})`}${read}`,
      ];
    }),
    ['unusable', unusable === undefined ? undefined : `${unusable} answers before or with this one`],
    ['tokens', counted?.replace(/^tokens /, '')],
    ['request id', requestId === undefined ? undefined : shownLine(requestId)],
    ['whole answer', reply && lineWords(reply)],
  ];
}

const lineWords = ({ file, offset, length }: { file: string; offset: number; length: number }): string =>
  `${file}, ${length} bytes from byte ${offset}`;

const pressedWords = ({ label, emoji, customId }: NonNullable<JobReport['pressed']>): string =>
  `${shownLine(label || emoji)} (${shownLine(customId)})`;

type Presses = Extract<JobReport['request'], { kind: 'click' }>['press'];

const pressWords = (press: Presses): string => shownLine(pressNames(press).join(' | '));

const outcomes: Readonly<Record<string, string>> = {
  accepted: 'accepted',
  modal: 'opened a dialog',
  'queue-full': 'queue full: not accepted',
  refused: 'refused',
  throttle: 'too many requests: not accepted',
  unsent: 'never left this machine',
  stop: 'stopped the run',
  permanent: 'refused',
  lost: 'no response came',
  retry: 'failed in a way that may pass',
  unanswered: 'sent, no response on record',
  done: 'answered',
  calls: 'called functions, which were answered',
  invalid: 'answered, and the answer could not be used',
  failed: 'answered, and the answer could not be used',
  'task.failed': 'failed; to be submitted again',
  unread: 'not asked: an image could not be read',
  unwritten: 'answered, and the answer could not be written',
  'user.adopted': 'you adopted its task',
  'user.dropped': 'you gave it up',
  found: 'its task was found in the list of the service, and adopted',
  'found.unused': 'another task was found, and is not used',
  'user.retry': 'you let it be submitted again',
};

/** Describes the outcome of a dialog's confirmation. */
function outcomeWords(outcome: string): string {
  const [, ofModal] = /^modal\.(.+)$/.exec(outcome) ?? [];
  if (ofModal !== undefined) return `dialog answered: ${outcomes[ofModal] ?? shownLine(ofModal)}`;
  return outcomes[outcome] ?? shownLine(outcome);
}

function historyLines({ history, attempts }: JobReport): readonly string[] {
  if (history.length === 0) return [];
  return [
    '',
    `What happened (${counted(attempts, 'submission')} that may be paid):`,
    ...history.map(({ at, outcome, taskId, error }) => {
      const task = taskId === undefined ? '' : `: task ${shownLine(taskId)}`;
      const why = error === undefined ? '' : `: ${errorWords(error)}`;
      return `  ${at}  ${outcomeWords(outcome)}${task}${why}`;
    }),
  ];
}

function errorWords({ code, message, requestId, httpStatus }: JobError): string {
  const facts = [
    ...(httpStatus === undefined ? [] : [`status ${httpStatus}`]),
    ...(requestId === undefined ? [] : [`request id ${shownLine(requestId)}`]),
  ].join(', ');
  return `${shownLine(code)}: ${shownLine(message)}${facts === '' ? '' : ` (${facts})`}`;
}

const errorTitles: Readonly<Partial<Record<JobReport['status'], string>>> = {
  failed: 'Why it failed:',
  'in-doubt': 'Why it is in doubt:',
  skipped: 'Why it is skipped:',
};

function errorLines({ error, advice, status }: JobReport): readonly string[] {
  if (error === undefined) return [];
  return [
    '',
    errorTitles[status] ?? 'Last error:',
    `  ${errorWords(error)}`,
    ...(advice === undefined ? [] : [`  ${advice}`]),
  ];
}

function nextLines({ next }: JobReport): readonly string[] {
  if (next.length === 0) return [];
  return ['', 'Next:', ...next.flatMap(({ command, does }) => [`  ${command}`, `      ${does}`])];
}
