import type { Position } from '../diagnostics/diagnostic.ts';
import type { Value, WrittenNumber } from '../values/value.ts';

/** What a template may see: the cell's variables, its repeat, and the results of steps it comes after. */
export interface TemplateScope {
  readonly vars: Readonly<Record<string, Value>>;
  /** Counts from 1; a pipeline without `repeat` has repeat 1. */
  readonly repeat: number;
  readonly steps: Readonly<Record<string, Readonly<Record<string, Value>>>>;
}

/** A variable that a template reads: `medium.name` is `['medium', 'name']`. */
export interface VariableUse {
  readonly path: readonly string[];
  readonly position: Position;
}

/** A step's result that a template reads: `steps.pick.json.best` is step `pick`, path `['json', 'best']`. */
export interface StepUse {
  readonly step: string;
  readonly path: readonly string[];
  readonly position: Position;
  /** The value is output unchanged, without a filter: as the whole template, or as a part, which is text. */
  readonly output?: 'alone' | 'within';
}

/** Why a template could not be rendered for one cell; static errors are diagnostics instead. */
export class TemplateError extends Error {
  /** `template.undefined` | `template.object` | `template.filter` | `template.range` | `template.limit` | `template.no-json` */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TemplateError';
    this.code = code;
  }
}

/** A compiled Liquid template. Pure: the same scope gives the same text. */
export interface Template {
  readonly source: string;
  readonly position: Position;
  /** Matrix variables (and `repeat`) it reads, in order of appearance. */
  readonly variables: readonly VariableUse[];
  readonly steps: readonly StepUse[];
  /** Text. @throws TemplateError */
  render(scope: TemplateScope): string;
  /** Like render, but a template that is nothing but `{{ x }}` keeps the type of x. @throws TemplateError */
  evaluate(scope: TemplateScope): Value;
}

/** JSON whose strings are templates, with numbers that remember how they were written. */
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
