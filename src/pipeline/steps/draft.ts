import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import type { Position } from '../diagnostics/diagnostic.ts';
import type { FileCheck } from '../files.ts';
import type { MatrixDraft } from '../matrix/draft.ts';
import type { Best, BranchAddress, PathSegment, Selector, StepKind, Thinking } from '../pipeline.ts';
import type { Condition, StepUse, Template, TemplateTree, VariableUse } from '../templates/template.ts';
import type { SourceMapping } from '../yaml/node.ts';

/** A place in a step that names an image (a file, an address or `parent`) or the file of a mask. */
export interface ImageUse {
  readonly text: string;
  readonly position: Position;
  readonly mask: boolean;
}

/** A use of another step by its bare name: `steps.grid` among images, `continue: grid`. */
export interface NamedStepUse {
  readonly step: string;
  readonly position: Position;
  /** Whether the step must make images. */
  readonly image: boolean;
}

/** The list of a step with `each`. */
export interface EachDraft {
  readonly list: Template;
  readonly max: number;
}

/** The readable parts of a step. An invalid part is absent, and has been reported. */
export interface StepDraft {
  readonly name: string;
  readonly kind?: StepKind;
  readonly node: SourceMapping;
  readonly position: Position;
  readonly from?: BranchAddress;
  readonly gather?: BranchAddress;
  /** Set if it picks from the jobs of `from`. */
  readonly best?: Omit<Best, 'over'>;
  readonly each?: EachDraft;
  /** Set if `gather` or `best` is over axes: their names and positions, undefined for `all`. */
  readonly over?: {
    readonly axes: readonly { readonly name: string; readonly position: Position }[] | undefined;
    readonly failed: 'block' | 'ignore';
    readonly position: Position;
  };
  readonly request: Readonly<Record<string, TemplateTree>>;
  readonly selector?: Selector;
  readonly path: readonly PathSegment[];
  /** False if the path has errors, so that its branches are unknown. */
  readonly pathKnown: boolean;
  readonly when?: Condition;
  readonly keep: boolean;
  readonly split?: true;
  readonly seed?: true;
  readonly extra?: Readonly<Record<string, TemplateTree>>;
  readonly variables: readonly VariableUse[];
  readonly steps: readonly StepUse[];
  readonly names: readonly NamedStepUse[];
  readonly images: readonly ImageUse[];
  /** False if a template has errors, so that the names it uses are unknown. */
  readonly usesKnown: boolean;
}

/** All steps of the pipeline by name. */
export type Steps = ReadonlyMap<string, StepDraft>;

/** The context of the checks of a step. */
export interface CheckContext {
  readonly steps: Steps;
  readonly matrix: MatrixDraft;
  /** How text models take thinking, as declared in the file. */
  readonly models: Readonly<Record<string, Thinking>>;
  readonly fileCheck: FileCheck;
  readonly collector: DiagnosticCollector;
}

/** Fields that are always text, whatever their template yields. */
export const textFields: ReadonlySet<string> = new Set(['prompt', 'system', 'model']);

/** Returns the selectors of a step: its own, then those of its path. */
export const selectorsOf = ({ selector, path }: StepDraft): readonly Selector[] => [
  ...(selector === undefined ? [] : [selector]),
  ...path.flatMap(({ selectors }) => selectors),
];
