import type { BranchAddress, PathSegment, Selector } from '../pipeline.ts';
import { isOfOutputs } from './branch.ts';
import type { StepDraft, Steps } from './draft.ts';

/** A number of things that is known only to lie between `least` and `most`. */
export interface Count {
  readonly least: number;
  readonly most: number;
}

const one: Count = { least: 1, most: 1 };

/** A count that is never reached, yet small enough to multiply. */
export const countless = 1e6;

export const times = (a: Count, b: Count): Count => ({
  least: Math.min(countless, a.least * b.least),
  most: Math.min(countless, a.most * b.most),
});

const maybe = ({ most }: Count): Count => ({ least: 0, most });

function pressed({ alternatives, optional }: Selector): Count {
  if (alternatives.some(({ kind }) => kind === 'wildcard')) return { least: 0, most: countless };
  return optional ? maybe(one) : one;
}

const allOf = ({ selectors }: PathSegment): Count =>
  selectors.map(pressed).reduce((a, b) => ({ least: a.least + b.least, most: a.most + b.most }));

/** The levels of a path down to its last jobs: outputs at its end are none. */
const jobLevels = (path: readonly PathSegment[]): readonly PathSegment[] =>
  path.slice(0, path.findLastIndex((segment) => !isOfOutputs(segment)) + 1);

/** How many outputs a job of a step has. The frames of grids are four. */
const each = ({ split }: StepDraft): Count =>
  split === true ? { least: 1, most: 4 } : { least: 0, most: countless };

/** Returns how many jobs, or outputs of jobs, of a cell an address means, as far as the pipeline alone determines that. */
export function jobsAt(
  { segments, outputs = {}, picks }: BranchAddress,
  target: StepDraft,
  steps: Steps,
  seen: Set<StepDraft> = new Set(),
): Count {
  if (picks !== undefined) return { least: 0, most: picks };
  return segments.reduce(
    (count, branch, level) => {
      if (branch === '**') return jobLevels(target.path).slice(level).map(allOf).reduce(times, count);
      const output = outputs[branch];
      if (output !== undefined) return output === 'each' ? times(count, each(target)) : count;
      const segment = target.path[level];
      if (segment === undefined) return count;
      if (branch === '*') return times(count, allOf(segment));
      const selector = segment.selectors.find(({ name }) => name === branch);
      // A wildcard may find this branch.
      return times(count, selector === undefined ? maybe(one) : { ...pressed(selector), most: 1 });
    },
    jobsOf(target, steps, seen),
  );
}

function jobsOf(step: StepDraft, steps: Steps, seen: Set<StepDraft>): Count {
  const { from, each, selector, when } = step;
  const target = from === undefined ? undefined : steps.get(from.step);
  // Another check reports circular steps.
  if (from !== undefined && (target === undefined || seen.has(step))) return { least: 0, most: countless };
  seen.add(step);
  const above = from === undefined || target === undefined ? one : jobsAt(from, target, steps, seen);
  const fanned = each === undefined ? above : times(above, { least: 0, most: each.max });
  const own = selector === undefined ? fanned : times(fanned, pressed(selector));
  return when === undefined ? own : maybe(own);
}
