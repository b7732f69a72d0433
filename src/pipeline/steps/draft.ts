import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import type { Position } from '../diagnostics/diagnostic.ts';
import type { FileCheck } from '../files.ts';
import type { MatrixDraft } from '../matrix/draft.ts';
import type { BranchAddress, PathSegment, Selector, StepKind, Thinking } from '../pipeline.ts';
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

/** All steps of the pipeline by their names. */
export type Steps = ReadonlyMap<string, StepDraft>;

/** What the checks of a step know beside it. */
export interface CheckContext {
  readonly steps: Steps;
  readonly matrix: MatrixDraft;
  /** How text models take thinking, where the file says it. */
  readonly models: Readonly<Record<string, Thinking>>;
  readonly fileCheck: FileCheck;
  readonly collector: DiagnosticCollector;
}

/** Fields that are text for any result of their template. */
export const textFields: ReadonlySet<string> = new Set(['prompt', 'system', 'model']);

/** The selectors of a step: its own, then those of its path. */
export const selectorsOf = ({ selector, path }: StepDraft): readonly Selector[] => [
  ...(selector === undefined ? [] : [selector]),
  ...path.flatMap(({ selectors }) => selectors),
];
