import type { Diagnostic } from '../../../src/pipeline/diagnostics/diagnostic.ts';
import type { FilePort } from '../../../src/pipeline/files.ts';
import type { Axis, MatrixSpec, PartialCell } from '../../../src/pipeline/pipeline.ts';
import type { Value } from '../../../src/pipeline/values/value.ts';
import type { Cell, Selection } from '../../../src/plan/cell.ts';
import { prepareMatrix } from '../../../src/plan/matrix/matrix.ts';
import { type Matrix } from '../../../src/plan/matrix/types.ts';
import { MemoryFiles } from '../../pipeline/table-port.ts';

const position = { line: 1, column: 1, length: 1 };

/** An axis of listed values. */
export const listed = (name: string, values: readonly Value[]): Axis => ({
  kind: 'values',
  name,
  values,
  position,
});

/** An axis of numbers. */
export const ranged = (name: string, from: number, to: number, step = 1): Axis => ({
  kind: 'range',
  name,
  from,
  to,
  step,
  position,
});

/** An axis of a table's rows. */
export const rowed = (
  file: string,
  columns: readonly string[],
  format: 'csv' | 'tsv' | 'jsonl' | 'yaml' = 'csv',
): Axis => ({ kind: 'rows', name: 'rows', declared: file, file, format, columns, position });

export interface SpecParts {
  readonly axes?: readonly Axis[];
  readonly exclude?: readonly Readonly<Record<string, Value>>[];
  readonly include?: readonly Readonly<Record<string, Value>>[];
  readonly sample?: { readonly count: number; readonly seed: number };
  readonly repeat?: number;
}

export function specOf({ axes = [], exclude = [], include = [], sample, repeat = 1 }: SpecParts): MatrixSpec {
  const partial = (values: PartialCell['values'], line: number): PartialCell => ({
    values,
    position: { line: line + 1, column: 3, length: 1 },
  });
  const names = [
    ...axes.flatMap((axis) => (axis.kind === 'rows' ? axis.columns : [axis.name])),
    ...include.flatMap((values) => Object.keys(values)),
  ];
  return {
    axes,
    exclude: exclude.map(partial),
    include: include.map(partial),
    ...(sample === undefined ? {} : { sample }),
    repeat,
    variables: [...new Set(names)],
  };
}

/** The prepared matrix of a spec that has to be good. */
export async function matrixOf(parts: SpecParts, files: FilePort = new MemoryFiles()): Promise<Matrix> {
  const prepared = await prepareMatrix(specOf(parts), files, 'pipelines/p.yaml');
  if (!prepared.ok)
    throw new Error(prepared.error.map(({ code, message }) => `${code}: ${message}`).join('\n'));
  return prepared.value;
}

/** The diagnostics of a spec that has to be bad. */
export async function errorsOf(
  parts: SpecParts,
  files: FilePort = new MemoryFiles(),
): Promise<readonly Diagnostic[]> {
  const prepared = await prepareMatrix(specOf(parts), files, 'pipelines/p.yaml');
  if (prepared.ok) throw new Error('the matrix is good');
  return prepared.error;
}

export async function cellsOf(matrix: Matrix, selection?: Selection): Promise<Cell[]> {
  const cells: Cell[] = [];
  for await (const cell of matrix.cells(selection)) cells.push(cell);
  return cells;
}

/** Only the variables of the cells. */
export async function varsOf(parts: SpecParts, files?: FilePort): Promise<Cell['vars'][]> {
  return (await cellsOf(await matrixOf(parts, files))).map(({ vars }) => vars);
}
