import type { SlotTemplate } from '../graph/slot-template.ts';
import { inputsOf, type JobSpec } from '../job.ts';
import { isTextKind } from '../job-request.ts';
import type { Slot } from '../slot.ts';

/** A slot with what those below it ask of it. */
export interface Resolved {
  readonly template: SlotTemplate;
  readonly above: Resolved | undefined;
  readonly slot: Slot;
  /** The slot's prompt, where the pipeline says it: a suggested one is shown, and made no key of. */
  readonly said?: string;
  readonly dependency: DependencyState;
  /** Its job was done and is being redone, or is to be: its former result stands until then. */
  readonly stands: boolean;
}

/** What a slot means for all that follows from it. */
export type DependencyState =
  /** Its result is there. */
  | { readonly kind: 'done' }
  /** Not settled yet, or in doubt: what follows waits. `made`: only files are missing, as below. */
  | { readonly kind: 'open'; readonly made?: true }
  /** What follows is skipped, or blocked, for this reason. */
  | {
      readonly kind: 'skipped' | 'blocked';
      readonly cause: string;
      /** Only files are missing: what presses its buttons does not need them. */
      readonly made?: true;
    };

/**
 * The slot above, where its prompt is the nearest one of an image. The buttons of a describe draw what it suggests, not
 * what its own image was drawn from, and what a text model was asked is no prompt of an image.
 */
export const drawnAbove = (above: Resolved | undefined): Resolved | undefined =>
  above === undefined || above.template.kind === 'describe' || isTextKind(above.template.kind)
    ? undefined
    : above;

/** A job that gathers one job has the key of one that continues it: both are the same in all they say. */
export function oneParent(keys: Pick<JobSpec, 'parent' | 'inputs'>): Pick<JobSpec, 'parent' | 'inputs'> {
  const [parent, ...more] = inputsOf(keys);
  return parent === undefined || more.length > 0 ? keys : { parent };
}
