import { levels } from '../../machine/poll/watch.ts';
import { learnedContent, learnedText } from '../learned.ts';
import { bins, DurationHistogram } from './durations.ts';
import type { KeptKind } from './kind-model.ts';
import { type ProgressCount, ratios } from './progress-map.ts';

/** A kind of task, as it is kept for the next run. */
export interface LearnedKind extends KeptKind {
  readonly name: string;
  /** The broader class that it belongs to. */
  readonly broader: string;
}

/** A broader class of tasks, as it is kept for the next run. */
export interface LearnedClass extends KeptKind {
  readonly name: string;
  readonly progress: readonly ProgressCount[];
}

/** What is kept of the durations of tasks. */
export interface LearnedPolls {
  readonly kinds: readonly LearnedKind[];
  readonly classes: readonly LearnedClass[];
}

const version = 1;
/** The most kinds and classes that are kept: those of which most is known. A document stays far below its maximum length. */
const most = { kinds: 60, classes: 12, name: 160 } as const;

type Counts = KeptKind['counts'];

/** The document. Weights are kept in hundredths. */
export const learnedPollsText = ({ kinds, classes }: LearnedPolls): string =>
  learnedText(version, {
    kinds: mostKnown(kinds, most.kinds).map(({ name, broader, ends, counts }) => [
      name,
      broader,
      ends,
      hundredths(counts),
    ]),
    classes: mostKnown(classes, most.classes).map(({ name, ends, counts, progress }) => [
      name,
      ends,
      hundredths(counts),
      progress.map(([ratio, level, count]) => [ratio, level, Math.round(count * 100)]),
    ]),
  });

const mostKnown = <T extends KeptKind & { readonly name: string }>(all: readonly T[], count: number) =>
  all
    .filter(({ ends, name }) => ends > 0 && name.length <= most.name)
    .toSorted((a, b) => b.ends - a.ends)
    .slice(0, count);

const hundredths = (counts: Counts): Counts =>
  counts.map(([bin, weight]) => [bin, Math.round(weight * 100)] as const).filter(([, weight]) => weight > 0);

/** What a document says; undefined: it says nothing that this release could have written. */
export const learnedPolls = (text: string | undefined): LearnedPolls | undefined =>
  learnedContent(text, version, readPolls);

function readPolls(content: unknown): LearnedPolls | undefined {
  if (typeof content !== 'object' || content === null) return undefined;
  const { kinds, classes } = content as { readonly kinds?: unknown; readonly classes?: unknown };
  return { kinds: rowsOf(kinds, most.kinds, readKind), classes: rowsOf(classes, most.classes, readClass) };
}

function readKind([name, broader, ends, counts]: readonly unknown[]): LearnedKind | undefined {
  return isName(name) && isName(broader) && isCount(ends)
    ? { name, broader, ends, counts: countsOf(counts) }
    : undefined;
}

function readClass([name, ends, counts, progress]: readonly unknown[]): LearnedClass | undefined {
  return isName(name) && isCount(ends)
    ? { name, ends, counts: countsOf(counts), progress: progressOf(progress) }
    : undefined;
}

const countsOf = (value: unknown): Counts =>
  rowsOf(value, bins, ([bin, weight]) =>
    isBelow(bin, bins) && isCount(weight) ? ([bin, weight / 100] as const) : undefined,
  );

const progressOf = (value: unknown): readonly ProgressCount[] =>
  rowsOf(value, ratios * levels, ([ratio, level, count]) =>
    isBelow(ratio, ratios) && isBelow(level, levels) && isCount(count)
      ? ([ratio, level, count / 100] as const)
      : undefined,
  );

function rowsOf<T>(
  value: unknown,
  count: number,
  read: (row: readonly unknown[]) => T | undefined,
): readonly T[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, count).flatMap((row: unknown) => {
    const found = Array.isArray(row) ? read(row as readonly unknown[]) : undefined;
    return found === undefined ? [] : [found];
  });
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= most.name;
const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1e9;
const isBelow = (value: unknown, end: number): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < end;

/** How long tasks of a kind take, for people. */
export interface KindDuration {
  readonly kind: string;
  /** Finished tasks that this was learned from. */
  readonly tasks: number;
  /** Half of the tasks take no longer, in seconds. */
  readonly median: number;
  /** A tenth takes no longer than `from`, a tenth longer than `to`, in seconds. */
  readonly from: number;
  readonly to: number;
}

/** What a document says of each kind, the one with most tasks first. */
export function learnedDurations(text: string | undefined): readonly KindDuration[] {
  return (learnedPolls(text)?.kinds ?? []).flatMap(({ name, ends, counts }) => {
    const histogram = new DurationHistogram(1);
    histogram.restore(counts, 1);
    if (histogram.isEmpty) return [];
    const seconds = (share: number): number => Number((histogram.quantile(share) / 1000).toPrecision(3));
    return [{ kind: name, tasks: ends, median: seconds(0.5), from: seconds(0.1), to: seconds(0.9) }];
  });
}
