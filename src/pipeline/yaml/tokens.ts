import { Composer, type CST, type Document, Lexer, Parser, type YAMLError } from 'yaml';
import { yamlLimits } from './limits.ts';

/** Number of syntax errors after which reading stops: each error is an object with a stack, and each character can cause one. */
const maxErrors = 100;

class Enough extends Error {}

/** Documents, with the errors of the first; none if there were too many errors to continue. */
export interface Composed {
  readonly documents: readonly Document.Parsed[];
  readonly diagnostics: readonly YAMLError[];
}

/** Composes tokens, up to a maximum number of errors. */
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
    if (count >= maxErrors) throw new Enough();
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

/** Most tokens that are open at once: a collection, and its contents before it is closed. */
const maxOpen = yamlLimits.depth * 3;

/**
 * Reads the tokens of a text, or returns the offset at which collections are nested too deeply.
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
      if (token.type !== 'error' || diagnostics <= maxErrors) tokens.push(token);
    }
    // The parser closes open tokens by one recursive call each: that must not depend on the stack.
    if (parser.stack.length > maxOpen) return parser.offset;
  }
  tokens.push(...parser.end());
  return deepToken(tokens) ?? tokens;
}

/** Finds where collections are first nested too deeply. The composer recurses into them, and its limit would depend on the stack. */
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

/** Returns the start of the quoted text that ends at an offset. A text that is never closed ends where reading stopped. */
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

/** Returns the offset of the innermost bracket or brace that opens before an offset and is still open there. */
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
