import { err, ok, type Result } from '../../pipeline/diagnostics/diagnostic.ts';
import { suggestion } from '../../pipeline/diagnostics/did-you-mean.ts';
import type { Slot } from '../slot.ts';
import { stepNamed } from './order.ts';
import { type SlotGraph, type SlotTemplate } from './slot-template.ts';

/** The part of a plan that `--only` chooses. */
export interface ChosenSteps {
  /** Steps with at least one chosen slot, in file order. */
  readonly steps: ReadonlySet<string>;
  /** Indexes of the chosen places. */
  readonly places: ReadonlySet<number>;
  /** Whether a slot belongs to a named step, or is needed by one. */
  includes(slot: Slot): boolean;
}

/** An error for a requested step that does not exist. */
export interface UnknownStep {
  readonly code: 'plan.unknown-step';
  readonly message: string;
  readonly hint: string;
}

/**
 * Chooses the named steps with all that they need: the branches that they start from (`from: grid/U1` needs the grid and its U1, not U2
 * to U4, which would be paid for nothing), everything that they gather, and the steps that their templates read, whose images they show
 * or that they continue. Without names, all steps are chosen.
 */
export function chosenSteps(
  plan: { readonly slotGraph: SlotGraph },
  only: readonly string[] | undefined,
): Result<ChosenSteps, UnknownStep> {
  const { steps, order, templates } = plan.slotGraph;
  if (only === undefined || only.length === 0)
    return ok({
      steps: new Set(steps.keys()),
      places: new Set(templates.keys()),
      includes: () => true,
    });
  for (const name of only) {
    if (steps.has(name)) continue;
    if (order.some(({ step, picks }) => picks !== undefined && step.name === name))
      return err({
        code: 'plan.unknown-step',
        message: `Step "${name}" picks from the jobs of others and has none of its own.`,
        hint: 'Name a step that goes on from it, which chooses all that it needs, or the steps that it reads.',
      });
    return err({
      code: 'plan.unknown-step',
      message: `The pipeline has no step "${name}".`,
      hint: suggestion(name, [...steps.keys()], 'steps'),
    });
  }

  const needed = new Set<SlotTemplate>();
  const open = templates.filter(({ step }) => only.includes(step.name));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // One branch of a wildcard needs the wildcard itself, which finds and presses it.
    const template = next.copyOf ?? next;
    if (needed.has(template)) continue;
    needed.add(template);
    if (template.above !== undefined) open.push(template.above);
    if (template.gathers !== undefined) open.push(...template.gathers.templates);
    if (template.pick !== undefined) open.push(...template.pick.of.templates);
    for (const name of [...template.waits, ...template.request.names])
      open.push(...stepNamed(steps, name).operations);
  }
  const indexes = new Set(
    [...needed]
      .filter(({ output, pick }) => output === undefined && pick === undefined)
      .map(({ index }) => index),
  );
  const chosen = new Set(templates.filter((template) => needed.has(template)).map(({ step }) => step.name));
  return ok({
    steps: chosen,
    places: indexes,
    includes: ({ place, step }) => (place === undefined ? chosen.has(step) : indexes.has(place)),
  });
}
