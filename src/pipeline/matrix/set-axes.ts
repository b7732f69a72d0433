import { DiagnosticCollector } from '../diagnostics/collector.ts';
import { suggestion } from '../diagnostics/did-you-mean.ts';
import { SourceText, type Span } from '../diagnostics/source.ts';
import type { AxisSetting } from '../pipeline.ts';
import { leavesOf, memberAt } from '../values/path.ts';
import { renderValue, type Value } from '../values/value.ts';
import { entriesOf, member, type SourceEntry, type SourceNode, toValue } from '../yaml/node.ts';
import { readYaml } from '../yaml/read.ts';
import { inRange } from './exclude.ts';

/** Keys of the matrix that hold no values of an axis. */
const noAxes = new Set(['rows', 'exclude', 'include', 'sample', 'repeat']);

/**
 * The document with axes of the matrix replaced. Several settings of one axis are several values. Entries of exclude and include
 * that name a value which such an axis no longer has are left out: they are about cells that are not there.
 *
 * Reports `matrix.set` where there is no such axis, or the value is not one that an axis can have.
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
  for (const { axis, value } of settings) {
    const entry = matrix?.kind === 'mapping' && names.includes(axis) ? matrix.entries.get(axis) : undefined;
    if (entry === undefined) reportUnknown(axis, names, matrix, root.span, collector);
    else {
      const node = readValue(value, entry.keySpan, axis, collector);
      const before = replaced.get(axis)?.value;
      if (before !== undefined && node !== undefined && (before.kind !== 'list' || node.kind !== 'list')) {
        collector.error('matrix.set', entry.keySpan, `--set ${axis}: a range stands alone.`);
      } else if (node !== undefined) replaced.set(axis, { ...entry, value: joined(before, node) });
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
  axis: string,
  names: readonly string[],
  matrix: SourceNode | undefined,
  whole: Span,
  collector: DiagnosticCollector,
): void {
  const rows = member(matrix, 'rows');
  const hint =
    rows === undefined
      ? () => suggestion(axis, names, 'axes of the matrix')
      : `${suggestion(axis, names, 'axes of the matrix')} Rows of a table are chosen with --filter COLUMN=VALUE.`;
  const span = matrix?.span ?? { offset: whole.offset, length: 1 };
  collector.error('matrix.set', span, `--set: the matrix has no axis "${axis}".`, hint);
}

/** The new values of an axis: a list or a range in brackets, else one value, which is text unless YAML has it as a number or the like. */
function readValue(
  text: string,
  span: Span,
  axis: string,
  collector: DiagnosticCollector,
): SourceNode | undefined {
  const isYaml = /^\s*[[{"']/.test(text) || /^[-+.\w]+$/.test(text);
  if (!isYaml) return listOf([{ kind: 'scalar', span, style: 'double', value: text }], span);
  const own = new DiagnosticCollector(new SourceText('--set', text));
  const node = readYaml(own.source, own);
  const [problem] = own.diagnostics();
  if (node === undefined || own.failed) {
    collector.error(
      'matrix.set',
      span,
      `--set ${axis}: ${problem?.message ?? 'The value cannot be read.'}`,
      `A list is written ${axis}=[a, b], a range ${axis}={from: 1, to: 3}, a text that begins with a bracket in quotes.`,
    );
    return undefined;
  }
  const placed = placedAt(node, span);
  if (placed.kind === 'list') return placed;
  const isRange = member(placed, 'from') !== undefined && member(placed, 'to') !== undefined;
  return isRange ? placed : listOf([placed], span);
}

const listOf = (items: readonly SourceNode[], span: Span): SourceNode => ({ kind: 'list', span, items });

/** Values of several settings of one axis together. */
const joined = (before: SourceNode | undefined, next: SourceNode): SourceNode =>
  before?.kind === 'list' && next.kind === 'list'
    ? { ...next, items: [...before.items, ...next.items] }
    : next;

/** A node of another text, which shows the place of the axis when something is wrong with it. */
function placedAt(node: SourceNode, span: Span): SourceNode {
  switch (node.kind) {
    case 'scalar':
      // Offsets within the text mean nothing in the file.
      return { ...node, span, style: 'double' };
    case 'list':
      return { ...node, span, items: node.items.map((item) => placedAt(item, span)) };
    case 'mapping':
      return {
        ...node,
        span,
        entries: new Map(
          entriesOf(node).map((entry) => [
            entry.key,
            { key: entry.key, keySpan: span, value: placedAt(entry.value, span) },
          ]),
        ),
      };
  }
}

/** The entries of exclude or include that concern no value which is gone. */
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
