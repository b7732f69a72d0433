import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { DiagnosticCode } from '../diagnostics/codes.ts';
import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import type { Span } from '../diagnostics/source.ts';
import { WrittenNumber } from '../values/value.ts';
import { tooDeep, yamlLimits } from './limits.ts';
import { isMergeKey, mergedMappings } from './merge.ts';
import type { ScalarStyle, SourceEntry, SourceNode, SourceScalar } from './node.ts';

/** Names of members of JavaScript's own objects. */
const forbiddenKeys = new Set(['__proto__', 'constructor']);

const plainTags = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** Hint for a template that is not in quotes: YAML reads its braces as mappings. */
const templateHint = 'Put a text that begins with {{ in quotes: "{{ name }}, …".';

/** Suggests what to do about a duplicate key: a mapping below it may be a second step, which needs its own name. */
function hintForTwice(key: string, { kind }: SourceNode): string {
  if (kind === 'scalar') return 'Keep one of the two and remove the other.';
  const other = key.length > 40 ? '' : `, for example ${key.replace(/\d{1,9}$/, '')}2`;
  return kind === 'list'
    ? `Join their values in one list, or give this one another name${other}.`
    : `Give this one another name${other}; or join the two into one.`;
}

/** A converted node, with the number of its values. */
interface Converted {
  readonly node: SourceNode;
  readonly size: number;
}

/** Stops a conversion after its error has been reported. */
class ConversionError extends Error {}

/** Converts a composed document to nodes of JSON's shapes; undefined if that fails, which is then reported. */
export const convertDocument = (
  document: Document.Parsed,
  collector: DiagnosticCollector,
): SourceNode | undefined => new Conversion(document, collector).run();

class Conversion {
  readonly #document: Document.Parsed;
  readonly #collector: DiagnosticCollector;
  readonly #anchors = new Map<string, Converted>();

  constructor(document: Document.Parsed, collector: DiagnosticCollector) {
    this.#document = document;
    this.#collector = collector;
  }

  run(): SourceNode | undefined {
    try {
      return this.#convert(this.#document.contents, { offset: 0, length: 1 }, 1).node;
    } catch (error) {
      if (error instanceof ConversionError) return undefined;
      throw error;
    }
  }

  /** Converts a node. `keySpan` is marked if the value is missing. */
  #convert(node: Node | null, keySpan: Span, depth: number): Converted {
    if (node === null) return { node: emptyScalar(keySpan), size: 1 };
    const span = spanOf(node, keySpan);
    if (depth > yamlLimits.depth) this.#refuse('yaml.nesting', span, tooDeep);
    if (isAlias(node)) return this.#alias(node.source, span);
    const converted = this.#bare(node, span, keySpan, depth);
    if (converted.size > yamlLimits.values) {
      const message = `The file contains more than ${yamlLimits.values.toLocaleString('en')} values, counting aliases at each use.`;
      this.#refuse('yaml.size', span, message, 'Put long lists into a table and name it in matrix.rows.');
    }
    if ('anchor' in node && typeof node.anchor === 'string') this.#anchors.set(node.anchor, converted);
    return converted;
  }

  #bare(node: Node, span: Span, keySpan: Span, depth: number): Converted {
    const tag = (node as { tag?: string }).tag;
    if (tag !== undefined && !plainTags.has(tag)) {
      const short = tag.replace('tag:yaml.org,2002:', '!!');
      this.#collector.error('yaml.tag', span, `The tag ${short} is not allowed: pipelines are plain data.`);
      return { node: emptyScalar(span), size: 1 };
    }
    if (isScalar(node)) return { node: this.#scalar(node, span), size: 1 };
    if (isSeq(node)) {
      const items = node.items.map((item) => this.#convert(item as Node | null, span, depth + 1));
      return { node: { kind: 'list', span, items: items.map((item) => item.node) }, size: sizeOf(items) };
    }
    if (this.#isBareTemplate(span)) return { node: this.#bareTemplate(span), size: 1 };
    if (isMap(node)) return this.#mapping(node.items as Pair<Node, Node | null>[], span, depth);
    // The parser makes no other nodes; an empty value is a scalar.
    return { node: emptyScalar(keySpan), size: 1 };
  }

  #isBareTemplate({ offset }: Span): boolean {
    return this.#collector.source.text.startsWith('{{', offset);
  }

  /** Reads a bare template as the user probably meant it, so that errors inside are found too. */
  #bareTemplate(span: Span): SourceScalar {
    const { text } = this.#collector.source;
    this.#collector.error(
      'yaml.key',
      span,
      'YAML reads these braces as a mapping, not as text.',
      templateHint,
    );
    return {
      kind: 'scalar',
      span,
      style: 'plain',
      value: text.slice(span.offset, span.offset + span.length),
    };
  }

  #mapping(pairs: readonly Pair<Node, Node | null>[], span: Span, depth: number): Converted {
    const entries = new Map<string, SourceEntry>();
    const own = new Set<string>();
    const values: Converted[] = [];
    for (const pair of pairs) {
      const keySpan = pair.key === null ? span : spanOf(pair.key, span);
      const value = this.#convert(pair.value, keySpan, depth + 1);
      if (isMergeKey(pair.key)) {
        values.push(value);
        this.#merge(value.node, entries, keySpan);
        continue;
      }
      const key = this.#key(pair.key, keySpan);
      if (key === undefined) continue;
      if (own.has(key)) {
        const first = this.#collector.source.position((entries.get(key) as SourceEntry).keySpan).line;
        this.#collector.error(
          'yaml.duplicate-key',
          keySpan,
          `The key "${key}" occurs twice in this mapping.`,
          `The first one is on line ${first}. ${hintForTwice(key, value.node)}`,
        );
        continue;
      }
      own.add(key);
      values.push(value);
      // An own key replaces a merged one, and stands where it is written.
      entries.delete(key);
      entries.set(key, { key, keySpan, value: value.node });
    }
    return { node: { kind: 'mapping', span, entries }, size: sizeOf(values) };
  }

  /** Adds the missing entries of a merge key, with their original positions. */
  #merge(value: SourceNode, entries: Map<string, SourceEntry>, keySpan: Span): void {
    const mappings = mergedMappings(value);
    if (mappings === undefined) {
      const hint = 'Write << with an alias of a mapping, or with a list of such aliases: <<: *base.';
      this.#collector.error('yaml.merge', keySpan, 'Only mappings can be merged.', hint);
    }
    for (const [key, entry] of (mappings ?? []).flatMap((mapping) => [...mapping]))
      if (!entries.has(key)) entries.set(key, entry);
  }

  #key(node: Node | null, span: Span): string | undefined {
    if (!isScalar(node) || typeof node.value !== 'string') {
      const shown = isScalar(node) && node.source !== undefined ? ` Write "${node.source}".` : '';
      this.#collector.error('yaml.key', span, 'A key must be text.', `Put it in quotes.${shown}`);
      return undefined;
    }
    if (forbiddenKeys.has(node.value)) {
      this.#collector.error('yaml.key', span, `"${node.value}" cannot be a key.`, 'Choose another name.');
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
        this.#collector.error(
          'yaml.number',
          span,
          `${written} is a number that cannot be sent.`,
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
      const hint = 'Write an anchor (&name) before its aliases; it cannot contain them.';
      this.#refuse('yaml.alias', span, `There is no anchor "${name}" before this alias.`, hint);
    }
    return target;
  }

  #refuse(code: DiagnosticCode, span: Span, message: string, hint?: string): never {
    this.#collector.error(code, span, message, hint);
    throw new ConversionError();
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
