import type { StepNow } from '../../results/run-ledger.ts';

/** One kind of work in a step: its own operations (level 0), or what the buttons at one level of its path make. */
export interface StepWork {
  readonly level: number;
  /** Number of slots of this work in each cell. */
  readonly slots: number;
  /** True if a wildcard decides how many slots there are. */
  readonly open: boolean;
  /** Branches of this work, as events name them; those of wildcards are not known. */
  readonly branches: readonly string[];
  /** Slots that one slot of this work needs, directly or not, and how many of each. */
  readonly needs: readonly { readonly step: string; readonly level: number; readonly slots: number }[];
  /** Work that one slot of this work needs directly. */
  readonly after: readonly { readonly step: string; readonly level: number }[];
  /** Usual duration in earlier runs, ms; absent: not known. */
  readonly usualMs?: number;
}

/** A step before the run starts, and the known facts about its work. */
export interface StepStart extends StepNow {
  /** Jobs that are left, as far as is known; work that waits for results is counted in full. */
  readonly left: number;
  /** Jobs per slot: less than 1 where slots share jobs. */
  readonly jobsPerSlot: number;
  /** The work of the step in the order of levels; empty: nothing is known about it. */
  readonly work: readonly StepWork[];
}

/** Default for the work of a step about which nothing is known. */
export const wholeStep: StepWork = { level: 0, slots: 1, open: false, branches: [], needs: [], after: [] };

/** Returns a function that finds the level of a branch; for a branch of a wildcard it follows from the branch's length. */
export function levelIn(work: readonly StepWork[]): (branch: string) => number {
  const known = new Map(work.flatMap(({ level, branches }) => branches.map((branch) => [branch, level])));
  const shortest = Math.min(
    ...[...known].filter(([, level]) => level === 0).map(([branch]) => segments(branch)),
    99,
  );
  const last = work.at(-1)?.level ?? 0;
  return (branch) => known.get(branch) ?? Math.max(0, Math.min(last, segments(branch) - shortest));
}

const segments = (branch: string): number =>
  branch === '' ? 0 : branch.replaceAll(/"[^"]*"/g, '').split('/').length;
