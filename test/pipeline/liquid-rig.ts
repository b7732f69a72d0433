import type { DiagnosticDraft, Locate, Result } from '../../src/pipeline/diagnostics/diagnostic.ts';
import { compileCondition, compileTemplate } from '../../src/pipeline/templates/compile.ts';
import {
  type Condition,
  type Template,
  TemplateError,
  type TemplateScope,
} from '../../src/pipeline/templates/template.ts';
import { type Value, WrittenNumber } from '../../src/pipeline/values/value.ts';

/** Offsets as columns, so that a position in a test is one in the text it gives. */
export const inText: Locate = (offset, length) => ({ line: 1, column: offset + 1, length });

export const scopeOf = (
  vars: Record<string, Value> = {},
  rest: Partial<TemplateScope> = {},
): TemplateScope => ({ vars, repeat: 1, steps: {}, ...rest });

export const written = (source: string): WrittenNumber => new WrittenNumber(source, Number(source));

/** The value of a result that must be good; its errors are the failure's text. */
export function good<T>(result: Result<T, readonly DiagnosticDraft[]>): T {
  if (result.ok) return result.value;
  throw new Error(`refused: ${JSON.stringify(result.error)}`);
}

/** The errors of a result that must be bad, each with the text it marks. */
export function marked(
  text: string,
  result: Result<unknown, readonly DiagnosticDraft[]>,
): readonly (readonly [string, string])[] {
  if (result.ok) throw new Error(`accepted: ${text}`);
  return result.error.map(({ code, offset, length }) => [code, text.slice(offset, offset + length)] as const);
}

export const template = (source: string): Template => good(compileTemplate(source, inText));

const condition = (source: string): Condition => good(compileCondition(source, inText));

export const render = (source: string, vars?: Record<string, Value>, rest?: Partial<TemplateScope>): string =>
  template(source).render(scopeOf(vars, rest));

export const holds = (source: string, vars?: Record<string, Value>): boolean =>
  condition(source).holds(scopeOf(vars));

/** The error that must be thrown. */
export function thrown(run: () => unknown): TemplateError {
  let value: unknown;
  try {
    value = run();
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error(`nothing was thrown, but ${JSON.stringify(value)} given`);
}

/** True when every error of a refused text marks a part of it, and there is one. */
export const marksParts = (text: string, diagnostics: readonly DiagnosticDraft[]): boolean =>
  diagnostics.length > 0 &&
  diagnostics.every(({ offset, length }) => offset >= 0 && length >= 0 && offset + length <= text.length);

/** What a run comes to: the type of its value, or the code of its error. */
export function comesTo(run: () => unknown): string {
  try {
    return typeof run();
  } catch (error) {
    if (error instanceof TemplateError) return error.code;
    throw error;
  }
}
