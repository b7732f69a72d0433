import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  type YAMLError,
} from 'yaml';
import type { DiagnosticCode } from './codes.ts';
import type { ScalarStyle, SourceEntry, SourceNode, SourceScalar } from './node.ts';
import type { Reports } from './reports.ts';
import type { SourceText, Span } from './source.ts';
import { WrittenNumber } from './value.ts';

/** What a pipeline file may be at most. They bound time and memory: what breaks one belongs into a table. */
export const yamlLimits = {
  /** UTF-16 units of text. */
  characters: 1024 * 1024,
  /** Mappings and lists inside each other. */
  depth: 64,
  /** Values in the whole file, counted again each time an alias repeats them. */
  values: 200_000,
  /** Syntax mistakes shown: each one makes more that are none. */
  syntaxMistakes: 10,
} as const;

/** Names that reach into JavaScript's own objects. */
const refusedKeys = new Set(['__proto__', 'constructor']);

const plainTags = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

const tooDeep = `Mappings and lists lie more than ${yamlLimits.depth} deep in each other.`;

/** Reads the text as YAML 1.2 with JSON's shapes only. Undefined when it cannot be understood as a whole. */
export function readYaml(source: SourceText, reports: Reports): SourceNode | undefined {
  if (source.text.length > yamlLimits.characters) {
    const most = yamlLimits.characters / 1024 / 1024;
    const message = `The file has more than ${most} Mi characters.`;
    reports.error(
      'yaml.size',
      { offset: 0, length: 1 },
      message,
      'Put long lists into a table and name it in matrix.rows.',
    );
    return undefined;
  }
  const version = /^%YAML[ \t]+(?!1\.2\s*$)\S+/m.exec(source.text);
  if (version !== null) {
    const span = { offset: version.index, length: version[0].length };
    reports.error('yaml.version', span, 'Pipelines are YAML 1.2.', 'Remove the %YAML line.');
    return undefined;
  }
  const tokens = readTokens(source.text);
  if (typeof tokens === 'number') {
    reports.error('yaml.nesting', { offset: tokens, length: 1 }, tooDeep);
    return undefined;
  }
  // Unique keys are checked below: the composer's own check takes quadratic time.
  const options = { resolveKnownTags: false, uniqueKeys: false };
  const [document, second] = new Composer(options).compose(tokens, true, source.text.length);
  if (document === undefined) throw new Error('Internal error: YAML without a document');
  if (reportSyntax(document.errors, reports)) return undefined;
  if (second !== undefined) {
    const span = { offset: second.range[0], length: 3 };
    reports.error(
      'yaml.documents',
      span,
      'The file holds more than one YAML document.',
      'One file is one pipeline: remove what follows `---`.',
    );
    return undefined;
  }
  if (document.contents === null) {
    reports.error(
      'yaml.empty',
      { offset: 0, length: 1 },
      'The file is empty.',
      'A pipeline has at least a name and steps.',
    );
    return undefined;
  }
  return new Conversion(document, reports).run();
}

/** The file's tokens, or the offset at which collections lie too deep in each other. */
function readTokens(text: string): CST.Token[] | number {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let brackets = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') brackets += 1;
    else if (lexeme === ']' || lexeme === '}') brackets -= 1;
    // The parser takes quadratic time in open brackets.
    if (brackets > yamlLimits.depth) return parser.offset;
    tokens.push(...parser.next(lexeme));
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

function within(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  if (!('items' in token)) return [];
  return token.items.flatMap((item) => [item.key, item.value].filter((part) => isCollection(part)));
}

const isCollection = (token: CST.Token | null | undefined): token is CST.Token =>
  token !== null && token !== undefined && 'items' in token;

function reportSyntax(errors: readonly YAMLError[], reports: Reports): boolean {
  const lines = new Set<number>();
  for (const { code, pos, message } of errors) {
    const span = { offset: pos[0], length: pos[1] - pos[0] };
    const { line } = reports.source.position(span);
    if (lines.has(line) || lines.size >= yamlLimits.syntaxMistakes) continue;
    lines.add(line);
    if (code === 'TAB_AS_INDENT') {
      reports.error('yaml.tab', span, 'YAML is not indented with tabs.', 'Use spaces.');
    } else {
      reports.error('yaml.syntax', span, `${message.replaceAll(/\s+/g, ' ').replace(/\.$/, '')}.`);
    }
  }
  return errors.length > 0;
}

/** A converted node, and how many values it stands for. */
interface Converted {
  readonly node: SourceNode;
  readonly size: number;
}

/** Stops a conversion that has already been reported. */
class Refused extends Error {}

class Conversion {
  readonly #document: Document.Parsed;
  readonly #reports: Reports;
  readonly #anchors = new Map<string, Converted>();

  constructor(document: Document.Parsed, reports: Reports) {
    this.#document = document;
    this.#reports = reports;
  }

  run(): SourceNode | undefined {
    try {
      return this.#convert(this.#document.contents, { offset: 0, length: 1 }, 1).node;
    } catch (error) {
      if (error instanceof Refused) return undefined;
      throw error;
    }
  }

  /** `keySpan` is what to mark for a value of which nothing is written. */
  #convert(node: Node | null, keySpan: Span, depth: number): Converted {
    if (node === null) return { node: emptyScalar(keySpan), size: 1 };
    const span = spanOf(node, keySpan);
    if (depth > yamlLimits.depth) this.#refuse('yaml.nesting', span, tooDeep);
    if (isAlias(node)) return this.#alias(node.source, span);
    const converted = this.#bare(node, span, keySpan, depth);
    if (converted.size > yamlLimits.values) {
      const message = `The file holds more than ${yamlLimits.values.toLocaleString('en')} values, aliases counted each time.`;
      this.#refuse('yaml.size', span, message, 'Put long lists into a table and name it in matrix.rows.');
    }
    if ('anchor' in node && typeof node.anchor === 'string') this.#anchors.set(node.anchor, converted);
    return converted;
  }

  #bare(node: Node, span: Span, keySpan: Span, depth: number): Converted {
    const tag = (node as { tag?: string }).tag;
    if (tag !== undefined && !plainTags.has(tag)) {
      const short = tag.replace('tag:yaml.org,2002:', '!!');
      this.#reports.error('yaml.tag', span, `The tag ${short} is not allowed: pipelines are plain data.`);
      return { node: emptyScalar(span), size: 1 };
    }
    if (isScalar(node)) return { node: this.#scalar(node, span), size: 1 };
    if (isSeq(node)) {
      const items = node.items.map((item) => this.#convert(item as Node | null, span, depth + 1));
      return { node: { kind: 'list', span, items: items.map((item) => item.node) }, size: sizeOf(items) };
    }
    if (isMap(node)) return this.#mapping(node.items as Pair<Node, Node | null>[], span, depth);
    // Nothing else comes out of the parser; an empty value is a scalar.
    return { node: emptyScalar(keySpan), size: 1 };
  }

  #mapping(pairs: readonly Pair<Node, Node | null>[], span: Span, depth: number): Converted {
    const entries = new Map<string, SourceEntry>();
    const values: Converted[] = [];
    for (const pair of pairs) {
      const keySpan = pair.key === null ? span : spanOf(pair.key, span);
      const value = this.#convert(pair.value, keySpan, depth + 1);
      const key = this.#key(pair.key, keySpan);
      if (key === undefined) continue;
      if (entries.has(key)) {
        const first = this.#reports.source.position((entries.get(key) as SourceEntry).keySpan).line;
        this.#reports.error(
          'yaml.duplicate-key',
          keySpan,
          `The key "${key}" stands in this mapping twice.`,
          `The first one is on line ${first}.`,
        );
        continue;
      }
      values.push(value);
      entries.set(key, { key, keySpan, value: value.node });
    }
    return { node: { kind: 'mapping', span, entries }, size: sizeOf(values) };
  }

  #key(node: Node | null, span: Span): string | undefined {
    if (!isScalar(node) || typeof node.value !== 'string') {
      const shown = isScalar(node) && node.source !== undefined ? ` Write "${node.source}".` : '';
      this.#reports.error('yaml.key', span, 'A key must be text.', `Put it in quotes.${shown}`);
      return undefined;
    }
    if (node.value === '<<' && node.type === 'PLAIN') {
      this.#reports.error(
        'yaml.merge',
        span,
        'Merge keys are not part of YAML 1.2.',
        'Write the keys out, or use an alias for a whole value.',
      );
      return undefined;
    }
    if (refusedKeys.has(node.value)) {
      this.#reports.error('yaml.key', span, `"${node.value}" cannot be a key.`, 'Choose another name.');
      return undefined;
    }
    return node.value;
  }

  #scalar(node: { value: unknown; source?: string; type?: string }, span: Span): SourceScalar {
    const style = styles[node.type ?? 'PLAIN'] ?? 'plain';
    const { value } = node;
    if (typeof value === 'number') {
      const written = node.source ?? String(value);
      if (!Number.isFinite(value)) {
        this.#reports.error(
          'yaml.number',
          span,
          `${written} is not a number that can be sent.`,
          'Put it in quotes if it is text.',
        );
        return { kind: 'scalar', span, style, value: null };
      }
      return {
        kind: 'scalar',
        span,
        style,
        value: String(value) === written ? value : new WrittenNumber(written, value),
      };
    }
    if (typeof value === 'string' || typeof value === 'boolean')
      return { kind: 'scalar', span, style, value };
    return { kind: 'scalar', span, style, value: null };
  }

  #alias(name: string, span: Span): Converted {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const hint = 'An anchor (&name) stands before its aliases and does not contain them.';
      this.#refuse('yaml.alias', span, `There is no anchor "${name}" before this alias.`, hint);
    }
    return target;
  }

  #refuse(code: DiagnosticCode, span: Span, message: string, hint?: string): never {
    this.#reports.error(code, span, message, hint);
    throw new Refused();
  }
}

const styles: Record<string, ScalarStyle> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'block',
  BLOCK_FOLDED: 'block',
};

const emptyScalar = (span: Span): SourceScalar => ({ kind: 'scalar', span, style: 'plain', value: null });

const sizeOf = (parts: readonly Converted[]): number => parts.reduce((sum, part) => sum + part.size, 1);

function spanOf(node: Node, otherwise: Span): Span {
  const [start, end] = node.range ?? [0, 0];
  return end > start ? { offset: start, length: end - start } : otherwise;
}
