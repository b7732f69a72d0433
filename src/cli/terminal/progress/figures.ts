import type { Progress, StepProgress } from '../../../app/progress/model.ts';
import { columnsOf, cut } from '../../../pipeline/diagnostics/columns.ts';
import { totalTokens } from '../../../plan/usage.ts';
import { count, counted, money, rateWords, span, tokenWords } from '../../../report/text/amounts.ts';

/** The numbers of a progress in words, with how important each is: 0 matters most. */

/** A part of a line; the less important ones, with the higher ranks, are left out where there is no room. */
export interface Part {
  readonly text: string;
  readonly rank: number;
}

/** The parts that fit, in their order, with a comma between two; the most important one is cut if it must be. */
export function fitted(parts: readonly Part[], columns: number): string {
  let kept = parts;
  while (kept.length > 1 && columnsOf(joined(kept)) > columns) {
    const last = Math.max(...kept.map(({ rank }) => rank));
    const index = kept.findLastIndex(({ rank }) => rank === last);
    kept = kept.toSpliced(index, 1);
  }
  return cut(joined(kept), columns);
}

const joined = (parts: readonly Part[]): string => parts.map(({ text }) => text).join(', ');

/** `3 min 20 s`, in steps that a reader can follow: about a twentieth of it, never less than a second. */
export function leftSpan(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 20) return `${seconds} s`;
  if (seconds < 98) return `${nearest(seconds, 5)} s`;
  if (seconds < 595) {
    const rounded = nearest(seconds, 10);
    const rest = rounded % 60;
    return rest === 0 ? `${rounded / 60} min` : `${Math.floor(rounded / 60)} min ${rest} s`;
  }
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  return span(nearest(minutes, minutes < 600 ? 5 : 30) * 60_000);
}

const nearest = (value: number, step: number): number => Math.round(value / step) * step;

/** What stands first: how long it still takes. */
export function leftWords({ leftMs, open, stopping }: Progress, isNarrow = false): string {
  const about = isNarrow ? '' : 'about ';
  if (stopping)
    return leftMs === undefined || open === 0 ? 'stopping' : `stopping, ${about}${leftSpan(leftMs)}`;
  if (open === 0) return 'nothing left';
  return leftMs === undefined ? 'time left unknown' : `${about}${leftSpan(leftMs)} left`;
}

/** Counts of a step, or of all. */
export type Counts = Pick<StepProgress, 'done' | 'failed' | 'inDoubt' | 'skipped' | 'blocked' | 'total'> & {
  /** The total is an estimate. */
  readonly isAbout?: boolean;
};

export const countParts = ({
  done,
  total,
  failed,
  inDoubt,
  skipped,
  blocked,
  isAbout,
}: Counts): readonly Part[] => [
  {
    text: total === undefined ? count(done) : `${count(done)}/${isAbout ? '~' : ''}${count(total)}`,
    rank: 0,
  },
  ...some(failed, 'failed', 1),
  ...some(inDoubt, 'in doubt', 2),
  ...some(blocked, 'blocked', 3),
  ...some(skipped, 'skipped', 4),
];

const some = (value: number, word: string, rank: number): readonly Part[] =>
  value === 0 ? [] : [{ text: `${count(value)} ${word}`, rank }];

/** All steps together. */
export function sumOf({ steps, open }: Progress): Counts {
  const sum = { done: 0, failed: 0, inDoubt: 0, skipped: 0, blocked: 0 };
  let total: number | undefined = 0;
  for (const step of steps) {
    sum.done += step.done;
    sum.failed += step.failed;
    sum.inDoubt += step.inDoubt;
    sum.skipped += step.skipped;
    sum.blocked += step.blocked;
    total = total === undefined || step.total === undefined ? undefined : total + step.total;
  }
  const isAbout = total === undefined && open > 0;
  const settled = sum.done + sum.failed + sum.inDoubt + sum.skipped + sum.blocked;
  return { ...sum, total: total ?? settled + open, isAbout };
}

/** What is under way, how fast, and since when. */
export const activityParts = (progress: Progress, now: number): readonly Part[] => [
  { text: flightWords(progress), rank: 0 },
  { text: rateWords(progress.perMinute), rank: 1 },
  { text: `${span(now - progress.startedAt)} so far`, rank: 2 },
];

/** `12 tasks, 3 downloads, 2 texts in flight`. */
function flightWords({ tasks, downloads, texts }: Progress): string {
  const kinds = [
    ...(tasks > 0 || downloads + texts === 0 ? [counted(tasks, 'task')] : []),
    ...(downloads === 0 ? [] : [counted(downloads, 'download')]),
    ...(texts === 0 ? [] : [counted(texts, 'text')]),
  ];
  return `${kinds.join(', ')} in flight`;
}

/** Cost and tokens of this run, and of all runs where there were others; empty: nothing is counted. */
export function spendingParts({ cost, tokens, earlier }: Progress): readonly Part[] {
  const words = tokenWords(tokens);
  const allTokens = earlier.tokens + (tokens === undefined ? 0 : totalTokens(tokens));
  return [
    ...(cost === undefined && earlier.cost === 0
      ? []
      : [{ text: `cost ${money(cost ?? 0)}${earlier.cost === 0 ? '' : ' in this run'}`, rank: 0 }]),
    ...(earlier.cost === 0
      ? []
      : [{ text: `this directory so far ${money(earlier.cost + (cost ?? 0))}`, rank: 1 }]),
    ...(words === undefined ? [] : [{ text: words, rank: 2 }]),
    ...(earlier.tokens === 0 ? [] : [{ text: `this directory so far ${count(allTokens)} tokens`, rank: 3 }]),
  ];
}

/** `last failure: grid, cell 12: task.failed: banned prompt`; undefined: nothing failed. */
export function failureWords({ lastFailure }: Progress): string | undefined {
  if (lastFailure === undefined) return undefined;
  const { step, cell, error } = lastFailure;
  return `last failure: ${step}, cell ${cell}: ${error.code}: ${error.message}`;
}
