import { TableError, tableLimits } from './error.ts';
import type { TableRow } from './table.ts';

/**
 * Checks the names of a table's columns, which become variables. White space around a name is not part of it.
 *
 * @throws TableError `table.empty-column` | `table.duplicate-column` | `table.column-name` | `table.too-many`
 */
export function checkColumns(written: readonly string[], line: number): readonly string[] {
  if (written.length > tableLimits.columns) {
    throw new TableError(
      'table.too-many',
      `The table has ${written.length} columns; at most ${tableLimits.columns} are read.`,
      { line },
    );
  }
  const seen = new Set<string>();
  return written.map((text, index) => {
    const name = text.trim();
    if (name === '') {
      throw new TableError('table.empty-column', `Column ${index + 1} has no name; give it one.`, { line });
    }
    if (name === '__proto__' || /\p{Cc}/u.test(name)) {
      throw new TableError(
        'table.column-name',
        `Column ${index + 1} is named ${JSON.stringify(name)}, which cannot be a variable${name.includes('\r') ? ' (does the file end its lines with a bare carriage return?)' : ''}; rename it.`,
        { line },
      );
    }
    if (seen.has(name)) {
      throw new TableError(
        'table.duplicate-column',
        `The column "${name}" is there twice; rename or remove one.`,
        { line },
      );
    }
    seen.add(name);
    return name;
  });
}

/** A row of texts under its columns. @throws TableError `table.columns` */
export function textRow(
  columns: readonly string[],
  fields: readonly string[],
  line: number,
  hint = '',
): TableRow {
  if (fields.length !== columns.length) {
    throw new TableError(
      'table.columns',
      `The row on line ${line} has ${fields.length} field${fields.length === 1 ? '' : 's'}, the header has ${columns.length}${hint}.`,
      { line },
    );
  }
  const values: Record<string, string> = {};
  for (let index = 0; index < fields.length; index++)
    values[columns[index] as string] = fields[index] as string;
  return { line, values };
}

/** The columns of rows that name their own: those of the first row, which every other row must have too. */
export class OwnColumns {
  #columns: readonly string[] | undefined;

  get columns(): readonly string[] | undefined {
    return this.#columns;
  }

  /** @throws TableError `table.columns`, and those of {@link checkColumns} */
  check(names: readonly string[], line: number): void {
    if (this.#columns === undefined) {
      if (names.length === 0)
        throw new TableError('table.empty-column', 'The first row has no members.', { line });
      const columns = checkColumns(names, line);
      const padded = names.find((name, index) => name !== columns[index]);
      if (padded !== undefined) {
        throw new TableError(
          'table.column-name',
          `The name ${JSON.stringify(padded)} has white space around it; remove it.`,
          {
            line,
          },
        );
      }
      this.#columns = columns;
      return;
    }
    const columns = this.#columns;
    if (names.length === columns.length && names.every((name, index) => name === columns[index])) return;
    const has = new Set(names);
    const missing = columns.find((name) => !has.has(name));
    if (missing !== undefined) {
      throw new TableError(
        'table.columns',
        `The row on line ${line} has no "${missing}", which the first row has; write null where there is no value.`,
        { line },
      );
    }
    const known = new Set(columns);
    const extra = names.find((name) => !known.has(name));
    if (extra !== undefined) {
      throw new TableError(
        'table.columns',
        `The row on line ${line} has "${extra}", which the first row does not have; every row has the same members.`,
        { line },
      );
    }
  }
}
