import { learnedContent, learnedText } from './learned.ts';
import type { TaskKind } from './task-kind.ts';

/** Number of recent tasks of a kind whose durations are kept. */
const maxRecent = 40;
/** Share of the recent tasks that end before the first poll. */
const earlyShare = 0.05;
/** Interval between polls, as a share of the usual duration. The end of a task is noticed half an interval late on average. */
const stepShare = 0.045;
/** Multiple of the usual duration from which on a task is overdue: intervals then grow with its age. */
const lateFactor = 2;
/** Interval between polls of an unknown or long overdue task, as a share of its age. */
const unknownShare = 0.25;
/** Largest number of separate kinds. Tasks of further kinds use the durations of their class. */
const maxKinds = 200;

/** The durations of recent tasks of a kind or class, oldest first. */
class Durations {
  /** Number of tasks that this was learned from, including those of earlier runs. */
  ends: number;
  /** Durations in ms. */
  readonly recent: number[];
  #sorted: readonly number[] | undefined;

  constructor(ends = 0, recent: readonly number[] = []) {
    this.ends = ends;
    this.recent = [...recent];
  }

  learn(ms: number): void {
    this.ends += 1;
    this.recent.push(ms);
    if (this.recent.length > maxRecent) this.recent.shift();
    this.#sorted = undefined;
  }

  /** @returns undefined if nothing is known */
  quantile(share: number): number | undefined {
    this.#sorted ??= this.recent.toSorted((one, other) => one - other);
    return this.#sorted[Math.floor(share * this.#sorted.length)];
  }

  /** Returns the age at which to poll a task next that was unfinished at `ageMs`; undefined if nothing is known. */
  nextAge(ageMs: number): number | undefined {
    const first = this.quantile(earlyShare);
    const usual = this.quantile(0.5);
    if (first === undefined || usual === undefined) return undefined;
    if (ageMs < first) return first;
    return ageMs + Math.max(stepShare * usual, (ageMs - lateFactor * usual) * unknownShare);
  }
}

/**
 * Decides when to poll a task again. Services do not say how often to poll (gateway 9.4): a task is polled from the age on at which the
 * first tasks of its kind have ended, at intervals of a share of their usual duration.
 */
export class PollPace {
  readonly #bounds: { readonly minMs: number; readonly maxMs: number };
  readonly #kinds = new Map<string, { readonly durations: Durations; readonly broader: string }>();
  readonly #classes = new Map<string, Durations>();
  /** All tasks, of any class. */
  readonly #all = new Durations();

  /** @param learned durations saved by an earlier run */
  constructor(bounds: { readonly minMs: number; readonly maxMs: number }, learned?: string) {
    this.#bounds = bounds;
    for (const { name, broader, ends, recent } of learnedKinds(learned)) {
      if (broader === '') this.#classes.set(name, new Durations(ends, recent));
      else this.#kinds.set(name, { durations: new Durations(ends, recent), broader });
    }
  }

  /** Learned durations to save for the next run; undefined where there are none. */
  get learned(): string | undefined {
    if (this.#classes.size === 0) return undefined;
    const classes = [...this.#classes].map(([name, durations]) => ({ name, broader: '', durations }));
    const kinds = [...this.#kinds].map(([name, kind]) => ({ name, ...kind }));
    const rows = [...classes, ...kinds]
      .toSorted((one, other) => other.durations.ends - one.durations.ends)
      .flatMap(({ name, broader, durations: { ends, recent } }) =>
        name.length > max.name ? [] : [[name, broader, ends, recent.map(Math.round)]],
      );
    return learnedText(version, rows.slice(0, max.kinds));
  }

  /**
   * Notes the end of a task that a poll has shown.
   *
   * @param polledMs age of the task at the poll before; undefined where there was none, negative where the clock was set back meanwhile
   * @param ageMs age of the task at the poll that showed the end
   */
  learn({ name, broader }: TaskKind, polledMs: number | undefined, ageMs: number): void {
    const kind = this.#kinds.get(name);
    if (kind === undefined && this.#kinds.size < maxKinds)
      this.#kinds.set(name, { durations: new Durations(), broader });
    if (!this.#classes.has(broader)) this.#classes.set(broader, new Durations());
    // A task that had ended before its first poll ended shortly before: else one such task would begin the polls far too early.
    const ms = polledMs === undefined ? 0.9 * ageMs : (Math.max(0, Math.min(polledMs, ageMs)) + ageMs) / 2;
    for (const durations of [this.#kinds.get(name)?.durations, this.#classes.get(broader), this.#all])
      durations?.learn(ms);
  }

  /**
   * Returns the milliseconds until the next poll of a task.
   *
   * @param sinceMs age of the task; negative where the clock was set back after its submission
   */
  nextMs({ name, broader }: TaskKind, sinceMs: number): number {
    const ageMs = Math.max(0, sinceMs);
    const { minMs, maxMs } = this.#bounds;
    const unknown = ageMs * (1 + unknownShare);
    const known =
      this.#kinds.get(name)?.durations.nextAge(ageMs) ?? this.#classes.get(broader)?.nextAge(ageMs);
    // An unknown class may take as long as others, or almost no time: polls use the geometric mean of both.
    const next = known ?? Math.sqrt(unknown * (this.#all.nextAge(ageMs) ?? unknown));
    return Math.round(Math.min(maxMs, Math.max(minMs, next - ageMs)));
  }
}

const version = 2;
/** Limits that keep a document far below its maximum length; kinds and classes with the most tasks are saved first. */
const max = { kinds: 72, name: 160 } as const;

interface LearnedKind extends TaskKind {
  readonly ends: number;
  readonly recent: readonly number[];
}

/** Reads saved durations of kinds, and of classes, whose `broader` is empty; none where the text is not a document of this release. */
const learnedKinds = (text: string | undefined): readonly LearnedKind[] =>
  learnedContent(text, version, (content) =>
    Array.isArray(content) ? content.slice(0, max.kinds).flatMap((row: unknown) => readKind(row)) : [],
  ) ?? [];

function readKind(row: unknown): readonly LearnedKind[] {
  const [name, broader, ends, recent] = Array.isArray(row) ? (row as readonly unknown[]) : [];
  if (typeof name !== 'string' || name === '' || typeof broader !== 'string') return [];
  if (!isCount(ends) || !Array.isArray(recent) || recent.length === 0) return [];
  return [{ name, broader, ends, recent: recent.slice(-maxRecent).filter(isCount) }];
}

const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1e9;

/** Durations of a kind of task, for display. */
export interface KindDuration {
  readonly kind: string;
  /** Number of finished tasks that this was learned from. */
  readonly tasks: number;
  /** Median duration of the last tasks in seconds. */
  readonly median: number;
  /** The 10th percentile, in seconds; `to` is the 90th. */
  readonly from: number;
  readonly to: number;
}

/** Returns the durations of each kind in a saved document, the kind with the most tasks first. */
export function learnedDurations(text: string | undefined): readonly KindDuration[] {
  return learnedKinds(text).flatMap(({ name, broader, ends, recent }) => {
    if (broader === '' || recent.length === 0) return [];
    const durations = new Durations(ends, recent);
    const seconds = (share: number): number =>
      Number(((durations.quantile(share) ?? 0) / 1000).toPrecision(3));
    return [{ kind: name, tasks: ends, median: seconds(0.5), from: seconds(0.1), to: seconds(0.9) }];
  });
}
