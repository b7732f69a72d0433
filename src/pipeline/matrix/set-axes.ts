import { DiagnosticCollector } from '../diagnostics/collector.ts';
import { listing, nearest } from '../diagnostics/did-you-mean.ts';
import { SourceText, type Span } from '../diagnostics/source.ts';
import type { AxisSetting } from '../pipeline.ts';
import { leavesOf, memberAt } from '../values/path.ts';
import { renderValue, type Value } from '../values/value.ts';
import {
  entriesOf,
  isText,
  itemsOf,
  member,
  type SourceEntry,
  type SourceNode,
  toValue,
} from '../yaml/node.ts';
import { readYaml } from '../yaml/read.ts';
import { inRange } from './exclude.ts';

const noAxes = new Set(['rows', 'exclude', 'include', 'sample', 'repeat']);

/** Formats a replaced axis as its command-line flag. */
export const setFlagOf = ({ axis, value }: AxisSetting): string => `--set ${axis}=${value}`;

/** Position of a setting: the whole flag, its axis, and the start of its value. */
interface Place {
  readonly flag: Span;
  readonly axis: Span;
  readonly value: Span;
}

function placeOf(setting: AxisSetting, index: number, source: SourceText): Place {
  const offset = source.flagStart(index);
  const name = offset + '--set '.length;
  const value = name + setting.axis.length + 1;
  return {
    flag: { offset, length: setFlagOf(setting).length },
    axis: { offset: name, length: setting.axis.length },
    value: { offset: value, length: Math.max(1, setting.value.length) },
  };
}

/**
 * Replaces axes of the matrix in the document. Several settings of one axis are several values. Entries of exclude and include that name
 * a removed value are dropped, because their cells no longer exist.
 *
 * Reports `matrix.set` for an unknown axis, or a value that an axis cannot have.
 */
export function setAxes(
  root: SourceNode,
  settings: readonly AxisSetting[],
  collector: DiagnosticCollector,
): SourceNode {
  if (settings.length === 0 || root.kind !== 'mapping') return root;
  const matrix = member(root, 'matrix');
  const names = entriesOf(matrix).flatMap(({ key }) => (noAxes.has(key) ? [] : [key]));
  const replaced = new Map<string, SourceEntry>();
  for (const [index, setting] of settings.entries()) {
    const { axis } = setting;
    const place = placeOf(setting, index, collector.source);
    const entry = matrix?.kind === 'mapping' && names.includes(axis) ? matrix.entries.get(axis) : undefined;
    if (entry === undefined) reportUnknown(setting, place, names, matrix, collector);
    else {
      const node = readValue(setting, place, collector);
      const before = replaced.get(axis)?.value;
      if (before !== undefined && node !== undefined && (before.kind !== 'list' || node.kind !== 'list')) {
        const message = `A range replaces the whole axis "${axis}", so no other --set can add values.`;
        const hint = `Give one --set ${axis}=…, with the range or with a list.`;
        collector.error('matrix.set', place.value, message, hint);
      } else if (node !== undefined)
        replaced.set(axis, { ...entry, keySpan: place.axis, value: joined(before, node) });
    }
  }
  if (matrix?.kind !== 'mapping' || replaced.size === 0) return root;
  const entries = new Map(
    [...matrix.entries].map(([key, entry]): [string, SourceEntry] => [
      key,
      replaced.get(key) ??
        (key === 'exclude' || key === 'include'
          ? { ...entry, value: without(entry.value, replaced) }
          : entry),
    ]),
  );
  const at = root.entries.get('matrix') as SourceEntry;
  return {
    ...root,
    entries: new Map(root.entries).set('matrix', { ...at, value: { ...matrix, entries } }),
  };
}

function reportUnknown(
  { axis, value }: AxisSetting,
  place: Place,
  names: readonly string[],
  matrix: SourceNode | undefined,
  collector: DiagnosticCollector,
): void {
  const rows = member(matrix, 'rows');
  const [head = ''] = axis.split('.');
  if (head !== axis && names.includes(head)) {
    const example = exampleOf(member(matrix, head), axis.slice(head.length + 1), value);
    const message = `--set replaces a whole axis, but "${axis}" is a member of the values of "${head}".`;
    const hint = `Write all its values with all their members: --set '${head}=[${example}]'. To choose among the existing values: --filter '${axis}=VALUE'.`;
    return collector.error('matrix.set', place.axis, message, hint);
  }
  const near = nearest(axis, names);
  const list =
    names.length === 0
      ? 'The matrix has no axes.'
      : `The axes of the matrix are ${listing(names)}: --set '${names[0] ?? ''}=${value}'.`;
  const hint =
    near === undefined
      ? rows === undefined
        ? list
        : `${names.length === 0 ? '' : `${list} `}Edit the table to change its rows, or choose among them with --filter '${axis}=VALUE' and a value of the table.`
      : `Did you mean "${near}"? Write --set '${near}=${value}'.`;
  const table = isText(rows) ? rows.value : 'the matrix';
  const message =
    near === undefined && rows !== undefined
      ? `--set replaces an axis, but "${axis}" can only be a column of ${table}.`
      : `The matrix has no axis "${axis}".`;
  collector.error('matrix.set', place.axis, message, hint);
}

/** Returns the first value of an axis with one member changed, as a flow mapping. */
function exampleOf(axis: SourceNode | undefined, path: string, value: string): string {
  const members = entriesOf(itemsOf(axis)[0]).map(({ key, value: node }) => {
    const text = node.kind === 'scalar' ? renderValue(toValue(node)) : '…';
    return `${key}: ${key === path ? value : text}`;
  });
  return members.length === 0 ? `{${path}: ${value}}` : `{${members.join(', ')}}`;
}

/** Reads the new values of an axis: a list or range in brackets, else one value, a text unless YAML reads it as a number or similar. */
function readValue(
  { axis, value: text }: AxisSetting,
  place: Place,
  collector: DiagnosticCollector,
): SourceNode | undefined {
  const span = place.value;
  const isYaml = /^\s*[[{"']/.test(text) || /^[-+.\w]+$/.test(text);
  if (!isYaml) return listOf([{ kind: 'scalar', span, style: 'double', value: text }], span);
  const own = new DiagnosticCollector(new SourceText('--set', text));
  const node = readYaml(own.source, own);
  const [problem] = own.diagnostics();
  if (node === undefined || own.failed) {
    const { message = 'The value cannot be read.', line = 1, column = 1, length = 1 } = problem ?? {};
    const offset = span.offset + own.source.lineOffset(line) + column - 1;
    const closed = closedText(text);
    const forms = `A list is written ${axis}=[a, b], a range ${axis}={from: 1, to: 3}, a text that begins with a bracket in quotes.`;
    const hint = closed === undefined ? forms : `Write --set '${axis}=${closed}'.`;
    collector.error('matrix.set', { offset, length }, message, hint);
    return undefined;
  }
  const placed = placedAt(node, span);
  if (placed.kind === 'list') return placed;
  const isRange = member(placed, 'from') !== undefined && member(placed, 'to') !== undefined;
  return isRange ? placed : listOf([placed], span);
}

/** Completes a list or mapping that lacks only its closing bracket. */
function closedText(text: string): string | undefined {
  const end = { '[': ']', '{': '}' }[text.trim()[0] ?? ''];
  if (end === undefined || text.includes("'")) return undefined;
  const closed = `${text.trim()}${end}`;
  const own = new DiagnosticCollector(new SourceText('--set', closed));
  return readYaml(own.source, own) === undefined || own.failed ? undefined : closed;
}

const listOf = (items: readonly SourceNode[], span: Span): SourceNode => ({ kind: 'list', span, items });

const joined = (before: SourceNode | undefined, next: SourceNode): SourceNode =>
  before?.kind === 'list' && next.kind === 'list'
    ? { ...next, items: [...before.items, ...next.items] }
    : next;

/** Moves a node, read from a flag's text, to its position in the flag. @param base start of the text */
function placedAt(node: SourceNode, base: Span): SourceNode {
  const moved = ({ offset, length }: Span): Span => ({ offset: base.offset + offset, length });
  const span = moved(node.span);
  switch (node.kind) {
    case 'scalar':
      return { ...node, span, style: 'double' };
    case 'list':
      return { ...node, span, items: node.items.map((item) => placedAt(item, base)) };
    case 'mapping':
      return {
        ...node,
        span,
        entries: new Map(
          entriesOf(node).map(({ key, keySpan, value }) => [
            key,
            { key, keySpan: moved(keySpan), value: placedAt(value, base) },
          ]),
        ),
      };
  }
}

/** Returns an exclude or include list without the entries that name a removed value. */
function without(list: SourceNode, replaced: ReadonlyMap<string, SourceEntry>): SourceNode {
  if (list.kind !== 'list') return list;
  const items = list.items.filter((item) =>
    entriesOf(item).every(({ key, value }) => {
      const axis = replaced.get(key);
      return axis === undefined || hasValue(axis.value, toValue(value));
    }),
  );
  return { ...list, items };
}

function rangeOf(axis: SourceNode): { from: number; to: number; step: number } {
  const numberAt = (name: string): number => Number(toValue(member(axis, name) ?? axis));
  return { from: numberAt('from'), to: numberAt('to'), step: member(axis, 'step') ? numberAt('step') : 1 };
}

function hasValue(axis: SourceNode, partial: Value): boolean {
  if (axis.kind !== 'list') return inRange(renderValue(partial), rangeOf(axis));
  const leaves = leavesOf(partial);
  return axis.items
    .map(toValue)
    .some((value) => leaves.every(({ path, text }) => renderValue(memberAt(value, path) ?? null) === text));
}
