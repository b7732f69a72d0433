import type { Position } from '../diagnostics/diagnostic.ts';
import type { JobErrorCode } from '../diagnostics/job-errors.ts';
import type { Value, WrittenNumber } from '../values/value.ts';

/** The data that a template can read: the cell's variables, its repeat, and the results of earlier steps. */
export interface TemplateScope {
  readonly vars: Readonly<Record<string, Value>>;
  /** Number of the repeat, from 1; always 1 in a pipeline without `repeat`. */
  readonly repeat: number;
  readonly steps: Readonly<Record<string, Readonly<Record<string, Value>>>>;
  /** Filters that calculate fail for what is no number; absent: they take it as 0. */
  readonly isExact?: true;
}

/**
 * Names that the branch of a step adds to the cell's variables, for its own templates and those of all that follows from it. Unless such a
 * branch is above, they are names like any other.
 */
export const localNames: ReadonlySet<string> = new Set(['item', 'item_index']);

/** A variable that a template reads: `medium.name` is `['medium', 'name']`. */
export interface VariableUse {
  readonly path: readonly string[];
  readonly position: Position;
  /** As in {@link StepUse}. */
  readonly output?: 'alone' | 'within';
  /** Number of levels of the step's path above the template; absent: none. */
  readonly level?: number;
}

/** Whether a use may be one of {@link localNames}. */
export const isLocal = ({ path: [root = ''] }: VariableUse): boolean => localNames.has(root);

/** A step's result that a template reads: for `steps.pick.json.best`, step `pick` and path `['json', 'best']`. */
export interface StepUse {
  readonly step: string;
  readonly path: readonly string[];
  readonly position: Position;
  /** Set if the value is output unchanged, without a filter: as the whole template, or as a part, which becomes text. */
  readonly output?: 'alone' | 'within';
}

/** An error in rendering a template for one cell; static errors are diagnostics instead. */
export class TemplateError extends Error {
  readonly code: JobErrorCode;

  constructor(code: JobErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TemplateError';
    this.code = code;
  }
}

/** A compiled Liquid template. It is pure: the same scope gives the same text. */
export interface Template {
  readonly source: string;
  readonly position: Position;
  /** Matrix variables (and `repeat`) that the template reads, in order of appearance. */
  readonly variables: readonly VariableUse[];
  readonly steps: readonly StepUse[];
  /** Renders to text. @throws TemplateError */
  render(scope: TemplateScope): string;
  /** Renders like `render`, but a template that is only `{{ x }}` keeps the type of x. @throws TemplateError */
  evaluate(scope: TemplateScope): Value;
}

/** JSON whose strings are templates, with numbers that keep their written form. */
export type TemplateTree =
  | Template
  | WrittenNumber
  | number
  | boolean
  | null
  | readonly TemplateTree[]
  | { readonly [name: string]: TemplateTree };

/** A Liquid condition (`when:`), as it would stand inside `{% if … %}`. */
export interface Condition {
  readonly source: string;
  readonly position: Position;
  readonly variables: readonly VariableUse[];
  readonly steps: readonly StepUse[];
  /** @throws TemplateError */
  holds(scope: TemplateScope): boolean;
}
