import { Composer, type CST, type Document, Lexer, Parser, type YAMLError } from 'yaml';
import { yamlLimits } from './limits.ts';

/** Syntax mistakes after which a text is given up: each is an object with a stack, and each character can be one. */
const mostMistakes = 100;

class Enough extends Error {}

/** Documents, with the mistakes of the first; none when the mistakes were too many to go on. */
export interface Composed {
  readonly documents: readonly Document.Parsed[];
  readonly mistakes: readonly YAMLError[];
}

/** Composes tokens, up to a number of mistakes. */
export function composeTokens(
  tokens: Iterable<CST.Token>,
  options: ConstructorParameters<typeof Composer>[0],
  length: number,
): Composed {
  const composer = new Composer(options);
  const inner = composer as unknown as { onError: (...args: unknown[]) => void; errors: YAMLError[] };
  const told = inner.onError;
  let count = 0;
  inner.onError = (...args) => {
    if (count >= mostMistakes) throw new Enough();
    count += 1;
    told(...args);
  };
  try {
    const documents = [...composer.compose(tokens, true, length)] as Document.Parsed[];
    return { documents, mistakes: documents[0]?.errors ?? [] };
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
    return { documents: [], mistakes: inner.errors };
  }
}

/** Tokens of a text that are open at once: a collection, and what stands in it before it is closed. */
const mostOpen = yamlLimits.depth * 3;

/**
 * The tokens of a text, or the offset at which collections lie too deep in each other.
 *
 * @param onNewLine is told where each line begins
 */
export function readTokens(text: string, onNewLine?: (offset: number) => void): CST.Token[] | number {
  const parser = new Parser(onNewLine);
  const tokens: CST.Token[] = [];
  let brackets = 0;
  let mistakes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') brackets += 1;
    else if (lexeme === ']' || lexeme === '}') brackets -= 1;
    // The parser takes quadratic time in open brackets.
    if (brackets > yamlLimits.depth) return parser.offset;
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error') mistakes += 1;
      if (token.type !== 'error' || mistakes <= mostMistakes) tokens.push(token);
    }
    // It closes what is open by calling itself, once for each: that must not depend on the stack.
    if (parser.stack.length > mostOpen) return parser.offset;
  }
  tokens.push(...parser.end());
  return deepToken(tokens) ?? tokens;
}

/**
 * Where collections first lie too deep in each other. The composer would recurse into them, and how far that goes
 * depends on the stack.
 */
function deepToken(tokens: readonly CST.Token[]): number | undefined {
  let level: CST.Token[] = [...tokens];
  for (let depth = 0; level.length > 0; depth += 1) {
    const deeper = level.flatMap(within);
    const [first] = deeper;
    if (depth > yamlLimits.depth && first !== undefined) return first.offset;
    level = deeper;
  }
  return undefined;
}

const within = (token: CST.Token): CST.Token[] => partsOf(token).filter(isCollection);

function partsOf(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  if (!('items' in token)) return [];
  return token.items.flatMap(({ key, value }) => [key, value]).filter((part) => !!part);
}

/** Where the text in quotes begins that ends at an offset: where one is never closed, that is as far as it was read. */
export function quoteEndingAt(end: number, tokens: readonly CST.Token[]): number | undefined {
  let level: readonly CST.Token[] = tokens;
  while (level.length > 0) {
    const found = level.find(
      (token) =>
        (token.type === 'single-quoted-scalar' || token.type === 'double-quoted-scalar') &&
        token.offset + token.source.length === end,
    );
    if (found !== undefined) return found.offset;
    level = level.flatMap(partsOf);
  }
  return undefined;
}

const isCollection = (token: CST.Token): boolean => 'items' in token;
