import type { Span } from '../diagnostics/source.ts';
import { type Value, WrittenNumber } from '../values/value.ts';

/** How a scalar is written, which decides how its text maps to the file. */
export type ScalarStyle = 'plain' | 'single' | 'double' | 'block';

export interface SourceScalar {
  readonly kind: 'scalar';
  /** What to mark when something is wrong with it. */
  readonly span: Span;
  readonly style: ScalarStyle;
  readonly value: string | number | boolean | null | WrittenNumber;
}

export interface SourceList {
  readonly kind: 'list';
  readonly span: Span;
  readonly items: readonly SourceNode[];
}

export interface SourceEntry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: SourceNode;
}

export interface SourceMapping {
  readonly kind: 'mapping';
  readonly span: Span;
  readonly entries: ReadonlyMap<string, SourceEntry>;
}

/** A YAML document as the checks see it: JSON's shapes, each with its place in the file; aliases are resolved. */
export type SourceNode = SourceScalar | SourceList | SourceMapping;

export interface TextNode extends SourceScalar {
  readonly value: string;
}

/** True for a scalar that is text. */
export const isText = (node: SourceNode | undefined): node is TextNode =>
  node?.kind === 'scalar' && typeof node.value === 'string';

/** The members of a mapping; none when the node is anything else. */
export const entriesOf = (node: SourceNode | undefined): readonly SourceEntry[] =>
  node?.kind === 'mapping' ? [...node.entries.values()] : [];

/** A member of a mapping, with its key. */
export const entryAt = (node: SourceNode | undefined, name: string): SourceEntry | undefined =>
  node?.kind === 'mapping' ? node.entries.get(name) : undefined;

/** A member of a mapping. */
export const member = (node: SourceNode | undefined, name: string): SourceNode | undefined =>
  entryAt(node, name)?.value;

/** The items of a list; none when the node is anything else. */
export const itemsOf = (node: SourceNode | undefined): readonly SourceNode[] =>
  node?.kind === 'list' ? node.items : [];

/** What keys and indexes lead to; undefined where there is nothing. */
export const nodeAt = (
  node: SourceNode | undefined,
  path: readonly (string | number)[],
): SourceNode | undefined =>
  path.reduce((at, name) => (at?.kind === 'list' ? at.items[Number(name)] : member(at, String(name))), node);

/** The number that a node is; undefined for anything else, and for a number that is written as a text. */
export function numberOf(node: SourceNode | undefined): number | undefined {
  const value = node?.kind === 'scalar' ? node.value : undefined;
  if (value instanceof WrittenNumber) return value.value;
  return typeof value === 'number' ? value : undefined;
}

/** The value that the node stands for; numbers remember how they were written. */
export function toValue(node: SourceNode): Value {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(toValue);
    case 'mapping':
      return Object.fromEntries(entriesOf(node).map((entry) => [entry.key, toValue(entry.value)]));
  }
}

/** The node as plain JSON, as a JSON Schema sees it. */
export function toJson(node: SourceNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value instanceof WrittenNumber ? node.value.value : node.value;
    case 'list':
      return node.items.map(toJson);
    case 'mapping':
      return Object.fromEntries(entriesOf(node).map((entry) => [entry.key, toJson(entry.value)]));
  }
}
