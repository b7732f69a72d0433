import { type Token, TypeGuards } from 'liquidjs';
import type { DiagnosticDraft } from '../diagnostics/diagnostic.ts';

const diagnostic = (message: string, token: Token, hint?: string): DiagnosticDraft => ({
  code: 'template.syntax',
  message,
  offset: token.begin,
  length: token.size(),
  ...(hint === undefined ? {} : { hint }),
});

/** A missing value or operator; liquidjs takes `a b` for `a`, and `== a b` for `a == b`. */
export function expressionDiagnostic(postfix: readonly Token[]): DiagnosticDraft | undefined {
  let operand = false;
  let last: Token | undefined;
  for (const token of postfix.toSorted((a, b) => a.begin - b.begin)) {
    const prefix = TypeGuards.isOperatorToken(token) && token.operator === 'not';
    const infix = TypeGuards.isOperatorToken(token) && !prefix;
    if (infix !== operand) {
      const text = token.getText();
      return operand
        ? diagnostic(`An operator is missing before "${text}".`, token, 'A text needs quotes.')
        : diagnostic(`A value is missing before "${text}".`, token);
    }
    operand = !infix && !prefix;
    last = token;
  }
  if (operand || last === undefined) return undefined;
  return diagnostic(`A value is missing after "${last.getText()}".`, last);
}

/**
 * Places in a condition that only ask whether a value is there: what `and`, `or`, `not` and the condition itself
 * take, and what is compared with `nil`, `empty`, `blank`, `true`, `false`.
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
