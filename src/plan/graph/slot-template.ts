import type { Selector, Step, StepKind } from '../../pipeline/pipeline.ts';
import type { Condition } from '../../pipeline/templates/template.ts';
import type { Press } from '../job-request.ts';
import type { RequestTemplate } from '../request/request.ts';

/**
 * Where every cell has a slot, and all about that slot that is the same in every cell. A wildcard's place holds one
 * slot until its buttons are known, then one for each.
 */
export interface SlotTemplate {
  /** Position in the manifest's order, from 0. */
  readonly index: number;
  readonly step: Step;
  readonly kind: StepKind;
  /** The place whose result it continues; absent for a root. */
  readonly above?: SlotTemplate;
  /** Of a step that gathers: the places whose jobs it takes in, in the manifest's order, all of one step. */
  readonly gathers?: { readonly step: string; readonly templates: ReadonlySet<SlotTemplate> };
  /** 0 is the step's own operation, then the path's segments. */
  readonly level: number;
  /** What its own selector is called; absent where nothing is pressed. */
  readonly segment?: string;
  readonly selector?: Selector;
  readonly wild: boolean;
  /**
   * An address such as `grid/U1` names one branch of a wildcard (`U*`) before it is known whether there is one. This is the
   * template of that branch. Pressed by that name, it has the same job as the wildcard's slot of that name.
   */
  readonly named?: Press;
  /** Of a named branch and what its path presses on it: the place whose slots the manifest lists in its stead. */
  readonly copyOf?: SlotTemplate;
  /** Of a wildcard: its branches that addresses name, by name. */
  readonly names: ReadonlyMap<string, SlotTemplate>;
  /**
   * It, or a place above it, is a wildcard: how many slots it stands for is known only in the run. What gathers them
   * is one slot again.
   */
  readonly open: boolean;
  /** All buttons that lead to it, as the file says them. */
  readonly branch: readonly string[];
  /** See `slotIdIn`; of the branch as the file says it. */
  readonly text: string;
  readonly depth: number;
  readonly request: RequestTemplate;
  /** The step's condition; what its path presses only follows. */
  readonly when?: Condition;
  /** Its condition reads the result of a step. */
  readonly whenWaits: boolean;
  /** Steps whose results its condition or its request reads. */
  readonly waits: readonly string[];
  /** Some slot wants its files: its own step, unless that says `keep: false`, or one that shows its images. */
  readonly keep: boolean;
  /** Its step cuts grids into frames. */
  readonly split?: true;
  /** Nothing that it starts from, reads, shows or continues may turn out to be skipped during the run. */
  readonly sure: boolean;
  /**
   * Whether it runs may turn out only during the run (an optional button, a condition on a result), or of a step that
   * gathers: which of its inputs do.
   */
  readonly maySkip: boolean;
  /**
   * What it asks for turns out only during the run: of a result that is read, a wildcard, or jobs that it gathers, shows or
   * continues and that may be skipped.
   */
  readonly late: boolean;
  /** See `Slot.needs`. */
  readonly needs: ReadonlySet<number | string>;
  /** The next segment of its path. */
  readonly below: readonly SlotTemplate[];
}

/** One step's places. */
export interface StepTemplates {
  readonly step: Step;
  /** Its own operations, one per place that it starts from. */
  readonly operations: readonly SlotTemplate[];
  /** The step it starts from, and which operation continues which place. */
  readonly from?: { readonly step: string; readonly operations: ReadonlyMap<SlotTemplate, SlotTemplate> };
}

/** All that a pipeline's steps say about any cell. */
export interface SlotGraph {
  /** In file order. */
  readonly steps: ReadonlyMap<string, StepTemplates>;
  /** Each step after all that it needs. */
  readonly order: readonly StepTemplates[];
  /** In the manifest's order: steps as in the file, each one's branches depth first. */
  readonly templates: readonly SlotTemplate[];
}

/** A place while it is laid out. */
export type SlotTemplateDraft = { -readonly [Member in keyof SlotTemplate]: SlotTemplate[Member] } & {
  readonly names: Map<string, SlotTemplate>;
};
