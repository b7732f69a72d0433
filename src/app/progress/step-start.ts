import type { StepNow } from '../../results/run-ledger.ts';

/** A kind of work of a step: its own operations (level 0), or what the buttons at one level of its path make. */
export interface StepWork {
  readonly level: number;
  /** Slots of it in each cell. */
  readonly slots: number;
  /** A wildcard decides how many there are. */
  readonly open: boolean;
  /** Its branches, as events name them; those of wildcards are not known. */
  readonly branches: readonly string[];
  /** What one slot of it needs, directly or not, and how many slots of each. */
  readonly needs: readonly { readonly step: string; readonly level: number; readonly slots: number }[];
  /** What one slot of it needs directly. */
  readonly after: readonly { readonly step: string; readonly level: number }[];
  /** Usual duration in earlier runs, ms; absent: not known. */
  readonly usualMs?: number;
}

/** A step before the run starts, and what is known of the work in it. */
export interface StepStart extends StepNow {
  /** What the run has to do, as far as is known: what waits for results is counted as if it comes. */
  readonly left: number;
  /** Jobs for each slot: less than 1 where slots share jobs. */
  readonly jobsPerSlot: number;
  /** In the order of levels; empty: nothing is known of what the step is made of. */
  readonly work: readonly StepWork[];
}

/** Stands for the work of a step of which nothing is known. */
export const wholeStep: StepWork = { level: 0, slots: 1, open: false, branches: [], needs: [], after: [] };

/** The level of a branch in a step; that of a branch that a wildcard found follows from its length. */
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
