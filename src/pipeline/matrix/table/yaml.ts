import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type YAMLMap } from 'yaml';
import type { TableErrorCode } from '../../diagnostics/codes.ts';
import type { FilePort } from '../../files.ts';
import { isMapping, type Value, WrittenNumber } from '../../values/value.ts';
import { isMergeKey } from '../../yaml/merge.ts';
import { composeTokens, readTokens } from '../../yaml/tokens.ts';
import { pieces } from './chunks.ts';
import { OwnColumns } from './columns.ts';
import { type BadRows, TableError, tableLimits } from './error.ts';
import type { BatchReader, TableRow } from './table.ts';

/**
 * Reads a YAML list of mappings as a whole: at most 1 MiB, 10,000 rows and 1,000,000 values, with aliases counted at each use. Tags are
 * refused. The first row names the columns; a column missing from a later row is null.
 */
export const yamlBatches: BatchReader = async function* (files, file, bad) {
  const reader = new YamlTable(await wholeText(files, file));
  const rows = reader.rows(bad);
  if (reader.columns.columns !== undefined) yield { columns: reader.columns.columns, rows };
};

async function wholeText(files: FilePort, file: string): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces(files, file)) {
    bytes += piece.length;
    if (bytes > tableLimits.yamlBytes) {
      const message = `A YAML table may have at most ${tableLimits.yamlBytes} bytes; use CSV or JSONL for more.`;
      throw new TableError('table.too-long', message, 1);
    }
    parts.push(piece);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch (error) {
    const message = 'The table is not UTF-8; save it as UTF-8.';
    throw new TableError('table.encoding', message, 1, { cause: error });
  }
}

class YamlTable {
  readonly columns = new OwnColumns();
  readonly #text: string;
  readonly #lines = new LineCounter();
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  rows(bad: BadRows): TableRow[] {
    this.#lines.addNewLine(0);
    const tokens = readTokens(this.#text, this.#lines.addNewLine);
    if (typeof tokens === 'number')
      throw this.#error('table.syntax', 'The table is nested too deeply.', tokens);
    // Duplicate names are checked below: the composer's own check takes quadratic time.
    const options = { version: '1.2', schema: 'core', merge: false, uniqueKeys: false } as const;
    const { documents, diagnostics } = composeTokens(tokens, options, this.#text.length);
    const [document, second] = documents;
    const error = diagnostics[0] ?? second?.errors[0];
    if (error !== undefined) {
      throw this.#error('table.syntax', `The table is not valid YAML: ${error.message}.`, error.pos[0]);
    }
    if (document === undefined) return [];
    if (second !== undefined)
      throw this.#error('table.syntax', 'The table is more than one YAML document.', second.range[0]);
    const list = document.contents;
    if (list === null || (isScalar(list) && list.value === null)) return [];
    if (!isSeq(list))
      throw this.#wrong('table.not-object', 'The table is not a YAML list of mappings.', list);
    if (list.items.length > tableLimits.yamlRows) {
      const message = `A YAML table may have at most ${tableLimits.yamlRows} rows, but this one has ${list.items.length}; use CSV or JSONL for more.`;
      throw this.#wrong('table.too-many', message, list.items[tableLimits.yamlRows] as Node);
    }
    this.#untagged(list);
    return list.items.flatMap((item) => bad.row(() => this.#row(item as Node)) ?? []);
  }

  #row(item: Node): TableRow {
    const { line, sourceLine } = this.#place(item);
    // A wrong row may have left some anchors open.
    this.#open.clear();
    const mapping = this.#value(item);
    const target = isAlias(item) ? this.#anchors.get(item.source) : item;
    if (!isMap(target))
      throw this.#wrong('table.not-object', 'This item is not a mapping such as `scene: …`.', item);
    return this.columns.row(mapping as Readonly<Record<string, Value>>, line, sourceLine);
  }

  #value(node: Node | null): Value {
    if (++this.#values > tableLimits.yamlValues) {
      const message = `The table has more than ${tableLimits.yamlValues} values with its aliases written out.`;
      throw new TableError('table.too-many', message, node === null ? 1 : this.#place(node));
    }
    if (node === null) return null;
    if (isAlias(node)) return this.#alias(node.source, node);
    this.#untagged(node);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (this.#open.has(node))
      throw this.#wrong('table.syntax', 'An alias is inside the value that it repeats.', node);
    if (this.#open.size > 100) throw this.#wrong('table.syntax', 'The table is nested too deeply.', node);
    this.#open.add(node);
    const value = this.#content(node);
    this.#open.delete(node);
    return value;
  }

  #alias(source: string, node: Node): Value {
    const target = this.#anchors.get(source);
    if (target === undefined)
      throw this.#wrong('table.syntax', `The alias *${source} has no anchor before it.`, node);
    return this.#value(target);
  }

  #content(node: Node): Value {
    if (isSeq(node)) return node.items.map((item) => this.#value(item as Node | null));
    if (isMap(node)) return this.#members(node);
    if (!isScalar(node)) throw this.#wrong('table.syntax', 'This is not a value.', node);
    const { value, source } = node;
    if (typeof value === 'number') {
      return source === undefined || String(value) === source ? value : new WrittenNumber(source, value);
    }
    return typeof value === 'string' || typeof value === 'boolean' ? value : null;
  }

  #members(mapping: YAMLMap): Readonly<Record<string, Value>> {
    const own = new Set<string>();
    const members: Record<string, Value> = {};
    for (const pair of mapping.items) {
      const key = pair.key as Node | null;
      if (isMergeKey(key)) {
        this.#merge(this.#value(pair.value as Node | null), members, pair.key as Node);
        continue;
      }
      const name = this.#name(key, mapping);
      if (own.has(name)) {
        const offset = key?.range?.[0] ?? 0;
        throw this.#error('table.duplicate-column', `The member "${name}" occurs twice.`, offset);
      }
      own.add(name);
      members[name] = this.#value(pair.value as Node | null);
    }
    return members;
  }

  /** Adds the members of a merge key (`<<: *base`) that are still missing; members written later replace them. */
  #merge(value: Value, members: Record<string, Value>, key: Node): void {
    for (const source of Array.isArray(value) ? (value as readonly Value[]) : [value]) {
      if (!isMapping(source)) throw this.#wrong('table.syntax', 'The value after << is not a mapping.', key);
      for (const [name, member] of Object.entries(source))
        if (!Object.hasOwn(members, name)) members[name] = member;
    }
  }

  #name(key: Node | null, mapping: Node): string {
    if (key === null || !isScalar(key)) {
      throw this.#wrong('table.column-name', 'The name of a member must be a text.', key ?? mapping);
    }
    this.#untagged(key);
    const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
    if (name === '__proto__')
      throw this.#wrong('table.column-name', 'A member is named "__proto__"; rename it.', key);
    return name;
  }

  #untagged(node: Node): void {
    const { tag, range } = node;
    // The composer gives plain nodes their default tag only if the text has none.
    if (tag !== undefined) {
      const message = `The tag ${tag} is not supported in a table; remove it.`;
      throw this.#error('table.syntax', message, range?.[0] ?? 0);
    }
  }

  #wrong(code: TableErrorCode, message: string, node: Node): TableError {
    return this.#error(code, message, node.range?.[0] ?? 0);
  }

  #error(code: TableErrorCode, message: string, offset: number): TableError {
    return new TableError(code, message, this.#at(offset));
  }

  #place(node: Node): { line: number; column: number; sourceLine: string } {
    return this.#at(node.range?.[0] ?? 0);
  }

  #at(offset: number): { line: number; column: number; sourceLine: string } {
    const { line, col } = this.#lines.linePos(offset);
    const start = this.#lines.lineStarts[line - 1] ?? 0;
    const end = this.#text.indexOf('\n', start);
    const sourceLine = this.#text.slice(start, end < 0 ? undefined : end).replace(/\r$/, '');
    return { line: Math.max(line, 1), column: Math.max(col, 1), sourceLine };
  }
}
