import type { Position } from '../diagnostics/diagnostic.ts';
import type { BranchAddress, PathSegment, Selector, StepKind } from '../pipeline.ts';
import type { Condition, StepUse, TemplateTree, VariableUse } from '../templates/template.ts';
import type { SourceMapping } from '../yaml/node.ts';

/** A place that names an image: a file, an address or `parent`; or the file of a mask. */
export interface ImageUse {
  readonly text: string;
  readonly position: Position;
  readonly mask: boolean;
}

/** A step that is waited for by its bare name: `steps.grid` among images, `continue: grid`. */
export interface NamedStepUse {
  readonly step: string;
  readonly position: Position;
  /** Only a step that makes images will do. */
  readonly image: boolean;
}

/** The parts of a step that could be read. An invalid part is absent, and has been reported. */
export interface StepDraft {
  readonly name: string;
  readonly kind?: StepKind;
  readonly node: SourceMapping;
  readonly position: Position;
  readonly from?: BranchAddress;
  readonly gather?: BranchAddress;
  readonly request: Readonly<Record<string, TemplateTree>>;
  readonly selector?: Selector;
  readonly path: readonly PathSegment[];
  /** False when the path has errors: its branches are then unknown. */
  readonly pathKnown: boolean;
  readonly when?: Condition;
  readonly keep: boolean;
  readonly split?: true;
  readonly extra?: Readonly<Record<string, TemplateTree>>;
  readonly variables: readonly VariableUse[];
  readonly steps: readonly StepUse[];
  readonly names: readonly NamedStepUse[];
  readonly images: readonly ImageUse[];
  /** False when a template has errors: the names it uses are then unknown. */
  readonly usesKnown: boolean;
}
