import { Composer, type CST, type Document, Lexer, Parser, type YAMLError } from 'yaml';
import { yamlLimits } from './limits.ts';

/**
 * After this many syntax errors the text is not read further: each error is an object with a stack, and each character can
 * cause one.
 */
const mostErrors = 100;

class Enough extends Error {}

/** Documents, with the errors of the first; none when the errors were too many to go on. */
export interface Composed {
  readonly documents: readonly Document.Parsed[];
  readonly diagnostics: readonly YAMLError[];
}

/** Composes tokens, up to a number of errors. */
export function composeTokens(
  tokens: Iterable<CST.Token>,
  options: ConstructorParameters<typeof Composer>[0],
  length: number,
): Composed {
  const composer = new Composer(options);
  const inner = composer as unknown as { onError: (...args: unknown[]) => void; errors: YAMLError[] };
  const report = inner.onError;
  let count = 0;
  inner.onError = (...args) => {
    if (count >= mostErrors) throw new Enough();
    count += 1;
    report(...args);
  };
  try {
    const documents = [...composer.compose(tokens, true, length)] as Document.Parsed[];
    return { documents, diagnostics: documents[0]?.errors ?? [] };
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
    return { documents: [], diagnostics: inner.errors };
  }
}

/** Tokens of a text that are open at once: a collection, and what stands in it before it is closed. */
const mostOpen = yamlLimits.depth * 3;

/**
 * The tokens of a text, or the offset at which collections lie too deep in each other.
 *
 * @param onNewLine receives the offset at which each line begins
 */
export function readTokens(text: string, onNewLine?: (offset: number) => void): CST.Token[] | number {
  const parser = new Parser(onNewLine);
  const tokens: CST.Token[] = [];
  let brackets = 0;
  let diagnostics = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') brackets += 1;
    else if (lexeme === ']' || lexeme === '}') brackets -= 1;
    // The parser takes quadratic time in open brackets.
    if (brackets > yamlLimits.depth) return parser.offset;
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error') diagnostics += 1;
      if (token.type !== 'error' || diagnostics <= mostErrors) tokens.push(token);
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

/** The offset at which the quoted text begins that ends here. A text that is never closed ends where reading stopped. */
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

/** The offset of the innermost bracket or brace that opens before an offset and is not closed there. */
export function bracketOpenAt(offset: number, tokens: readonly CST.Token[]): number | undefined {
  let found: number | undefined;
  let level: readonly CST.Token[] = tokens;
  while (level.length > 0) {
    for (const token of level) {
      if (token.type !== 'flow-collection' || token.start.offset >= offset) continue;
      const end = token.end.find(({ type }) => type === 'flow-seq-end' || type === 'flow-map-end');
      if (end === undefined || end.offset >= offset) found = Math.max(found ?? 0, token.start.offset);
    }
    level = level.flatMap(partsOf);
  }
  return found;
}

const isCollection = (token: CST.Token): boolean => 'items' in token;
