import { err, type Locate, ok, type Parsed } from '../diagnostics/diagnostic.ts';
import type { ButtonMatch, PathSegment, Selector } from '../pipeline.ts';
import { SelectorGrammar, spanOf, splitAt, wordOf } from './grammar.ts';
import { SelectorLexer } from './lexer.ts';
import { DiagnosticList, type SelectorSpan, selectorLimits } from './limits.ts';
import { writeLabel } from './names.ts';
import { type SelectorToken } from './token.ts';

/**
 * The grammar of paths, read before templates are rendered:
 *
 * ```
 * path      segment ((→ | ->) segment)*
 * segment   selector (, selector)*
 * selector  alternative (| alternative)* ?     an optional one ends in "?"
 *           range ?                            U1..U4
 *           wildcard ?                         U*, alone in its segment
 *           output                             #1, #1..#4, #{{ … }}
 * alternative  label | word | "quoted" | 'quoted' | /pattern/
 * ```
 *
 * A label runs to the next separator; `{{ … }}` and `{% … %}` in it are taken whole. In quotes everything but
 * templates is text; `\"` (or `\'`) and `\\` stand for the characters themselves.
 */

export { formatAddress, formatBranch, parseAddress } from './address.ts';

interface Opened {
  readonly grammar: SelectorGrammar;
  readonly tokens: readonly SelectorToken[];
  readonly span: SelectorSpan;
}

function open(text: string, locate: Locate, what: string): Parsed<Opened> {
  const span = { offset: 0, length: text.length };
  const diagnostics = new DiagnosticList();
  if (text.length > selectorLimits.text) {
    const message = `A path may have at most ${selectorLimits.text} characters, but this one has ${text.length}.`;
    diagnostics.add('path.too-long', message, span);
    return err(diagnostics.all);
  }
  if (text.trim() === '') {
    diagnostics.add('path.empty', `The ${what} is empty.`, span);
    return err(diagnostics.all);
  }
  const lexer = new SelectorLexer(text, { slash: false });
  lexer.read();
  for (const diagnostic of lexer.diagnostics) diagnostics.push(diagnostic);
  return ok({ grammar: new SelectorGrammar(diagnostics, locate), tokens: lexer.tokens, span });
}

function close<T>(grammar: SelectorGrammar, value: T | undefined): Parsed<T> {
  const diagnostics = grammar.diagnostics.sorted();
  if (diagnostics.length > 0) return err(diagnostics);
  if (value === undefined) throw new Error('Internal error: a selector was refused without a mistake');
  return ok(value);
}

/**
 * Parses the value of `path:`.
 *
 * @returns its segments, or all errors: codes `path.*`, and `template.*` of the templates in labels
 */
export function parsePath(text: string, locate: Locate): Parsed<readonly PathSegment[]> {
  const opened = open(text, locate, 'path');
  if (!opened.ok) return opened;
  const { grammar, tokens, span } = opened.value;
  const { diagnostics } = grammar;
  const parts = splitAt(tokens, 'arrow', span);
  if (parts.length > selectorLimits.segments) {
    diagnostics.add('path.too-many', `A path may have at most ${selectorLimits.segments} segments.`, span);
    return close<readonly PathSegment[]>(grammar, undefined);
  }
  const arrows = tokens.filter((token) => token.kind === 'arrow');
  const segments: PathSegment[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.tokens.length > 0) segments.push(grammar.segment(part.tokens, part.span));
    else if (index > 0 && index < parts.length - 1) {
      diagnostics.add('path.empty', 'Between two arrows a button is expected.', part.span);
    } else {
      const arrow = arrows[index === 0 ? 0 : index - 1];
      const side = index === 0 ? 'before' : 'after';
      const where = arrow === undefined ? span : spanOf(arrow);
      diagnostics.add('path.dangling-arrow', `A button is expected ${side} this arrow.`, where);
    }
  }
  const branches = segments.reduce((product, segment) => product * Math.max(1, segment.selectors.length), 1);
  if (branches > selectorLimits.branches) {
    const message = `A path may lead to at most ${selectorLimits.branches} branches, but this one leads to ${branches}.`;
    diagnostics.add('path.too-many', message, span);
  }
  return close(grammar, segments);
}

/** Parses one segment of a path: the `button:` of a mapping. It may fan out; errors as in {@link parsePath}. */
export function parseSegment(text: string, locate: Locate): Parsed<PathSegment> {
  const opened = open(text, locate, 'button');
  if (!opened.ok) return opened;
  const { grammar, tokens, span } = opened.value;
  const arrow = tokens.find((token) => token.kind === 'arrow');
  if (arrow === undefined) return close(grammar, grammar.segment(tokens, span));
  const hint = 'Write the part after the arrow as the next segment, or quote a label that contains an arrow.';
  grammar.diagnostics.add('path.one-segment', 'Only one path segment fits here.', spanOf(arrow), hint);
  return close<PathSegment>(grammar, undefined);
}

const isMark = (token: SelectorToken): boolean => token.kind === 'arrow' || token.kind === 'comma';
const isRange = (token: SelectorToken): boolean => token.kind === 'atom' && token.dots !== undefined;

/** Parses the value of `click:`: one selector, which may be a wildcard; errors as in {@link parsePath}. */
export function parseSelector(text: string, locate: Locate): Parsed<Selector> {
  const opened = open(text, locate, 'button');
  if (!opened.ok) return opened;
  const { grammar, tokens, span } = opened.value;
  const stray = tokens.find(isMark) ?? tokens.find(isRange);
  if (stray !== undefined) {
    const hint = 'Use path: for several, or quote a label that contains such a sign.';
    grammar.diagnostics.add('path.one-selector', 'A click presses one button.', spanOf(stray), hint);
    return close<Selector>(grammar, undefined);
  }
  const [selector] = grammar.segment(tokens, span).selectors;
  if (selector?.output !== undefined) {
    const hint = 'Start from it: from: grid/#1, or write path: "#1".';
    grammar.diagnostics.add('path.output', 'An output is no button to press.', span, hint);
  }
  return close(grammar, selector);
}

function writeMatch(match: ButtonMatch): string {
  switch (match.kind) {
    case 'pattern':
      return `/${match.source}/`;
    case 'wildcard':
      return match.source;
    case 'word':
      return match.word;
    case 'text': {
      const { source } = match.text;
      return wordOf(source) === undefined ? writeLabel(source, { slash: false }) : `"${source}"`;
    }
  }
}

/** Formats a selector so that it parses back to the same selector. */
export const formatSelector = ({ alternatives, optional, output, name }: Selector): string =>
  output === undefined ? alternatives.map(writeMatch).join(' | ') + (optional ? '?' : '') : name;

/** Formats the buttons of a path so that they parse back to the same buttons; answers to modals are left out. */
export const formatPath = (path: readonly PathSegment[]): string =>
  path.map((segment) => segment.selectors.map(formatSelector).join(', ')).join(' → ');
