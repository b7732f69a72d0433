import type { Each, OutputChoice, Selector, Step, StepKind } from '../../pipeline/pipeline.ts';
import type { Condition } from '../../pipeline/templates/template.ts';
import type { Press } from '../job-request.ts';
import type { RequestTemplate } from '../request/request.ts';

/**
 * A place: a slot that every cell has, with everything about it that is the same in every cell. The place of a wildcard or of a list has one
 * slot until the buttons or the items are known, then one slot for each of them.
 */
export interface SlotTemplate {
  /** Position in the manifest's order, from 0. */
  readonly index: number;
  readonly step: Step;
  readonly kind: StepKind;
  /** The place whose result this place continues; absent for a root. */
  readonly above?: SlotTemplate;
  /** For a step that gathers: the places whose jobs are gathered, in the manifest's order, all of one step. */
  readonly gathers?: {
    readonly step: string;
    readonly templates: ReadonlySet<SlotTemplate>;
    /** Set if it gathers over axes: the steps that the gathered ones need, and these, in the order of {@link SlotGraph.order}. */
    readonly steps?: readonly StepTemplates[];
  };
  /** Whether its request or its condition reads the list of what its step gathers over axes. */
  readonly readsGathered: boolean;
  /** 0 for the step's own operation, then the number of the path segment. */
  readonly level: number;
  /**
   * Set for a place of outputs (`grid/#1`): of the job at the place above it, so that it has no job and no slot of its own, and is not among
   * the templates of the graph. A place of `each` has several branches.
   */
  readonly output?: OutputChoice;
  /**
   * Set for a place of a pick (`best/1`): of one of the jobs or outputs that it is picked from, so that it has no job and no slot of its own,
   * and is not among the templates of the graph.
   */
  readonly pick?: { readonly number: number; readonly of: Picks };
  /** Places of its job's outputs that a path or an address names, by name. */
  readonly outputs: ReadonlyMap<string, SlotTemplate>;
  /** Name of its selector, or of its output; absent if nothing is pressed. */
  readonly segment?: string;
  /** The list whose items are branches of this place: see {@link unknownItem}. */
  readonly each?: Each & { readonly steps: readonly string[] };
  /** What its branch adds to that of the place above. */
  readonly segments: readonly string[];
  /** Upper bound of its slots in a cell, as far as the file says; a wildcard counts once. */
  readonly bound: number;
  readonly selector?: Selector;
  readonly wild: boolean;
  /**
   * The button of a branch of a wildcard (`U*`) that an address such as `grid/U1` names before the wildcard's buttons are known. This
   * place stands for that branch; its job is the same as that of the wildcard's slot with this name.
   */
  readonly named?: Press;
  /** For a named branch and its path: the place whose slots the manifest lists instead. */
  readonly copyOf?: SlotTemplate;
  /** For a wildcard: its branches that addresses name, by name. */
  readonly names: ReadonlyMap<string, SlotTemplate>;
  /**
   * Whether this place or one above it is a wildcard, so that the number of its slots is known only in the run. A step that gathers them
   * has one slot again.
   */
  readonly open: boolean;
  /** All buttons that lead to the place, as in the file. */
  readonly branch: readonly string[];
  /** Text for `slotIdIn`, of the branch as in the file. */
  readonly text: string;
  readonly depth: number;
  readonly request: RequestTemplate;
  /** The step's condition; absent on places of its path, which depend on the operation. */
  readonly when?: Condition;
  /** Whether the condition reads the result of a step. */
  readonly whenWaits: boolean;
  /** Steps whose results its condition or its request reads. */
  readonly waits: readonly string[];
  /** Whether some slot wants its files: its own step, unless that has `keep: false`, or a step that shows its images. */
  readonly keep: boolean;
  /** Set if its step cuts grids into frames. */
  readonly split?: true;
  /** Set if its step reads the seeds of grids. */
  readonly seed?: true;
  /** Whether nothing that it starts from, reads, shows or continues can be skipped during the run. */
  readonly sure: boolean;
  /**
   * Whether the place may be skipped during the run (an optional button, a condition on a result), or, for a step that gathers, some of
   * its inputs may be.
   */
  readonly maySkip: boolean;
  /** Whether its request is known only during the run, because of a result, a wildcard, or jobs that may be skipped. */
  readonly late: boolean;
  /** See `Slot.needs`. */
  readonly needs: ReadonlySet<number | string>;
  /** Places of the next segment of its path. */
  readonly below: readonly SlotTemplate[];
}

/** The branch segment of a list whose items are not known, or that has none; those of items are `[1]`, `[2]`, …. */
export const unknownItem = '[n]';

/** What a step picks from. */
export interface Picks {
  readonly step: Step & Required<Pick<Step, 'from' | 'best'>>;
  /** The places of what is picked from, in the manifest's order, all of one step. */
  readonly templates: ReadonlySet<SlotTemplate>;
  /** What is resolved in each cell to pick and to go on from a pick: steps in the order of {@link SlotGraph.order}. */
  readonly steps: readonly StepTemplates[];
}

/** The places of one step. */
export interface StepTemplates {
  readonly step: Step;
  /** Its own operations, one per place that it starts from; of a step that picks the places of its picks. */
  readonly operations: readonly SlotTemplate[];
  /** The step that it starts from, and the operation that continues each place. */
  readonly from?: { readonly step: string; readonly operations: ReadonlyMap<SlotTemplate, SlotTemplate> };
  /** Set for a step that picks. */
  readonly picks?: Picks;
}

/** The slots of every cell, as the steps of a pipeline determine them. */
export interface SlotGraph {
  /** Steps in file order. */
  readonly steps: ReadonlyMap<string, StepTemplates>;
  /** These and the steps that pick, in an order in which each comes after all that it needs. */
  readonly order: readonly StepTemplates[];
  /** Places in the manifest's order: steps as in the file, the branches of each depth first. */
  readonly templates: readonly SlotTemplate[];
}

/** A place that is being built. */
export type SlotTemplateDraft = { -readonly [Member in keyof SlotTemplate]: SlotTemplate[Member] } & {
  readonly names: Map<string, SlotTemplate>;
  readonly outputs: Map<string, SlotTemplate>;
};

/** Returns the places of the jobs that a place may stand for: its own, the one whose outputs it names, or those that it is picked from. */
export function jobPlaces(template: SlotTemplate): readonly SlotTemplate[] {
  const { pick, output, above } = template;
  if (pick !== undefined) return [...pick.of.templates].flatMap(jobPlaces);
  return [output === undefined || above === undefined ? template : above];
}
