import type { BranchAddress } from '../pipeline.ts';
import type { StepDraft, Steps } from './draft.ts';

/** A step that picks from the jobs of others. */
export type BestDraft = StepDraft & Required<Pick<StepDraft, 'from' | 'best'>>;

export const isBest = (step: StepDraft | undefined): step is BestDraft =>
  step?.from !== undefined && step.best !== undefined;

/** Returns the number of the pick that a branch of a `best` names; undefined for any other text. */
export const pickNumber = (branch: string | undefined): number | undefined =>
  branch !== undefined && /^[1-9]\d{0,2}$/.test(branch) ? Number(branch) : undefined;

/** Returns what an address means without `best`: where it names picks, all that they are picked from. */
export function pickedFrom(address: BranchAddress, steps: Steps, seen = new Set<string>()): BranchAddress {
  const target = steps.get(address.step);
  // Another check reports circular steps.
  if (!isBest(target) || seen.has(target.name)) return address;
  seen.add(target.name);
  const { picks: _picks, outputs: _outputs, ...written } = address;
  const { step, segments, outputs, picks = 1 } = pickedFrom(target.from, steps, seen);
  return {
    ...written,
    step,
    segments,
    ...(outputs === undefined ? {} : { outputs }),
    picks: Math.max(picks, pickNumber(address.segments[0]) === undefined ? target.best.top : 1),
  };
}

/**
 * Returns the steps as the checks of single steps see them that know nothing of `best`: what follows from a pick follows from all that it
 * is picked from. A `best` with a mistake stays away, and so do the addresses of what follows from it.
 */
export function withoutBests(all: readonly StepDraft[]): readonly StepDraft[] {
  const steps: Steps = new Map(all.map((step) => [step.name, step]));
  return all
    .filter(({ node }) => !node.entries.has('best'))
    .map(({ from, gather, ...step }) => ({
      ...step,
      ...(from === undefined ? {} : { from: pickedFrom(from, steps) }),
      ...(gather === undefined ? {} : { gather: pickedFrom(gather, steps) }),
    }));
}
