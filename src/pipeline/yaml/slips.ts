import type { CST, YAMLError } from 'yaml';
import type { SourceText, Span } from '../diagnostics/source.ts';
import { bracketOpenAt } from './tokens.ts';

/** A syntax error, explained by the typing error that probably caused it. */
interface SyntaxSlip {
  readonly span: Span;
  readonly message: string;
  readonly hint: string;
  /** Whether further errors only follow from this one. */
  readonly isLast: boolean;
}

const keyLine = /^( *)(?:- +)*("[^"]*"|'[^']*'|[\p{L}_][\p{L}\p{N}_. -]*):(?: |$)/u;

/**
 * Returns a hint for a value that ends, or is missing, before a comment on its line that begins like an output: `path: U1 → #2`.
 *
 * @param span of the value, or of the key without one
 */
export function commentSlip(source: SourceText, span: Span): string | undefined {
  const { line, column } = source.position({ offset: span.offset + span.length, length: 1 });
  const isOutput = /^[-:]? *#(?:\d|\*|\{\{)/.test(source.line(line).slice(column - 1));
  return isOutput
    ? 'In YAML, # after a blank begins a comment: put the value in quotes, for example "#1".'
    : undefined;
}

interface KeyLine {
  readonly indent: number;
  readonly key: string;
}

function keyOf(source: SourceText, line: number): KeyLine | undefined {
  if (line < 1) return undefined;
  const [, spaces = '', key = ''] = keyLine.exec(source.line(line)) ?? [];
  return key === '' ? undefined : { indent: spaces.length, key };
}

/** Finds the typing error that an author of pipelines has probably made, which the YAML library cannot know. */
export function syntaxSlip(
  { code, pos: [offset], message }: YAMLError,
  source: SourceText,
  tokens: readonly CST.Token[],
): SyntaxSlip | undefined {
  const { line } = source.position({ offset, length: 1 });
  const template = bareTemplate(source, line);
  if (template !== undefined) return template;
  if (code === 'BLOCK_AS_IMPLICIT_KEY') return deeperKey(source, line) ?? textWithColon(source, line, offset);
  const bracket = /^Flow (?:sequence|map)\b/.test(message) ? bracketOpenAt(offset, tokens) : undefined;
  if (bracket !== undefined) return openBracket(source, bracket);
  if (code === 'BAD_INDENT') return unevenKey(source, line);
  if (!/^Implicit (?:map )?keys? need/.test(message)) return undefined;
  const written = source.line(line).trim().replace(/^- +/, '');
  const key = /^[\w-]+/.exec(written)?.[0];
  if (key === undefined) return undefined;
  const value = written.slice(key.length).replace(/^:/, '').trim();
  const example = value === '' ? `${key}: …` : `${key}: ${value.slice(0, 30)}`;
  return {
    span: { offset: source.lineOffset(line) + source.line(line).search(/\S/), length: key.length },
    message: `YAML expects "key: value" here, but finds no colon followed by a space.`,
    hint: `Put a colon and a space after "${key}": ${example}.`,
    isLast: false,
  };
}

/** Finds a template without quotes, the most likely error on its line. */
function bareTemplate(source: SourceText, line: number): SyntaxSlip | undefined {
  const text = source.line(line).trimEnd();
  const found = /(?:^|[:,[-])\s*\{\{/.exec(text);
  if (found === null) return undefined;
  const at = found.index + found[0].length - 2;
  const value = text.slice(at);
  const isWhole = found[0].startsWith(':') && value.length <= 80 && !value.includes(' #');
  const mark = value.includes('"') ? "'" : '"';
  return {
    span: { offset: source.lineOffset(line) + at, length: isWhole ? value.length : 2 },
    message: 'A text that begins with {{ is not in quotes, so YAML reads the braces as a mapping.',
    hint:
      isWhole && !value.includes(mark)
        ? `Put the whole text in quotes: ${mark}${value}${mark}.`
        : 'Put the whole text in quotes: "{{ name }}, …".',
    isLast: value.split('{').length !== value.split('}').length,
  };
}

/** Finds a key such as `path:`, indented below a key that has its value on its own line. */
function deeperKey(source: SourceText, line: number): SyntaxSlip | undefined {
  const above = keyOf(source, line);
  const below = keyOf(source, line + 1);
  if (above === undefined || below === undefined || below.indent <= above.indent) return undefined;
  return {
    span: { offset: source.lineOffset(line + 1) + below.indent, length: below.key.length },
    message: `"${below.key}" is indented deeper than "${above.key}", which already has a value.`,
    hint: `Is "${below.key}" meant to stand beside "${above.key}"? Indent both alike.`,
    isLast: false,
  };
}

function textWithColon(source: SourceText, line: number, offset: number): SyntaxSlip {
  const text = source.line(line).slice(offset - source.lineOffset(line));
  const quoted =
    text.length > 0 && text.length <= 60 && !text.includes('"') ? ` Write "${text.trimEnd()}".` : '';
  return {
    span: { offset, length: Math.max(1, text.length) },
    message: 'YAML reads the ": " in this text as the end of a key.',
    hint: `Put a text with ": " in quotes.${quoted}`,
    isLast: false,
  };
}

function openBracket(source: SourceText, offset: number): SyntaxSlip {
  const { line, column } = source.position({ offset, length: 1 });
  const comment = source.line(line).indexOf(' #', column);
  const commented =
    comment === -1
      ? undefined
      : commentSlip(source, { offset: source.lineOffset(line) + comment, length: 0 });
  const [open, close, what] = source.text[offset] === '[' ? ['[', ']', 'list'] : ['{', '}', 'mapping'];
  return {
    span: { offset, length: 1 },
    message: `The ${open} that opens here is never closed.`,
    hint: commented ?? `End the ${what} with ${close}.`,
    isLast: true,
  };
}

/** Finds a key whose column lies between the columns of the keys above it. */
function unevenKey(source: SourceText, line: number): SyntaxSlip | undefined {
  // The error is at the beginning of the line, or after the end of the line above.
  const at = keyOf(source, line) === undefined ? line + 1 : line;
  const own = keyOf(source, at);
  if (own === undefined) return undefined;
  let deeper: KeyLine | undefined;
  let outer: KeyLine | undefined;
  for (let above = at - 1; above >= 1 && outer === undefined; above--) {
    const found = keyOf(source, above);
    if (found === undefined) continue;
    if (found.indent > own.indent) deeper = found;
    else if (found.indent < own.indent) outer = found;
    else return undefined;
  }
  if (deeper === undefined) return undefined;
  const { indent, key } = deeper;
  const inside = outer === undefined ? '' : ` Is it meant to be inside "${outer.key}"?`;
  const alike = `Indent it like "${key}" (${indent} spaces)`;
  return {
    span: { offset: source.lineOffset(at) + own.indent, length: own.key.length },
    message: `"${own.key}" is indented by ${own.indent} spaces, unlike the keys above it.`,
    hint: `${alike}${outer === undefined ? '' : `, or like "${outer.key}" (${outer.indent})`}.${inside}`,
    isLast: false,
  };
}
