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
 * Replaces the evaluation of a token by our own function. liquidjs evaluates a value with filters through a method; this object imitates
 * such a value.
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

/** A bound of a range. For a number too large to grow by 1, liquidjs would count endlessly. */
export const rangeBound = (token: Token): Token =>
  overrideToken(token, function* (context) {
    const bound = Number(yield evalTokenValue(token, context));
    if (Number.isSafeInteger(bound)) return bound;
    throw new TemplateError(
      'template.range',
      `A range needs whole numbers, but "${token.getText()}" is not one.`,
    );
  });

/** A range of bounded length, whatever its bounds. */
export const boundedRange = (range: Token & { lhs: Token; rhs: Token }): Token => {
  const { lhs, rhs } = range;
  return overrideToken(rhs, function* (context) {
    const high = Number(yield evalToken(rangeBound(rhs), context));
    const low = Number(yield evalToken(rangeBound(lhs), context));
    if (high - low < templateLimits.range) return high;
    throw new TemplateError(
      'template.limit',
      `A range may have at most ${templateLimits.range} members, not ${high - low + 1}.`,
    );
  });
};

/** A name that may be absent, because it is only tested. */
export const absentable = (token: Token): Token =>
  overrideToken(token, (context) => evalToken(token, context, true));

/**
 * Replaces `offset: continue` of a loop. liquidjs has an object in its place until a loop with the same name and list has been rendered,
 * and appends the list's length to it as text, which grows with each rendering. Here a value that is not a number skips nothing, as in
 * liquidjs, without growing.
 */
export const continuedOffset = (token: Token): Token =>
  overrideToken(token, function* (context) {
    const offset = Number(yield evalToken(token, context));
    return Number.isNaN(offset) ? {} : offset;
  });

/** Prepares the `offset: continue` of a node that is a loop. */
export function prepareOffset(node: LiquidNode): void {
  const { hash } = (node as LiquidNode & { hash?: { hash?: Record<string, Token | undefined> } }).hash ?? {};
  const offset = hash?.['offset'];
  if (hash !== undefined && offset?.getText() === 'continue') hash['offset'] = continuedOffset(offset);
}
