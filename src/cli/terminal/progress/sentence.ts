import type { Progress } from '../../../app/progress/model.ts';
import { shownLine } from '../../../report/text/printable.ts';
import { activityParts, countParts, failureWords, leftWords, spendingParts, sumOf } from './figures.ts';

const firstMs = 10_000;
/** Longest time in ms between two lines; some build servers end a job after ten minutes without output. */
const longestMs = 300_000;

/** Schedules progress lines without a terminal, with growing intervals. */
export class Intervals {
  #ms = firstMs;
  #due: number;

  /** @param startedAt Unix ms */
  constructor(startedAt: number) {
    this.#due = startedAt + this.#ms;
  }

  /** Whether a line is due. After one, the interval doubles. */
  isDue(now: number): boolean {
    if (now < this.#due) return false;
    this.#ms = Math.min(longestMs, this.#ms * 2);
    this.#due = now + this.#ms;
    return true;
  }
}

/** Formats the progress as one line with the time, for logs and build servers. */
export function progressSentence(progress: Progress, now: number): string {
  const [done, ...others] = countParts(sumOf(progress)).map(({ text }) => text);
  const failure = failureWords(progress);
  const words = [
    leftWords(progress),
    `${done} done`,
    ...others,
    ...activityParts(progress, now).map(({ text }) => text),
    ...spendingParts(progress).map(({ text }) => text),
    ...(failure === undefined ? [] : [failure]),
    ...(progress.notice === undefined ? [] : [progress.notice]),
  ];
  return shownLine(`${clockTime(now, progress.startedAt)} ${progress.name}: ${words.join(', ')}`);
}

/** Formats the local time `21:54:03`, with the date if it is not the day of the start. */
function clockTime(now: number, startedAt: number): string {
  const [at, start] = [new Date(now), new Date(startedAt)];
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  if (at.toDateString() === start.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

const two = (value: number): string => String(value).padStart(2, '0');
