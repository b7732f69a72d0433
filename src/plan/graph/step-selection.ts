import { err, ok, type Result } from '../../pipeline/diagnostics/diagnostic.ts';
import { suggestion } from '../../pipeline/diagnostics/did-you-mean.ts';
import type { Slot } from '../slot.ts';
import { stepNamed } from './order.ts';
import type { SlotGraph, SlotTemplate } from './slot-template.ts';

/** What `--only` leaves of a plan. */
export interface ChosenSteps {
  /** Steps with at least one chosen slot, in file order. */
  readonly steps: ReadonlySet<string>;
  /** Indexes of the chosen places. */
  readonly places: ReadonlySet<number>;
  /** True for the slots of the named steps, and for exactly those that they need. */
  includes(slot: Slot): boolean;
}

/** A step that does not exist was asked for. */
export interface UnknownStep {
  readonly code: 'plan.unknown-step';
  readonly message: string;
  readonly hint: string;
}

/**
 * The named steps, with what they need: the branches that they start from (`from: grid/U1` needs the grid and its U1,
 * not U2 to U4, which would be paid for nothing), all that they gather, and the steps that templates of all these read, whose images
 * they show or that they continue. No names choose everything.
 */
export function chosenSteps(
  plan: { readonly slotGraph: SlotGraph },
  only: readonly string[] | undefined,
): Result<ChosenSteps, UnknownStep> {
  const { steps, templates } = plan.slotGraph;
  if (only === undefined || only.length === 0)
    return ok({
      steps: new Set(steps.keys()),
      places: new Set(templates.keys()),
      includes: () => true,
    });
  for (const name of only) {
    if (steps.has(name)) continue;
    return err({
      code: 'plan.unknown-step',
      message: `The pipeline has no step "${name}".`,
      hint: suggestion(name, [...steps.keys()], 'steps'),
    });
  }

  const needed = new Set<SlotTemplate>();
  const open = templates.filter(({ step }) => only.includes(step.name));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // One branch of a wildcard needs the wildcard: what it finds, it presses.
    const template = next.copyOf ?? next;
    if (needed.has(template)) continue;
    needed.add(template);
    if (template.above !== undefined) open.push(template.above);
    if (template.gathers !== undefined) open.push(...template.gathers.templates);
    for (const name of [...template.waits, ...template.request.names])
      open.push(...stepNamed(steps, name).operations);
  }
  const indexes = new Set([...needed].map(({ index }) => index));
  const chosen = new Set(templates.filter((template) => needed.has(template)).map(({ step }) => step.name));
  return ok({
    steps: chosen,
    places: indexes,
    includes: ({ place, step }) => (place === undefined ? chosen.has(step) : indexes.has(place)),
  });
}
