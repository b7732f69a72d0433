import path from 'node:path';
import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import type { Position } from '../diagnostics/diagnostic.ts';
import type { FileCheck, FilePort } from '../files.ts';
import type { Axis, MatrixSpec, PartialCell } from '../pipeline.ts';
import { keysOfPipeline } from '../schema/schema.ts';
import { defaults } from '../settings/read.ts';
import { isMapping } from '../values/value.ts';
import {
  entriesOf,
  isText,
  itemsOf,
  member,
  numberOf,
  type SourceEntry,
  type SourceNode,
  type TextNode,
  toValue,
} from '../yaml/node.ts';
import type { MatrixDraft, Variable } from './draft.ts';
import { checkExclude } from './exclude.ts';
import { TableError, tableDiagnostics } from './table/error.ts';
import { listingColumns, listingName, readGlob } from './table/glob.ts';
import { tableColumns } from './table/read.ts';
import type { TableFormat } from './table/table.ts';

/** Keys of the matrix that are not axes. */
const settings = new Set(['exclude', 'include', 'sample', 'repeat']);

/** Names that have another meaning in templates. */
const reservedNames = new Set(
  (
    'exclude include sample repeat rows steps ' +
    'true false nil null empty blank and or not contains forloop tablerowloop'
  ).split(' '),
);

/**
 * Reads the matrix and reports errors that the schema cannot find.
 *
 * @param folder absolute folder of the pipeline
 */
export async function readMatrix(
  root: SourceNode,
  folder: string,
  files: FilePort,
  fileCheck: FileCheck,
  collector: DiagnosticCollector,
): Promise<MatrixDraft> {
  const matrix = member(root, 'matrix');
  const axes: Axis[] = [];
  let complete = true;
  for (const entry of entriesOf(matrix)) {
    if (settings.has(entry.key)) continue;
    if (entry.key === 'rows') {
      const rows = await readRows(entry, { folder, files, fileCheck, collector });
      if (rows === undefined) complete = false;
      else axes.push(rows);
    } else if (isFree(entry, 'an axis', collector)) {
      axes.push(readAxis(entry, collector));
    }
  }
  checkColumns(axes, matrix, collector);
  const include = readPartials(member(matrix, 'include'), collector);
  const exclude = readPartials(member(matrix, 'exclude'), collector);
  for (const entry of include.entries) isFree(entry, 'a variable', collector);
  const variables = variablesOf(axes, include.cells, matrix, collector);
  checkExclude(exclude.entries, variables, complete, collector);
  const sample = member(matrix, 'sample');
  const count = numberOf(member(sample, 'count'));
  const spec: MatrixSpec = {
    axes,
    exclude: exclude.cells,
    include: include.cells,
    ...(count === undefined
      ? {}
      : { sample: { count, seed: numberOf(member(sample, 'seed')) ?? defaults.sample.seed } }),
    repeat: numberOf(member(matrix, 'repeat')) ?? defaults.matrix.repeat,
    variables: [...variables.keys()],
  };
  return { spec, variables, complete: complete && hasOnlyAxesOf(matrix, root) };
}

/** False if the matrix is not a mapping, or if its axes may stand under another key: both are reported elsewhere. */
function hasOnlyAxesOf(matrix: SourceNode | undefined, root: SourceNode): boolean {
  if (matrix !== undefined)
    return matrix.kind === 'mapping' || (matrix.kind === 'scalar' && matrix.value === null);
  const known = new Set(keysOfPipeline());
  return !entriesOf(root).some(
    ({ key, value }) => !known.has(key) && !key.startsWith('x-') && value.kind !== 'scalar',
  );
}

function isFree({ key, keySpan }: SourceEntry, what: string, collector: DiagnosticCollector): boolean {
  if (!reservedNames.has(key)) return true;
  const message = `"${key}" cannot be the name of ${what}.`;
  collector.error('matrix.reserved', keySpan, message, 'The name is reserved; choose another one.');
  return false;
}

function readAxis({ key: name, keySpan, value: node }: SourceEntry, collector: DiagnosticCollector): Axis {
  const position = collector.source.position(keySpan);
  if (node.kind === 'list') {
    const values = node.items.map(toValue);
    if (values.length === 0) {
      const hint = `An axis without values makes no cells. Remove it, or give it a value: ${name}: [fox].`;
      collector.error('matrix.empty-axis', node.span, `The axis "${name}" has no value.`, hint);
    }
    return { kind: 'values', name, values, position };
  }
  const from = numberOf(member(node, 'from'));
  const to = numberOf(member(node, 'to'));
  const step = numberOf(member(node, 'step')) ?? defaults.axis.step;
  if (from === undefined || to === undefined) return { kind: 'values', name, values: [], position };
  if (from > to) {
    const span = (member(node, 'to') as SourceNode).span;
    const message = `The range of "${name}" ends (${to}) before it begins (${from}).`;
    collector.error('matrix.range', span, message, `Swap from and to: { from: ${to}, to: ${from} }.`);
  }
  return { kind: 'range', name, from, to, step, position };
}

function checkColumns(
  axes: readonly Axis[],
  matrix: SourceNode | undefined,
  collector: DiagnosticCollector,
): void {
  const rows = axes.find((axis) => axis.kind === 'rows');
  const span = member(matrix, 'rows')?.span;
  if (rows?.kind !== 'rows' || span === undefined) return;
  const names = new Set(axes.filter((axis) => axis !== rows).map((axis) => axis.name));
  for (const column of rows.columns) {
    if (names.has(column)) {
      const message = `"${column}" is both an axis and a column of ${rows.declared}.`;
      const hint = rows.format === 'files' ? 'Rename the axis.' : 'Rename one of them.';
      collector.error('matrix.column-clash', span, message, hint);
    } else if (reservedNames.has(column)) {
      const message = `${rows.declared} has a column "${column}", which cannot be the name of a variable.`;
      collector.error('matrix.reserved', span, message, 'Rename the column.');
    }
  }
}

function readPartials(
  list: SourceNode | undefined,
  collector: DiagnosticCollector,
): { cells: PartialCell[]; entries: SourceEntry[] } {
  const nodes = itemsOf(list);
  const cells = nodes.flatMap((node): PartialCell[] => {
    const values = toValue(node);
    return isMapping(values) ? [{ values, position: collector.source.position(node.span) }] : [];
  });
  return { cells, entries: nodes.flatMap((node) => entriesOf(node)) };
}

const itemPositions = (list: SourceNode | undefined, collector: DiagnosticCollector): readonly Position[] =>
  itemsOf(list).map(({ span }) => collector.source.position(span));

function variablesOf(
  axes: readonly Axis[],
  include: readonly PartialCell[],
  matrix: SourceNode | undefined,
  collector: DiagnosticCollector,
): ReadonlyMap<string, Variable> {
  const variables = new Map<string, Variable>();
  for (const axis of axes) {
    if (axis.kind === 'rows') {
      for (const name of axis.columns) if (!variables.has(name)) variables.set(name, { name, axis });
    } else {
      variables.set(axis.name, {
        name: axis.name,
        axis,
        ...(axis.kind === 'values'
          ? { values: axis.values, positions: itemPositions(member(matrix, axis.name), collector) }
          : {}),
      });
    }
  }
  for (const { values, position } of include) {
    for (const [name, value] of Object.entries(values)) {
      const known = variables.get(name);
      if (known === undefined) variables.set(name, { name, values: [value], positions: [position] });
      else if (known.values !== undefined)
        variables.set(name, {
          ...known,
          values: [...known.values, value],
          positions: [...(known.positions ?? []), position],
        });
    }
  }
  return variables;
}

const formats: Readonly<Record<string, TableFormat>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'json',
  '.yaml': 'yaml',
  '.yml': 'yaml',
};

interface Surroundings {
  /** Absolute folder of the pipeline. */
  readonly folder: string;
  readonly files: FilePort;
  readonly fileCheck: FileCheck;
  readonly collector: DiagnosticCollector;
}

/** Reads the `rows` axis with its table's columns; undefined if they are unknown, which is then reported. */
async function readRows(entry: SourceEntry, around: Surroundings): Promise<Axis | undefined> {
  const listed = member(entry.value, 'files');
  // The schema reports a value that is empty or not a text.
  if (isText(listed) && listed.value !== '') return await readListing(entry, listed, around);
  return await readTableRows(entry, around);
}

/** Reads an axis whose rows are files. Only their names are read. */
async function readListing(
  { key: name, keySpan }: SourceEntry,
  node: TextNode,
  { folder, files, collector }: Surroundings,
): Promise<Axis | undefined> {
  const declared = node.value;
  const read = readGlob(declared);
  if ('diagnostic' in read) {
    collector.error('matrix.glob', node.span, read.diagnostic.message, read.diagnostic.hint);
    return undefined;
  }
  const file = listingName(folder, declared);
  const position = collector.source.position(keySpan);
  const axis: Axis = {
    kind: 'rows',
    name,
    declared,
    file,
    format: 'files',
    columns: listingColumns,
    position,
  };
  try {
    await tableColumns(files, file, 'files');
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    // A listing has no table text to show.
    if (error.code !== 'table.empty') collector.error(error.code, node.span, error.message);
    else {
      const hint = 'Paths are relative to the pipeline; * matches any part of a name, ** any folders.';
      collector.error('matrix.no-files', node.span, `There is no file "${declared}".`, hint);
    }
  }
  return axis;
}

async function readTableRows(
  { key: name, keySpan, value: node }: SourceEntry,
  { files, fileCheck, collector }: Surroundings,
): Promise<Axis | undefined> {
  if (!isText(node) || node.value === '') return undefined;
  const declared = node.value;
  const format = formats[path.extname(declared).toLowerCase()];
  if (format === undefined) {
    const possible = `Possible: ${Object.keys(formats).join(', ')}.`;
    const isSpreadsheet = /\.(?:xlsx?|ods|numbers)$/i.test(declared);
    collector.error(
      'matrix.rows-format',
      node.span,
      isSpreadsheet
        ? `"${declared}" is a file of a spreadsheet program, but tables are read from text files.`
        : `The ending of "${declared}" does not name a table format.`,
      isSpreadsheet ? `Save it as CSV (UTF-8) in the program that made it. ${possible}` : possible,
    );
    return undefined;
  }
  const file = await fileCheck.check(declared, node.span);
  if (file === undefined) return undefined;
  try {
    const columns = await tableColumns(files, file, format);
    return {
      kind: 'rows',
      name,
      declared,
      file,
      format,
      columns,
      position: collector.source.position(keySpan),
    };
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    const shown = path.join(path.dirname(collector.source.file), declared);
    for (const diagnostic of tableDiagnostics(error, shown)) collector.elsewhere(diagnostic);
    return undefined;
  }
}
