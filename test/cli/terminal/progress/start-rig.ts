import type { Progress, ProgressStart, StepProgress, StepStart } from '../../../../src/app/progress/model.ts';
import { noCounts } from '../../../../src/results/run-ledger.ts';

/** A step before a run, of which a test says what matters to it. */
export function stepStart(
  name: string,
  {
    counts: some = {},
    ...more
  }: Partial<Omit<StepStart, 'counts'>> & { readonly counts?: Partial<StepStart['counts']> } = {},
): StepStart {
  const counts = { ...noCounts, ...some };
  const left = (more.total ?? 0) - counts.done - counts.failed - counts['in-doubt'];
  return { name, isText: false, counts, left, ...more };
}

/** A run before it begins. */
export const runStart = (
  steps: readonly StepStart[] = [],
  rest: Partial<ProgressStart> = {},
): ProgressStart => ({
  name: 'foxes',
  steps,
  cells: 1,
  earlier: { cost: 0, tokens: 0 },
  ...rest,
});

/** How far a step is. */
export const stepProgress = (name: string, counts: Partial<StepProgress> = {}): StepProgress => ({
  name,
  done: 0,
  failed: 0,
  inDoubt: 0,
  skipped: 0,
  blocked: 0,
  accepted: 0,
  active: 0,
  ...counts,
});

/** How far a run is. */
export const progressOf = (steps: readonly StepProgress[], rest: Partial<Progress> = {}): Progress => ({
  name: 'foxes',
  startedAt: 1_000_000,
  steps,
  open: 10,
  tasks: 3,
  downloads: 0,
  texts: 0,
  earlier: { cost: 0, tokens: 0 },
  perMinute: 12,
  stopping: false,
  ...rest,
});
