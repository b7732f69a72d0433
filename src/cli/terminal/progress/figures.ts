import type { Progress, StepProgress } from '../../../app/progress/model.ts';
import { columnsOf, cut } from '../../../pipeline/diagnostics/columns.ts';
import { totalTokens } from '../../../plan/usage.ts';
import { count, counted, money, rateWords, span, tokenWords } from '../../../report/text/amounts.ts';

/** Figures of the progress as texts with ranks; rank 0 is the most important. */

/** A part of a line. Parts with higher ranks are left out first if the line is too long. */
export interface Part {
  readonly text: string;
  readonly rank: number;
}

/** Joins the parts that fit into a width, with commas. The most important part is cut if necessary. */
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

/** Formats a duration like `3 min 20 s`, rounded to about a twentieth but at least to seconds. */
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

/** Formats the time left, which begins the line. */
export function leftWords({ leftMs, open, stopping }: Progress, isNarrow = false): string {
  const about = isNarrow ? '' : 'about ';
  if (stopping)
    return leftMs === undefined || open === 0 ? 'stopping' : `stopping, ${about}${leftSpan(leftMs)}`;
  if (open === 0) return 'nothing left';
  return leftMs === undefined ? 'time left unknown' : `${about}${leftSpan(leftMs)} left`;
}

/** Counts of one step or of all steps. */
export type Counts = Pick<
  StepProgress,
  'done' | 'failed' | 'inDoubt' | 'skipped' | 'blocked' | 'accepted' | 'total'
> & {
  /** Whether the total is an estimate. */
  readonly isAbout?: boolean;
};

export const countParts = ({
  done,
  total,
  failed,
  inDoubt,
  skipped,
  blocked,
  accepted,
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
  ...some(accepted, 'failed as accepted', 5),
];

const some = (value: number, word: string, rank: number): readonly Part[] =>
  value === 0 ? [] : [{ text: `${count(value)} ${word}`, rank }];

/** Sums the counts of all steps. */
export function sumOf({ steps, open }: Progress): Counts {
  const sum = { done: 0, failed: 0, inDoubt: 0, skipped: 0, blocked: 0, accepted: 0 };
  let total: number | undefined = 0;
  for (const step of steps) {
    sum.done += step.done;
    sum.failed += step.failed;
    sum.inDoubt += step.inDoubt;
    sum.skipped += step.skipped;
    sum.blocked += step.blocked;
    sum.accepted += step.accepted;
    total = total === undefined || step.total === undefined ? undefined : total + step.total;
  }
  const isAbout = total === undefined && open > 0;
  return { ...sum, total: total ?? settledOf(sum) + open, isAbout };
}

/** Returns the number of jobs that are settled. */
export const settledOf = ({ done, failed, inDoubt, skipped, blocked, accepted }: Counts): number =>
  done + failed + inDoubt + skipped + blocked + accepted;

/** Returns parts for the work in flight, the speed and the elapsed time. */
export const activityParts = (progress: Progress, now: number): readonly Part[] => [
  { text: flightWords(progress), rank: 0 },
  { text: rateWords(progress.perMinute), rank: 1 },
  { text: `${span(now - progress.startedAt)} so far`, rank: 2 },
];

/** Formats the work in flight: `12 tasks, 3 downloads, 2 texts in flight`. */
function flightWords({ tasks, downloads, texts }: Progress): string {
  const kinds = [
    ...(tasks > 0 || downloads + texts === 0 ? [counted(tasks, 'task')] : []),
    ...(downloads === 0 ? [] : [counted(downloads, 'download')]),
    ...(texts === 0 ? [] : [counted(texts, 'text')]),
  ];
  return `${kinds.join(', ')} in flight`;
}

/** Returns parts for the cost and tokens of this run, and of earlier runs if there are any; empty if nothing was counted. */
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

/** Formats the last failure: `last failure: grid, cell 12: task.failed: banned prompt`; undefined if there is none. */
export function failureWords({ lastFailure }: Progress): string | undefined {
  if (lastFailure === undefined) return undefined;
  const { step, cell, error } = lastFailure;
  return `last failure: ${step}, cell ${cell}: ${error.code}: ${error.message}`;
}
