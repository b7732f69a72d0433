import { type Token, TypeGuards } from 'liquidjs';
import { type DiagnosticDraft, draft } from '../diagnostics/diagnostic.ts';

const diagnostic = (message: string, token: Token, hint?: string): DiagnosticDraft =>
  draft('template.syntax', message, token.begin, token.size(), hint);

/** Returns an error for a missing value or operator; liquidjs takes `a b` for `a`, and `== a b` for `a == b`. */
export function expressionDiagnostic(postfix: readonly Token[]): DiagnosticDraft | undefined {
  let operand = false;
  let last: Token | undefined;
  for (const token of postfix.toSorted((a, b) => a.begin - b.begin)) {
    const prefix = TypeGuards.isOperatorToken(token) && token.operator === 'not';
    const infix = TypeGuards.isOperatorToken(token) && !prefix;
    if (infix !== operand) {
      const text = token.getText();
      const words = last === undefined ? text : `${last.getText()} ${text}`;
      const isName = /^[\p{L}\p{N}_-]+ [\p{L}\p{N}_-]+$/u.test(words);
      const spaced = isName ? ` Write a variable with a space in its name as ['${words}'].` : '';
      return operand
        ? diagnostic(`An operator is missing before "${text}".`, token, `A text needs quotes.${spaced}`)
        : (operatorSlip(token.input, token.begin) ??
            diagnostic(`A value is missing before "${text}".`, token));
    }
    operand = !infix && !prefix;
    last = token;
  }
  if (operand || last === undefined) return undefined;
  return diagnostic(`A value is missing after "${last.getText()}".`, last);
}

/**
 * Finds the operands of a condition that are only tested for presence: those of `and`, `or`, `not` and the condition itself, and those
 * compared with `nil`, `empty`, `blank`, `true`, `false`.
 */
export function askedFor(postfix: readonly Token[]): number[] {
  const asked: number[] = [];
  const stack: (number | undefined)[] = [];
  const ask = (index: number | undefined): void => {
    if (index !== undefined) asked.push(index);
  };
  for (const [index, token] of postfix.entries()) {
    if (!TypeGuards.isOperatorToken(token)) {
      stack.push(index);
      continue;
    }
    const right = stack.pop();
    const left = token.operator === 'not' ? undefined : stack.pop();
    const literal = [left, right].some((at) => at !== undefined && TypeGuards.isLiteralToken(postfix[at]));
    const presence =
      token.operator === '==' || token.operator === '!='
        ? literal
        : ['not', 'and', 'or'].includes(token.operator);
    if (presence) {
      ask(left);
      ask(right);
    }
    stack.push(undefined);
  }
  ask(stack[0]);
  return asked;
}

/** Operators of other languages, with the equivalent ones of Liquid. */
const operators: Readonly<Record<string, string>> = {
  '&&': 'and',
  '||': 'or',
  '===': '==',
  '!==': '!=',
  '<>': '!=',
  '=': '==',
  '!': 'not',
};

const operatorAt = /\s*(===|!==|&&|\|\||<>|(?<![=!<>])=(?!=)|!(?!=))/y;

/**
 * Returns an error for an operator of another language where Liquid stopped reading, with Liquid's own operator; undefined if there is no
 * such operator.
 *
 * @param offset where reading stopped, in UTF-16 units
 */
export function operatorSlip(source: string, offset: number): DiagnosticDraft | undefined {
  // Reading may stop inside or after the operator.
  for (let from = offset - 4; from <= offset; from++) {
    if (from < 0) continue;
    operatorAt.lastIndex = from;
    const found = operatorAt.exec(source);
    const operator = found?.[1];
    if (found === null || operator === undefined) continue;
    const at = found.index + found[0].length - operator.length;
    if (source.slice(at + operator.length, offset).trim() !== '') continue;
    const wanted = operators[operator];
    if (wanted === undefined) continue;
    const behind = source.slice(at + operator.length).trimStart();
    const hint =
      operator === '!' && behind.startsWith('(')
        ? 'Write the opposite, for example animal != "fox"; conditions have and, or, not, and no parentheses.'
        : `Write ${rewritten(source) ?? `"${wanted}"`}. Conditions have ==, !=, <, >, <=, >=, contains, and, or, not.`;
    const message =
      operator === '=' ? 'A single "=" does not compare.' : `"${operator}" is not an operator of Liquid.`;
    return { code: 'template.syntax', message, hint, offset: at, length: operator.length };
  }
  return undefined;
}

/** Rewrites a condition with Liquid's operators; undefined if at most one operator changes, or if the text is not a single condition. */
function rewritten(source: string): string | undefined {
  if (source.length > longestRewritten || /[{}()]/.test(source)) return undefined;
  let count = 0;
  const text = source.trim().replaceAll(foreignOperators, (found, _quoted, negation?: string) => {
    const wanted = operators[found.trim()];
    if (wanted === undefined) return found;
    count += 1;
    return negation === undefined ? wanted : 'not ';
  });
  return count > 1 ? text : undefined;
}

const longestRewritten = 100;

/** Matches operators of other languages, and texts in quotes, whose contents are skipped. */
const foreignOperators = /("[^"]*"|'[^']*')|===|!==|&&|\|\||<>|(?<![=!<>])=(?!=)|(!)(?!=) ?/g;

const maxShown = 60;

/** Returns an error for braces or a tag without an end; undefined for any other message of liquidjs. */
export function unclosedSlip(text: string, source: string, offset: number): DiagnosticDraft | undefined {
  const name = text.endsWith(' not closed') ? /^tag \{%-?\s*(\w+)/.exec(text)?.[1] : undefined;
  if (name !== undefined) {
    const isOpen = !source.slice(offset).includes('%}');
    const message = isOpen
      ? 'The {% that opens here is never closed.'
      : `The tag "${name}" that begins here has no end.`;
    const hint = isOpen ? 'Close it with %}.' : `End it with {% end${name} %}.`;
    return { code: 'template.syntax', message, hint, offset, length: 2 };
  }
  if (!/^(?:output|tag) "[^]*" not closed$/.test(text)) return undefined;
  const opens = source.startsWith('{%', offset) ? '{%' : '{{';
  const closes = opens === '{%' ? '%}' : '}}';
  const behind = source.slice(offset + 2, offset + 2 + maxShown);
  const [inside = ''] = behind.split(/[{}%,]/, 1);
  const shown = inside.replace(/^[\s-]+/, '').trim();
  const isWhole = inside.length < maxShown && behind[inside.length] !== '{';
  const example = shown === '' || !isWhole ? '' : `: ${opens} ${shown} ${closes}`;
  const message = `The ${opens} that opens here is never closed.`;
  return { code: 'template.syntax', message, hint: `Close it with ${closes}${example}.`, offset, length: 2 };
}

/** Returns an error for text after an expression. @param end where the expression ends */
export const unexpected = (source: string, end: number): DiagnosticDraft =>
  operatorSlip(source, end) ??
  draft(
    'template.syntax',
    'Nothing was expected here.',
    end,
    1,
    'A text needs quotes; filters begin with "|".',
  );
