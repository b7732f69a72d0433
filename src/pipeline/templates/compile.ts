import {
  type FilteredValueToken,
  isTruthy,
  LiquidError,
  type Template as LiquidNode,
  Value as LiquidValue,
  Output,
  Tokenizer,
  toValue,
  toValueSync,
} from 'liquidjs';
import { type DiagnosticDraft, draft, err, type Locate, ok, type Parsed } from '../diagnostics/diagnostic.ts';
import { cutText } from '../diagnostics/terminal-text.ts';
import { analyseCondition, analyseNodes, type NameUse } from './analyze.ts';
import { BoundedParser, engine, UnsupportedTag } from './engine.ts';
import { operatorSlip, unclosedSlip } from './expression.ts';
import { plainReader, plainRenderer } from './fast-path.ts';
import { templateLimits } from './limits.ts';
import { explain, renderOutput, renderText } from './render.ts';
import { openContext } from './scope.ts';
import type { Condition, StepUse, Template, VariableUse } from './template.ts';

/** Whether a text contains Liquid tags. */
export const hasTags = (text: string): boolean => text.includes('{{') || text.includes('{%');

/** Turns an error thrown by liquidjs while parsing into a diagnostic. */
function parseDiagnostic(thrown: unknown, source: string): DiagnosticDraft {
  if (thrown instanceof RangeError) {
    return draft('template.too-deep', 'The template is nested too deeply.', 0, source.length);
  }
  if (!LiquidError.is(thrown)) throw thrown;
  const { originalError, token } = thrown;
  const offset = Math.min(token.begin, source.length);
  // A tag without content ends before it begins.
  const length = Math.max(0, Math.min(token.end, source.length) - offset);
  if (originalError instanceof UnsupportedTag) {
    const { code, message, hint } = originalError;
    return draft(code, message, offset, length, hint);
  }
  const text = (originalError ?? thrown).message.replace(/, line:\d+, col:\d+$/, '');
  const slip = unclosedSlip(text, source, offset) ?? operatorSlip(source, offset);
  return slip ?? draft('template.syntax', cutText(`Template: ${text}.`), offset, Math.min(length, 80));
}

/** Returns an error for brackets nested too deeply: the tokenizer recurses into them, and the limit must not depend on the stack. */
function bracketsTooDeep(source: string): DiagnosticDraft | undefined {
  let depth = 0;
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at];
    if (char === '(' || char === '[') depth += 1;
    else if (char === ')' || char === ']' || char === '}') depth = Math.max(0, depth - 1);
    if (depth > templateLimits.depth * 4)
      return draft('template.too-deep', 'There are too many nested brackets.', at, 1);
  }
  return undefined;
}

function tooLong({ length }: string, limit: number): DiagnosticDraft | undefined {
  const message = `A template may have at most ${limit} characters, but this one has ${length}.`;
  return length > limit ? draft('template.too-long', message, 0, length) : undefined;
}

function parse(source: string): Parsed<LiquidNode[]> {
  const nodes: LiquidNode[] = [];
  const diagnostics: DiagnosticDraft[] = [];
  try {
    const tokens = new Tokenizer(source, engine.options.operators).readTopLevelTokens(engine.options);
    const parser = new BoundedParser();
    for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
      try {
        nodes.push(parser.parseToken(token, tokens));
      } catch (thrown) {
        const diagnostic = parseDiagnostic(thrown, source);
        // The end of a tag that could not be read.
        if (
          diagnostics.length === 0 ||
          !diagnostic.message.endsWith(' is used here without the tag it belongs to.')
        )
          diagnostics.push(diagnostic);
        if (diagnostics.length === templateLimits.diagnostics) break;
      }
    }
  } catch (thrown) {
    diagnostics.push(parseDiagnostic(thrown, source));
  }
  return diagnostics.length === 0 ? ok(nodes) : err(diagnostics);
}

interface Uses {
  readonly variables: readonly VariableUse[];
  readonly steps: readonly StepUse[];
  readonly roots: readonly string[];
}

/** @param sole whether the template is a single output */
function place(uses: readonly NameUse[], locate: Locate, sole = false): Uses {
  const variables: VariableUse[] = [];
  const steps: StepUse[] = [];
  for (const { root, path, offset, length, output } of uses) {
    const use = {
      position: locate(offset, length),
      ...(output ? { output: sole ? ('alone' as const) : ('within' as const) } : {}),
    };
    const [step, ...rest] = path;
    if (root === 'steps' && step !== undefined) steps.push({ step, path: rest, ...use });
    else variables.push({ path: [root, ...path], ...use });
  }
  return { variables, steps, roots: [...new Set(uses.map(({ root }) => root))] };
}

/**
 * Compiles a Liquid template. Text without tags costs nothing to render.
 *
 * @param locate turns offsets into `source` into positions in the file
 * @returns the template, or all errors: `template.syntax`, `.too-long`, `.too-deep`, `.unknown-tag`, `.refused-tag`, `.unknown-filter`,
 * `.refused-filter`, `.not-repeatable`, `.reserved`, `.computed-name`, `.steps`
 */
export function compileTemplate(source: string, locate: Locate): Parsed<Template> {
  const position = locate(0, source.length);
  if (!hasTags(source)) {
    const long = tooLong(source, templateLimits.literal);
    if (long !== undefined) return err([long]);
    return ok({ source, position, variables: [], steps: [], render: () => source, evaluate: () => source });
  }
  const beyond = tooLong(source, templateLimits.source) ?? bracketsTooDeep(source);
  if (beyond !== undefined) return err([beyond]);
  const parsed = parse(source);
  if (!parsed.ok) return parsed;
  const nodes = parsed.value;
  const { uses, diagnostics } = analyseNodes(nodes);
  if (diagnostics.length > 0) return err(diagnostics);
  const [sole, ...others] = nodes;
  const { variables, steps, roots } = place(uses, locate, sole instanceof Output && others.length === 0);
  const render: Template['render'] =
    plainRenderer(nodes) ?? ((scope) => renderText(nodes, openContext(scope, roots)));
  const evaluate: Template['evaluate'] =
    sole instanceof Output && others.length === 0
      ? (plainReader(sole) ?? ((scope) => renderOutput(sole, openContext(scope, roots))))
      : render;
  return ok({ source, position, variables, steps, render, evaluate });
}

/**
 * Compiles a condition as it would stand inside `{% if … %}`. A name that may be absent can be tested (`medium.stylize`, `not x`, `x ==
 * nil`), but not used in a computation.
 *
 * @returns the condition, or its errors: those of {@link compileTemplate}, `template.empty`, `template.wrapped`
 */
export function compileCondition(source: string, locate: Locate): Parsed<Condition> {
  const { length } = source;
  if (source.trim() === '') return err([draft('template.empty', 'The condition is empty.', 0, length)]);
  if (hasTags(source.replace(/"[^"]*"|'[^']*'/g, ''))) {
    const hint = 'For example: when: animal == "fox" and seed > 2';
    const message = 'Write a condition without {{ }} and {% %}.';
    return err([draft('template.wrapped', message, 0, length, hint)]);
  }
  const beyond = tooLong(source, templateLimits.source) ?? bracketsTooDeep(source);
  if (beyond !== undefined) return err([beyond]);
  let token: FilteredValueToken;
  let value: LiquidValue;
  try {
    token = new Tokenizer(source, engine.options.operators).readFilteredValue();
    value = new LiquidValue(token, engine);
  } catch (thrown) {
    return err([parseDiagnostic(thrown, source)]);
  }
  const { uses, diagnostics } = analyseCondition(value, token);
  if (diagnostics.length > 0) return err(diagnostics);
  const { variables, steps, roots } = place(uses, locate);
  return ok({
    source,
    position: locate(0, source.length),
    variables,
    steps,
    holds(scope) {
      const context = openContext(scope, roots);
      try {
        return isTruthy(toValue(toValueSync(value.value(context))), context);
      } catch (thrown) {
        throw explain(thrown, token);
      }
    },
  });
}
