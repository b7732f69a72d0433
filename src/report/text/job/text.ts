import { cut } from '../../../pipeline/diagnostics/terminal-text.ts';
import { pressNames } from '../../../plan/estimate/price.ts';
import type { JobError } from '../../../plan/job.ts';
import { counted, money, size, tokenWords } from '../amounts.ts';
import { printable } from '../printable.ts';
import { padEnd, widest } from '../table.ts';
import { imageRows } from './image-calls.ts';
import type { JobStory } from './job.ts';
import { type JobMention, slotWords } from './mention.ts';

/** The story of a job for people. All that a file or a service said is made harmless. */
export function storyText(story: JobStory): string {
  return [
    `${story.job} in ${printable(story.directory)}: ${statusWords(story)}`,
    '',
    ...table([
      ['asked by', askedWords(story)],
      ...requestRows(story),
      ...story.inputs.map((input): Row => ['continues', mentionWords(input)]),
      ...(story.outdated ? [['outdated', outdatedWords] as const] : []),
      ...story.children.map((child): Row => ['leads to', mentionWords(child)]),
      ...(story.moreChildren ? [['leads to', 'and more'] as const] : []),
      ...(story.taskId === undefined ? [] : [['task', printable(story.taskId)] as const]),
      ...(story.submittedAt === undefined ? [] : [['submitted', story.submittedAt] as const]),
      ...(story.finishedAt === undefined ? [] : [['settled', story.finishedAt] as const]),
      ...answerRows(story),
      ...(story.cost === undefined ? [] : [['cost', money(story.cost)] as const]),
      ...(story.doubtful === undefined ? [] : [['in doubt', doubtfulWords(story.doubtful)] as const]),
      ...(story.buttons.length === 0 ? [] : [['offers', printable(story.buttons.join(', '))] as const]),
      ...story.artifacts.map(
        ({ file, bytes, width, height, mime, sha256 }): Row => [
          'file',
          `${printable(file)}  ${size(bytes)}${width === undefined || height === undefined ? '' : `, ${width}×${height}`}, ${printable(mime)}\nsha256 ${sha256}`,
        ],
      ),
    ]),
    ...historyLines(story),
    ...errorLines(story),
    ...nextLines(story),
    '',
  ].join('\n');
}

const outdatedWords = 'what it came from was made anew since (--redo): the next run makes this anew too';

function doubtfulWords({ count, cost }: NonNullable<JobStory['doubtful']>): string {
  const submits = `${counted(count, 'submission')} that nobody answered`;
  return cost === undefined ? submits : `${submits}, which may have cost ${money(cost)}`;
}

type Row = readonly [string, string];

function table(rows: readonly Row[]): readonly string[] {
  const width = widest(rows.map(([name]) => name));
  let last = '';
  return rows.flatMap(([name, text]) => {
    const shown = name === last ? '' : name;
    last = name;
    const [first = '', ...more] = text.split('\n');
    return [`  ${padEnd(shown, width)}  ${first}`, ...more.map((line) => `  ${' '.repeat(width)}  ${line}`)];
  });
}

const places: Readonly<Record<JobStory['status'], string>> = {
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

function statusWords({ status, inDoubt, running, error }: JobStory): string {
  if (status === 'submitting' && inDoubt) return 'in doubt (the run ended while it was being submitted)';
  const code =
    error === undefined || status === 'done' || status === 'skipped' ? '' : ` (${printable(error.code)})`;
  const stalled = ['pending', 'submitting', 'running', 'modal', 'saving'].includes(status) && !running;
  return `${places[status]}${code}${stalled ? '; no run is on' : ''}`;
}

function askedWords({ asked }: JobStory): string {
  const { reason, replaces } = asked;
  const why = reason === 'new' ? 'new' : `changed: this place asked for ${replaces} before`;
  return `cell ${asked.cell}, ${slotWords(asked)}; ${why}`;
}

function mentionWords({ job, cell, step, branch, status, taskId }: JobMention): string {
  if (cell === undefined || step === undefined || status === undefined) return `${job}  not on record`;
  const task = taskId === undefined ? '' : `, task ${printable(taskId)}`;
  return `${job}  cell ${cell}, ${slotWords({ step, branch: branch ?? '' })}: ${places[status]}${task}`;
}

function requestRows(story: JobStory): readonly Row[] {
  const { request, prompt, speed, pressed } = story;
  const { prompt: _prompt, ...fields } = request.fields;
  const others = Object.entries({ ...fields, ...request.extra });
  return [
    ['asks for', request.kind === 'click' ? `a click on ${pressWords(request.press)}` : request.kind],
    ...(pressed === undefined ? [] : [['pressed', pressedWords(pressed)] as const]),
    // Of a click it is that of what it continues.
    ...(prompt === undefined ? [] : [['prompt', printable(prompt)] as const]),
    ...imageRows(story),
    ...others.map(([name, value]): Row => ['with', printable(`${name}: ${JSON.stringify(value)}`)]),
    ...(speed === undefined ? [] : [['speed', speed] as const]),
  ];
}

/** More of a text than this is in its file. */
const longestText = 500;

function answerRows({ answer, usage, rounds = [], unusable }: JobStory): readonly Row[] {
  const counted = tokenWords(usage);
  const { model, requestId, blockReason, candidates = [], file } = answer ?? {};
  return [
    ...rounds.map(
      ({ calls }, index): Row => ['called', `round ${index + 1}: ${printable(calls.join(', '))}`],
    ),
    ...(model === undefined ? [] : [['answered by', printable(model)] as const]),
    ...(blockReason === undefined ? [] : [['blocked', printable(blockReason)] as const]),
    ...candidates.map(({ text, finishReason }): Row => {
      const shown = cut(printable(text), longestText);
      return ['answer', finishReason === undefined ? shown : `${shown}\n(${printable(finishReason)})`];
    }),
    ...(unusable === undefined ? [] : [['unusable', `${unusable} answers before or with this one`] as const]),
    ...(counted === undefined ? [] : [['tokens', counted.replace(/^tokens /, '')] as const]),
    ...(requestId === undefined ? [] : [['request id', printable(requestId)] as const]),
    ...(file === undefined ? [] : [['whole answer', printable(file)] as const]),
  ];
}

const pressedWords = ({ label, emoji, customId }: NonNullable<JobStory['pressed']>): string =>
  `${printable(label || emoji)} (${printable(customId)})`;

type Presses = Extract<JobStory['request'], { kind: 'click' }>['press'];

const pressWords = (press: Presses): string => printable(pressNames(press).join(' | '));

/** What an answer, or a decision, is called. */
const outcomes: Readonly<Record<string, string>> = {
  accepted: 'accepted',
  modal: 'opened a dialog',
  'queue-full': 'queue full: not taken on',
  refused: 'refused',
  throttle: 'too many requests: not taken on',
  unsent: 'never left this machine',
  stop: 'stopped the run',
  permanent: 'refused',
  lost: 'no answer came',
  retry: 'failed in a way that may pass',
  unanswered: 'sent, no answer on record',
  done: 'answered',
  calls: 'called functions, which were answered',
  invalid: 'answered, and the answer could not be used',
  failed: 'answered, and the answer could not be used',
  'task.failed': 'failed; to be submitted again',
  unread: 'not asked: an image could not be read',
  unwritten: 'answered, and the answer could not be written',
  'user.adopted': 'you took its task on',
  'user.dropped': 'you gave it up',
  found: 'its task was found among those that the service lists, and taken on',
  'found.unused': 'another task was found, which nothing uses',
  'user.retry': 'you let it be submitted again',
};

/** Of the answer to a dialog, what became of that. */
function outcomeWords(outcome: string): string {
  const [, ofModal] = /^modal\.(.+)$/.exec(outcome) ?? [];
  if (ofModal !== undefined) return `dialog answered: ${outcomes[ofModal] ?? printable(ofModal)}`;
  return outcomes[outcome] ?? printable(outcome);
}

function historyLines({ history, attempts }: JobStory): readonly string[] {
  if (history.length === 0) return [];
  return [
    '',
    `What happened (${counted(attempts, 'submission')} that may be paid):`,
    ...history.map(({ at, outcome, taskId, error }) => {
      const task = taskId === undefined ? '' : `: task ${printable(taskId)}`;
      const why = error === undefined ? '' : `: ${errorWords(error)}`;
      return `  ${at}  ${outcomeWords(outcome)}${task}${why}`;
    }),
  ];
}

function errorWords({ code, message, requestId, httpStatus }: JobError): string {
  const facts = [
    ...(httpStatus === undefined ? [] : [`status ${httpStatus}`]),
    ...(requestId === undefined ? [] : [`request id ${printable(requestId)}`]),
  ].join(', ');
  return `${printable(code)}: ${printable(message)}${facts === '' ? '' : ` (${facts})`}`;
}

const errorTitles: Readonly<Partial<Record<JobStory['status'], string>>> = {
  failed: 'Why it failed:',
  'in-doubt': 'Why it is in doubt:',
  skipped: 'Why it is skipped:',
};

function errorLines({ error, advice, status }: JobStory): readonly string[] {
  if (error === undefined) return [];
  return [
    '',
    errorTitles[status] ?? 'Last error:',
    `  ${errorWords(error)}`,
    ...(advice === undefined ? [] : [`  ${advice}`]),
  ];
}

function nextLines({ next }: JobStory): readonly string[] {
  if (next.length === 0) return [];
  return ['', 'Next:', ...next.flatMap(({ command, does }) => [`  ${command}`, `      ${does}`])];
}
