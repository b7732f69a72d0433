import {
  type Context,
  evalToken,
  evalTokenValue,
  type Template as LiquidNode,
  type Token,
  TokenKind,
} from 'liquidjs';
import { templateLimits } from './limits.ts';
import { TemplateError } from './template.ts';

/**
 * Replaces the evaluation of a token by a function of ours. liquidjs evaluates a value with filters through a method; this
 * object looks like such a value.
 */
function overrideToken(token: Token, evaluate: (context: Context) => Iterable<unknown>): Token {
  const { input, begin, end } = token;
  return {
    kind: TokenKind.FilteredValue,
    input,
    begin,
    end,
    getText: () => token.getText(),
    getPosition: () => token.getPosition(),
    size: () => token.size(),
    filters: [],
    initial: { postfix: [token], evaluate },
  } as unknown as Token;
}

/** A bound of a range. liquidjs counts up by 1 without end where a number is too large to grow by 1. */
export const rangeBound = (token: Token): Token =>
  overrideToken(token, function* (context) {
    const bound = Number(yield evalTokenValue(token, context));
    if (Number.isSafeInteger(bound)) return bound;
    throw new TemplateError(
      'template.range',
      `A range needs whole numbers, and "${token.getText()}" is none.`,
    );
  });

/** A range as a whole, of bounded length for any bounds. */
export const boundedRange = (range: Token & { lhs: Token; rhs: Token }): Token => {
  const { lhs, rhs } = range;
  return overrideToken(rhs, function* (context) {
    const high = Number(yield evalToken(rangeBound(rhs), context));
    const low = Number(yield evalToken(rangeBound(lhs), context));
    if (high - low < templateLimits.range) return high;
    throw new TemplateError(
      'template.limit',
      `A range may have ${templateLimits.range} members, not ${high - low + 1}.`,
    );
  });
};

/** A name that may be absent: asked for, not computed with. */
export const absentable = (token: Token): Token =>
  overrideToken(token, (context) => evalToken(token, context, true));

/**
 * `offset: continue` of a loop. Before a loop with the same name and list has been rendered, liquidjs has an object in its
 * place, adds the length of the list to that object as text, and makes the text longer with each rendering. What is no
 * number skips nothing, as in liquidjs, and leaves no text that grows.
 */
export const continuedOffset = (token: Token): Token =>
  overrideToken(token, function* (context) {
    const offset = Number(yield evalToken(token, context));
    return Number.isNaN(offset) ? {} : offset;
  });

/** Prepares the `offset: continue` of a loop, where a node has one. */
export function prepareOffset(node: LiquidNode): void {
  const { hash } = (node as LiquidNode & { hash?: { hash?: Record<string, Token | undefined> } }).hash ?? {};
  const offset = hash?.['offset'];
  if (hash !== undefined && offset?.getText() === 'continue') hash['offset'] = continuedOffset(offset);
}
