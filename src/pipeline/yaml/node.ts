import type { Span } from '../diagnostics/source.ts';
import { type Value, WrittenNumber } from '../values/value.ts';

/** How a scalar is written, which determines how its text maps to the file. */
export type ScalarStyle = 'plain' | 'single' | 'double' | 'block';

export interface SourceScalar {
  readonly kind: 'scalar';
  /** The span to mark if the node is wrong. */
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

/** A YAML document as the checks see it: JSON's shapes, each with its position in the file; aliases are resolved. */
export type SourceNode = SourceScalar | SourceList | SourceMapping;

export interface TextNode extends SourceScalar {
  readonly value: string;
}

/** Whether a node is a text. */
export const isText = (node: SourceNode | undefined): node is TextNode =>
  node?.kind === 'scalar' && typeof node.value === 'string';

/** Returns the entries of a mapping; empty for any other node. */
export const entriesOf = (node: SourceNode | undefined): readonly SourceEntry[] =>
  node?.kind === 'mapping' ? [...node.entries.values()] : [];

/** Returns an entry of a mapping, with its key. */
export const entryAt = (node: SourceNode | undefined, name: string): SourceEntry | undefined =>
  node?.kind === 'mapping' ? node.entries.get(name) : undefined;

/** Returns a member of a mapping. */
export const member = (node: SourceNode | undefined, name: string): SourceNode | undefined =>
  entryAt(node, name)?.value;

/** Returns the items of a list; empty for any other node. */
export const itemsOf = (node: SourceNode | undefined): readonly SourceNode[] =>
  node?.kind === 'list' ? node.items : [];

/** Returns the node at a path of keys and indexes; undefined if there is none. */
export const nodeAt = (
  node: SourceNode | undefined,
  path: readonly (string | number)[],
): SourceNode | undefined =>
  path.reduce((at, name) => (at?.kind === 'list' ? at.items[Number(name)] : member(at, String(name))), node);

/** Returns the number of a scalar; undefined for anything else, also for a number written as a text. */
export function numberOf(node: SourceNode | undefined): number | undefined {
  const value = node?.kind === 'scalar' ? node.value : undefined;
  if (value instanceof WrittenNumber) return value.value;
  return typeof value === 'number' ? value : undefined;
}

/** Converts a node to its value; numbers keep their written form. */
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

/** Converts a node to plain JSON for a JSON Schema. */
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
