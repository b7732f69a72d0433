import type { Step } from '../../pipeline/pipeline.ts';

/** Orders steps so that each comes after all it needs; otherwise the file's order stays. */
export function orderSteps(steps: readonly Step[]): readonly Step[] {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const ordered = new Set<Step>();
  const open = new Set<Step>();
  const visit = (step: Step): void => {
    if (ordered.has(step)) return;
    if (open.has(step)) throw new Error(`Internal error: step "${step.name}" comes after itself.`);
    open.add(step);
    for (const name of step.after) visit(stepNamed(byName, name));
    open.delete(step);
    ordered.add(step);
  };
  for (const step of steps) visit(step);
  return [...ordered];
}

/** Returns the step with a name. Validation knows every name, so a missing one is a bug of ours. */
export function stepNamed<T>(steps: ReadonlyMap<string, T>, name: string): T {
  const step = steps.get(name);
  if (step === undefined) throw new Error(`Internal error: no step is named "${name}".`);
  return step;
}
