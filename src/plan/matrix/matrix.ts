import { dirname, isAbsolute, join } from 'node:path';
import type { DiagnosticCode } from '../../pipeline/diagnostics/codes.ts';
import { type Diagnostic, err, ok, type Result } from '../../pipeline/diagnostics/diagnostic.ts';
import type { FilePort } from '../../pipeline/files.ts';
import { TableError, tableDiagnostics } from '../../pipeline/matrix/table/error.ts';
import type { Axis, MatrixSpec, PartialCell, Reduction } from '../../pipeline/pipeline.ts';
import { renderValue } from '../../pipeline/values/value.ts';
import { type PreparedAxis, rangeAxis, rowsAxis, textAt, valuesAxis } from './axis.ts';
import { MatrixCells } from './cells.ts';
import { maxIndexed, TooManyToGroup } from './groups.ts';
import { type PairHash, pairHash, RowHashes } from './hash.ts';
import { MatrixSpace } from './space.ts';
import { type MatrixTable, type RowValues, scanTable } from './table.ts';
import type { Matrix } from './types.ts';
import { AxisClasses, ClassList } from './value-class.ts';

/**
 * Prepares a matrix. Reads each table once, to count and hash it, to check every row, and to learn which excludes and includes its rows
 * satisfy; finds excludes that match nothing, and counts the cells. Memory: about one byte per row of a table that excludes or includes
 * use, 8 more with a sample, and tables of at most 1 MiB.
 *
 * @param file path of the pipeline file as the user gave it, for diagnostics
 * @param reductions those of the pipeline's steps, to group the cells by
 * @returns all errors: codes `table.*` (in the table's file, see `TableErrorCode`), `matrix.exclude-nothing`, `matrix.empty`,
 * `matrix.too-large`, `matrix.sample-too-large`; `sourceLine` is empty if only the pipeline's text contains it
 * @throws the signal's reason when it is aborted
 */
export async function prepareMatrix(
  spec: MatrixSpec,
  files: FilePort,
  file: string,
  signal?: AbortSignal,
  reductions: readonly Reduction[] = [],
): Promise<Result<Matrix, readonly Diagnostic[]>> {
  const partials = [...spec.exclude, ...spec.include].map(({ values }) => values);
  const axes: PreparedAxis[] = [];
  const tables: MatrixTable[] = [];
  const errors: Diagnostic[] = [];
  for (const axis of spec.axes) {
    if (axis.kind === 'values') axes.push(valuesAxis(axis.name, axis.values, partials));
    else if (axis.kind === 'range') axes.push(rangeAxis(axis.name, axis, partials));
    else {
      const isReduced = isReducedIn(reductions)(axis);
      const prepared = await prepareRows(axis, spec, partials, files, isReduced, signal);
      if (prepared instanceof TableError) errors.push(...tableErrors(prepared, axis, file));
      else {
        axes.push(prepared.axis);
        tables.push(prepared.table);
      }
    }
  }
  if (errors.length > 0) return err(errors);
  const space = new MatrixSpace(axes, spec.exclude, spec.include);
  errors.push(...spaceErrors(space, spec, file));
  if (errors.length > 0) return err(errors);
  for (const { kept, declared } of tables.filter(isReducedIn(reductions)))
    if (kept === undefined) errors.push(matrixError(spec, file, 'matrix.too-large', largeTable(declared)));
  if (errors.length > 0) return err(errors);
  const cells = new MatrixCells(space, spec, tables, files);
  try {
    await cells.group(reductions, signal);
  } catch (error) {
    if (!(error instanceof TooManyToGroup)) throw error;
    return err([matrixError(spec, file, 'matrix.too-large', tooMany)]);
  }
  return ok(cells);
}

const isReducedIn =
  (reductions: readonly Reduction[]) =>
  ({ columns }: Pick<MatrixTable, 'columns'>): boolean =>
    columns.some((name) => reductions.some(({ axes }) => axes.includes(name)));

const largeTable = (declared: string): string =>
  `A step gathers or picks over columns of ${declared}, which has more than 16 MiB: the rows of a group are needed together. Take other axes, or split the table.`;

const tooMany = `A step gathers or picks over axes of a matrix with excludes, added includes, a sample, or a part of a table's columns: at most ${maxIndexed} combinations are grouped then.`;

function matrixError(spec: MatrixSpec, file: string, code: DiagnosticCode, message: string): Diagnostic {
  const { line, column, length } = spec.axes[0]?.position ??
    spec.include[0]?.position ?? { line: 1, column: 1, length: 1 };
  return { line, column, length, severity: 'error', code, message, file, sourceLine: '' };
}

async function prepareRows(
  axis: Extract<Axis, { kind: 'rows' }>,
  spec: MatrixSpec,
  partials: readonly PartialCell['values'][],
  files: FilePort,
  isReduced: boolean,
  signal: AbortSignal | undefined,
): Promise<{ axis: PreparedAxis; table: MatrixTable } | TableError> {
  const classes = new AxisClasses(axis.columns, partials);
  const ids = new ClassList();
  const hashes = spec.sample === undefined ? undefined : new RowHashes();
  const onRow = (values: RowValues): void => {
    if (classes.probes.length > 0) {
      ids.push(classes.classOf(({ variable, path }) => textAt(values[variable] ?? null, path)));
    }
    hashes?.push(rowHash(axis.columns, values));
  };
  try {
    const table = await scanTable(files, axis, onRow, signal, isReduced);
    return { axis: rowsAxis(table, classes, ids, hashes), table };
  } catch (error) {
    if (error instanceof TableError) return error;
    throw error;
  }
}

function rowHash(columns: readonly string[], values: RowValues): PairHash {
  let a = 0;
  let b = 0;
  for (const column of columns) {
    const hash = pairHash(column, renderValue(values[column] ?? null));
    a = (a + hash.a) | 0;
    b = (b + hash.b) | 0;
  }
  return { a, b };
}

function tableErrors(
  error: TableError,
  { declared, position }: Extract<Axis, { kind: 'rows' }>,
  pipelineFile: string,
): readonly Diagnostic[] {
  // Paths in the pipeline are relative to it; messages use paths relative to the user's terminal, like the pipeline's own.
  const table = isAbsolute(declared) ? declared : join(dirname(pipelineFile), declared);
  const found = tableDiagnostics(error, table);
  return found.map((one) =>
    one.code === 'table.unreadable' ? { ...one, ...position, file: pipelineFile, sourceLine: '' } : one,
  );
}

/** Most combinations that a sample is drawn from: some ten seconds of work, which can be aborted. */
const maxSampled = 100_000_000;

/** Most cells that a sample draws, at 16 bytes each. */
const maxDrawn = 10_000_000;

function spaceErrors(space: MatrixSpace, spec: MatrixSpec, file: string): Diagnostic[] {
  const error = (
    at: Diagnostic | PartialCell['position'],
    code: DiagnosticCode,
    message: string,
  ): Diagnostic => ({
    line: at.line,
    column: at.column,
    length: at.length,
    severity: 'error',
    code,
    message,
    file,
    sourceLine: '',
  });
  const start = spec.axes[0]?.position ?? spec.include[0]?.position ?? { line: 1, column: 1, length: 1 };
  if (space.product * spec.repeat > Number.MAX_SAFE_INTEGER / 2) {
    return [error(start, 'matrix.too-large', 'The matrix has more cells than can be counted exactly.')];
  }
  if (
    spec.sample !== undefined &&
    spec.sample.count < space.kept + space.added.length &&
    space.product > maxSampled
  ) {
    const message = `A sample is drawn by looking at each of the ${space.product} combinations; more than ${maxSampled} would take too long. Give the axes fewer values: a sample of a coarser matrix is as good.`;
    return [error(start, 'matrix.sample-too-large', message)];
  }
  const combinations = space.kept + space.added.length;
  if (spec.sample !== undefined && spec.sample.count < combinations && spec.sample.count > maxDrawn) {
    const message = `A sample draws at most ${maxDrawn} cells, but this one draws ${spec.sample.count}. Draw fewer, or take all ${combinations}: without a sample, cells need no memory.`;
    return [error(start, 'matrix.sample-too-large', message)];
  }
  const errors = spec.exclude
    .filter((exclude, index) => space.excludesNothing(exclude, index))
    .map(({ position }) =>
      error(position, 'matrix.exclude-nothing', 'This exclude matches no combination of the axes.'),
    );
  if (errors.length === 0 && space.kept + space.added.length === 0) {
    errors.push(error(start, 'matrix.empty', 'The matrix has no cells: its excludes leave nothing.'));
  }
  return errors;
}
