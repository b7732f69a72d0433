import path from 'node:path';
import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import { TableError, tableDiagnostics } from '../../matrix/table/error.ts';
import type { StepDraft } from '../draft.ts';

/** A sentence, a number or an address: what stands in a row, and names no column. */
const isContent = (name: string): boolean =>
  /^-?\d+(?:[.,]\d+)?$/.test(name) ||
  name.split(/\s+/).length > 2 ||
  name.length > 40 ||
  /^https?:/.test(name);

/**
 * Reports a CSV or TSV file whose first line looks like a row, where the steps read variables that no column is and no column of the
 * table. The matrix that is returned is then not complete, so that the missing variables are not reported one by one.
 */
export function checkHeader(
  steps: readonly StepDraft[],
  matrix: MatrixDraft,
  collector: DiagnosticCollector,
): MatrixDraft {
  const rows = matrix.spec.axes.find((axis) => axis.kind === 'rows');
  if (rows?.kind !== 'rows' || (rows.format !== 'csv' && rows.format !== 'tsv')) return matrix;
  const { columns, declared, format } = rows;
  if (!matrix.complete || !columns.some(isContent)) return matrix;
  const used = new Set(steps.flatMap((step) => step.variables.map(({ path: [root = ''] }) => root)));
  const unknown = [...used].filter((name) => name !== 'repeat' && !matrix.variables.has(name));
  if (unknown.length === 0 || columns.some((column) => used.has(column))) return matrix;
  const left = [...unknown];
  const separator = format === 'csv' ? ',' : '\t';
  const names = columns.map((column, index) => {
    const isNumber = /^-?\d+$/.test(column);
    return (isNumber ? undefined : left.shift()) ?? (isNumber && index === 0 ? 'id' : `column${index + 1}`);
  });
  const shown = names.length > 8 ? 'id,prompt' : names.join(separator === ',' ? separator : '<tab>');
  const error = new TableError(
    'table.no-header',
    'The first line of the table looks like a row, and it must name the columns.',
    {
      line: 1,
      sourceLine: columns.join(separator),
      hint: `Put a line with the names of the columns above it, for example ${shown}.`,
    },
  );
  const file = path.join(path.dirname(collector.source.file), declared);
  for (const diagnostic of tableDiagnostics(error, file)) collector.elsewhere(diagnostic);
  return { ...matrix, complete: false };
}
