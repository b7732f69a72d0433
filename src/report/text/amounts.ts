import type { TokenUsage } from '../../plan/job.ts';
import type { SameFilesFound } from '../../results/same-files.ts';
import type { KindDuration } from '../../run/limits/polls.ts';
import type { HowFar } from '../facts/json-outputs.generated.ts';
import { shownLine } from './printable.ts';

/** Formats a count, `12,345` in every locale, so that logs can be compared. */
export const count = (value: number): string =>
  String(Math.round(value)).replaceAll(/\B(?=(?:\d{3}){1,7}$)/g, ',');

/** Formats a number with its noun: `1 job`, `12 jobs`. */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** Formats a duration: `8 s`, `4 min`, `2 h 10 min`, `3 d 4 h`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Formats a cost without a currency, because only the pipeline's prices define it. */
export const money = (value: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: value < 1 ? 4 : 2 });

/** Names a sum over the life of a directory, to distinguish it from the spending of one run. */
export const soFarWords = (spent: string): string => `this directory so far: ${spent}`;

/**
 * Describes possible cost: `up to 3.20 more for submissions without a response, or replies without a token count`. If no cost is known,
 * `more` is left out.
 */
export const possibleCostWords = (possibleCost: number, cost: number | undefined): string =>
  `up to ${money(possibleCost)} ${cost === undefined ? '' : 'more '}for submissions without a response, or replies without a token count`;

/** Describes submissions without a response: `2 submissions without an answer, possibly paid`. */
export const unansweredWords = (unanswered: number): string =>
  `${counted(unanswered, 'submission')} without an answer, possibly paid`;

/** A note on files that several jobs share: often the service had removed the images and sent one picture for all. */
export const sameFilesWords = ({ jobs, contents, example }: SameFilesFound): string =>
  `${counted(jobs, 'job')} have files with the same bytes as another job's (${counted(contents, 'different content')}; ${counted(example.jobs, 'job')} have those of ${example.file}, such as ${example.first} and ${example.second})`;

/** A note on tasks that were submitted again after a timeout at the gateway and may be paid twice. */
export const timedOutWords = (tasks: number): string =>
  `${counted(tasks, 'task')} timed out at the gateway and ${tasks === 1 ? 'was' : 'were'} paid again (links, double blanks, line ends and parameters at their default, such as --q 1, in prompts often cause that)`;

/** Formats the rate of settled jobs: `37 jobs/min`, `0.4 jobs/min`. */
export const rateWords = (perMinute: number): string =>
  `${perMinute >= 10 || perMinute === 0 ? count(perMinute) : perMinute.toFixed(1)} jobs/min`;

/** Describes progress: `40 of at most 120 settled (33 %), about 3 min left`. */
export const howFarWords = ({ total, settled, percent, atMost, leftMs }: HowFar): string =>
  `${count(settled)} of ${atMost ? 'at most ' : ''}${count(total)} settled (${percent} %)${leftMs === undefined ? '' : `, about ${span(leftMs)} left`}`;

/** Formats a size: `12.3 MB`. */
export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Describes the tokens assumed for replies without a token count. */
export const assumedTokenWords = (tokens: number): string =>
  `about ${count(tokens)} tokens estimated where the service counted none`;

/**
 * Formats tokens: `tokens 1,200 in, 340 out, 2,000 thoughts`. Tokens that tools added to the prompt are in. Unknown counts are left out;
 * undefined if all are.
 */
export function tokenWords(usage: TokenUsage | undefined): string | undefined {
  if (usage === undefined) return undefined;
  const { prompt, tool, candidates, thoughts, other, total } = usage;
  const into = prompt === undefined && tool === undefined ? undefined : (prompt ?? 0) + (tool ?? 0);
  const parts = [
    ...(into === undefined ? [] : [`${count(into)} in`]),
    ...(candidates === undefined ? [] : [`${count(candidates)} out`]),
    ...(thoughts === undefined ? [] : [`${count(thoughts)} thoughts`]),
  ];
  if (parts.length > 0 && other) parts.push(`${count(other)} other`);
  if (parts.length > 0) return `tokens ${parts.join(', ')}`;
  return total === undefined ? undefined : `tokens ${count(total)}`;
}

/** Describes the durations of tasks: `58 s, mostly 41 s to 85 s, from 120 tasks`. */
export const durationWords = ({ median, from, to, tasks }: KindDuration): string =>
  `${seconds(median)}, mostly ${seconds(from)} to ${seconds(to)}, from ${counted(tasks, 'task')}`;

const seconds = (value: number): string => `${Number(value.toPrecision(value < 10 ? 1 : 2))} s`;

/** Says why slots for groups of cells are still to do where the run has done all that its flags chose. */
export function leftOutLines({
  leftOut = {},
}: {
  readonly leftOut?: Readonly<Record<string, number>>;
}): readonly string[] {
  const slots = Object.entries(leftOut).map(([step, amount]) => `${count(amount)} of ${shownLine(step)}`);
  return slots.length === 0
    ? []
    : [
        '',
        `Still to do: ${slots.join(', ')}, which gather results that the flags of the run left out. A run of the whole plan makes them.`,
      ];
}
