import type { SlotGraph } from '../../../plan/graph/slot-template.ts';
import type { PageStep } from '../wire.ts';

/** Branches of a step that are named; what wildcards find comes from the service. */
const mostBranches = 1000;

interface Counted {
  readonly kind: string;
  /** By name: where the plan has it. */
  readonly branches: Map<string, number>;
  results: number;
}

/** Counts the results of each step, and notes its branches. */
export class StepCounter {
  readonly #steps: ReadonlyMap<string, Counted>;

  constructor({ steps }: Pick<SlotGraph, 'steps'>) {
    this.#steps = new Map(
      [...steps].map(([name, { step }]) => [name, { kind: step.kind, branches: new Map(), results: 0 }]),
    );
  }

  /** One result. @param place of its slot in the plan */
  add(name: string, branch: string, place: number): void {
    const step = this.#steps.get(name);
    if (step === undefined) return;
    step.results += 1;
    if (!step.branches.has(branch) && step.branches.size < mostBranches) step.branches.set(branch, place);
  }

  /** In file order. */
  steps(): readonly PageStep[] {
    return [...this.#steps].map(([name, { kind, branches, results }]) => ({
      name,
      kind,
      branches: [...branches].sort(([, one], [, other]) => one - other).map(([branch]) => branch),
      results,
    }));
  }
}
