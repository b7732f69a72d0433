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
export interface NameUse {
  readonly step: string;
  readonly position: Position;
  /** Only a step that makes images will do. */
  readonly image: boolean;
}

/** A step as far as it could be read. What was not right is absent, and has been reported. */
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
  /** False when the path has mistakes: which branches there are is then unknown. */
  readonly pathKnown: boolean;
  readonly when?: Condition;
  readonly keep: boolean;
  readonly extra?: Readonly<Record<string, TemplateTree>>;
  readonly variables: readonly VariableUse[];
  readonly steps: readonly StepUse[];
  readonly names: readonly NameUse[];
  readonly images: readonly ImageUse[];
  /** False when some template has mistakes: what it uses is then unknown. */
  readonly usesKnown: boolean;
}
