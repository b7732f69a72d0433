import { nearest } from '../../diagnostics/did-you-mean.ts';
import { TableError, tableLimits } from './error.ts';
import type { TableRow } from './table.ts';

/**
 * Checks the names of a table's columns, which become variables, and returns them without surrounding white space.
 *
 * @throws TableError `table.empty-column` | `table.duplicate-column` | `table.column-name` | `table.too-many`
 */
export function checkColumns(written: readonly string[], line: number): readonly string[] {
  if (written.length > tableLimits.columns) {
    const message = `The table has ${written.length} columns; at most ${tableLimits.columns} are read.`;
    throw new TableError('table.too-many', message, line);
  }
  const seen = new Set<string>();
  return written.map((text, index) => {
    const name = text.trim();
    if (name === '') {
      throw new TableError('table.empty-column', `Column ${index + 1} has no name; give it one.`, line);
    }
    if (name === '__proto__' || /\p{Cc}/u.test(name)) {
      const returns = name.includes('\r')
        ? ' (does the file end its lines with a bare carriage return?)'
        : '';
      const message = `Column ${index + 1} is named ${JSON.stringify(name)}, which cannot be a variable${returns}; rename it.`;
      throw new TableError('table.column-name', message, line);
    }
    if (seen.has(name)) {
      const message = `The column "${name}" occurs twice; rename or remove one.`;
      throw new TableError('table.duplicate-column', message, line);
    }
    seen.add(name);
    return name;
  });
}

/** Whether a text between commas cannot be a column's name: it is blank, or begins with a space as in a sentence. */
const isNoName = (text: string): boolean => text.trim() === '' || text.startsWith(' ');

const separators = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' } as const;

/** Whether columns are aligned for reading, with two spaces or more between them. */
const isAligned = (header: string): boolean => header.trim().includes('  ');

/**
 * Refuses a header of one column that contains the separator of another table format.
 *
 * @throws TableError `table.separator`
 */
export function checkSeparator(
  columns: readonly string[],
  line: number,
  header: string,
  format: 'csv' | 'tsv',
): void {
  const [only, ...more] = columns;
  const [wanted, others] =
    format === 'csv' ? (['commas', [';', '\t', '|']] as const) : (['tabs', [',', ';', '|']] as const);
  const found = others.find(
    (mark) =>
      header.split(mark).length > 1 &&
      !header.split(mark).some((name) => isNoName(mark === '|' ? name.trim() : name)),
  );
  if (only === undefined || more.length > 0) return;
  if (found === undefined) {
    if (format === 'tsv' && isAligned(header)) throw spacesForTabs(header, line);
    return;
  }
  const save = `Save the table with ${wanted} between the fields.`;
  const named =
    found === ';' || found === '|' ? save : `${save} Or name it .${found === ',' ? 'csv' : 'tsv'}.`;
  const message = `The header has ${separators[found]} instead of ${wanted}, so it is a single column.`;
  throw new TableError('table.separator', message, { line, sourceLine: header, hint: named });
}

function spacesForTabs(header: string, line: number): TableError {
  const names = header.trim().split(/ {2,}/);
  const hint = `Put one tab between two columns (${names.slice(0, 3).join('<tab>')}), in the header and in each row; or write commas and name the file .csv.`;
  const message = 'The header has spaces instead of tabs, so it is a single column.';
  return new TableError('table.separator', message, {
    line,
    column: header.indexOf('  ', header.search(/\S/)) + 1,
    sourceLine: header,
    hint,
  });
}

/** Makes a row from texts and their columns. @throws TableError `table.columns` */
export function textRow(
  columns: readonly string[],
  fields: readonly string[],
  line: number,
  more: { readonly hint: string | (() => string); readonly sourceLine: () => string },
): TableRow {
  if (fields.length !== columns.length) {
    const message = `The row on line ${line} has ${fields.length} field${fields.length === 1 ? '' : 's'}, the header has ${columns.length}.`;
    const hint = typeof more.hint === 'string' ? more.hint : more.hint();
    throw new TableError('table.columns', message, { line, sourceLine: more.sourceLine(), hint });
  }
  const values: Record<string, string> = {};
  for (let index = 0; index < fields.length; index++)
    values[columns[index] as string] = fields[index] as string;
  return { line, values };
}

/** Columns of rows that name their own columns: the first row has all of them, any other row may lack some. */
export class OwnColumns {
  #columns: readonly string[] | undefined;
  #known: ReadonlySet<string> = new Set();

  get columns(): readonly string[] | undefined {
    return this.#columns;
  }

  /**
   * Makes a row, with null for each column that it lacks.
   *
   * @throws TableError `table.columns`, and those of {@link checkColumns}
   */
  row(values: TableRow['values'], line: number, sourceLine = ''): TableRow {
    const names = Object.keys(values);
    if (this.#columns === undefined) {
      this.#columns = firstColumns(names, line);
      this.#known = new Set(names);
      return { line, values };
    }
    const extra = names.find((name) => !this.#known.has(name));
    if (extra !== undefined) {
      const near = nearest(extra, this.#columns);
      const otherwise = `The first row names all columns: write ${JSON.stringify(extra)}: null there.`;
      const hint = near === undefined ? otherwise : `Did you mean "${near}"? ${otherwise}`;
      const message = `The row on line ${line} has "${extra}", which the first row does not have.`;
      throw new TableError('table.columns', message, { line, sourceLine, hint });
    }
    if (names.length === this.#columns.length) return { line, values };
    return { line, values: { ...Object.fromEntries(this.#columns.map((name) => [name, null])), ...values } };
  }
}

function firstColumns(names: readonly string[], line: number): readonly string[] {
  if (names.length === 0) throw new TableError('table.empty-column', 'The first row has no members.', line);
  const columns = checkColumns(names, line);
  const padded = names.find((name, index) => name !== columns[index]);
  if (padded === undefined) return columns;
  const message = `The name ${JSON.stringify(padded)} has white space around it; remove it.`;
  throw new TableError('table.column-name', message, line);
}
