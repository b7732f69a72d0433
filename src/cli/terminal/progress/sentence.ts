import type { Progress } from '../../../app/progress/model.ts';
import { shownLine } from '../../../report/text/printable.ts';
import { activityParts, countParts, failureWords, leftWords, spendingParts, sumOf } from './figures.ts';

const firstMs = 10_000;
/** Build servers end a job that says nothing for ten minutes. */
const longestMs = 300_000;

/** When a run without a terminal says how far it is: soon at first, then ever more rarely. */
export class Intervals {
  #ms = firstMs;
  #due: number;

  /** @param startedAt Unix ms */
  constructor(startedAt: number) {
    this.#due = startedAt + this.#ms;
  }

  /** True when a line is due; the next one is due after twice the time. */
  isDue(now: number): boolean {
    if (now < this.#due) return false;
    this.#ms = Math.min(longestMs, this.#ms * 2);
    this.#due = now + this.#ms;
    return true;
  }
}

/** One line for logs and build servers: the clock, then what matters most. */
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

/** `21:54:03` where the user is; with the date once it is no longer the day on which the run began. */
function clockTime(now: number, startedAt: number): string {
  const [at, start] = [new Date(now), new Date(startedAt)];
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  if (at.toDateString() === start.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

const two = (value: number): string => String(value).padStart(2, '0');
