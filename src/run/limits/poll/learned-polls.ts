import { levels } from '../../machine/poll/watch.ts';
import { learnedContent, learnedText } from '../learned.ts';
import { bins, DurationHistogram } from './durations.ts';
import type { KeptKind } from './kind-model.ts';
import { type ProgressCount, ratios } from './progress-map.ts';

/** Saved durations of a kind of task. */
export interface LearnedKind extends KeptKind {
  readonly name: string;
  /** Name of the broader class of the kind. */
  readonly broader: string;
}

/** Saved durations of a broader class of tasks. */
export interface LearnedClass extends KeptKind {
  readonly name: string;
  readonly progress: readonly ProgressCount[];
}

/** Saved durations of all kinds and classes of tasks. */
export interface LearnedPolls {
  readonly kinds: readonly LearnedKind[];
  readonly classes: readonly LearnedClass[];
}

const version = 1;
/** Limits that keep a document far below its maximum length; kinds and classes with the most tasks are saved first. */
const max = { kinds: 60, classes: 12, name: 160 } as const;

type Counts = KeptKind['counts'];

/** Serializes durations. Weights are saved in hundredths. */
export const learnedPollsText = ({ kinds, classes }: LearnedPolls): string =>
  learnedText(version, {
    kinds: maxKnown(kinds, max.kinds).map(({ name, broader, ends, counts }) => [
      name,
      broader,
      ends,
      hundredths(counts),
    ]),
    classes: maxKnown(classes, max.classes).map(({ name, ends, counts, progress }) => [
      name,
      ends,
      hundredths(counts),
      progress.map(([ratio, level, count]) => [ratio, level, Math.round(count * 100)]),
    ]),
  });

const maxKnown = <T extends KeptKind & { readonly name: string }>(all: readonly T[], count: number) =>
  all
    .filter(({ ends, name }) => ends > 0 && name.length <= max.name)
    .toSorted((a, b) => b.ends - a.ends)
    .slice(0, count);

const hundredths = (counts: Counts): Counts =>
  counts.map(([bin, weight]) => [bin, Math.round(weight * 100)] as const).filter(([, weight]) => weight > 0);

/** Reads saved durations; undefined where the text is not a document of this release. */
export const learnedPolls = (text: string | undefined): LearnedPolls | undefined =>
  learnedContent(text, version, readPolls);

function readPolls(content: unknown): LearnedPolls | undefined {
  if (typeof content !== 'object' || content === null) return undefined;
  const { kinds, classes } = content as { readonly kinds?: unknown; readonly classes?: unknown };
  return { kinds: rowsOf(kinds, max.kinds, readKind), classes: rowsOf(classes, max.classes, readClass) };
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
  typeof value === 'string' && value !== '' && value.length <= max.name;
const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1e9;
const isBelow = (value: unknown, end: number): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < end;

/** Durations of a kind of task, for display. */
export interface KindDuration {
  readonly kind: string;
  /** Number of finished tasks that this was learned from. */
  readonly tasks: number;
  /** Median duration in seconds. */
  readonly median: number;
  /** The 10th percentile, in seconds; `to` is the 90th. */
  readonly from: number;
  readonly to: number;
}

/** Returns the durations of each kind in a saved document, the kind with the most tasks first. */
export function learnedDurations(text: string | undefined): readonly KindDuration[] {
  return (learnedPolls(text)?.kinds ?? []).flatMap(({ name, ends, counts }) => {
    const histogram = new DurationHistogram(1);
    histogram.restore(counts, 1);
    if (histogram.isEmpty) return [];
    const seconds = (share: number): number => Number((histogram.quantile(share) / 1000).toPrecision(3));
    return [{ kind: name, tasks: ends, median: seconds(0.5), from: seconds(0.1), to: seconds(0.9) }];
  });
}
