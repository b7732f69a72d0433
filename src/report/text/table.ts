import { columnsOf } from '../../pipeline/diagnostics/columns.ts';

/** Text filled up with blanks to a width in columns of a terminal. */
export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - columnsOf(text)));

const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - columnsOf(text))) + text;

/** The width of the widest text, in columns of a terminal; 0 where there is none. */
export const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(columnsOf));

/**
 * Rows as lines, with columns as wide as their widest entry. A column in which no row has anything is left out.
 *
 * @param head names of the columns: the first line; none where there are no rows
 * @param isNumber whether the entries of a column stand to the right
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  {
    head,
    isNumber = () => false,
  }: { readonly head?: readonly string[]; readonly isNumber?: (column: number) => boolean } = {},
): readonly string[] {
  const [first = []] = rows;
  const all = head === undefined || rows.length === 0 ? rows : [head, ...rows];
  const used = first.map((_, column) => column).filter((column) => rows.some((row) => row[column] !== ''));
  const widths = used.map((column) => widest(all.map((row) => row[column] ?? '')));
  return all.map((row) =>
    used
      .map((column, at) => (isNumber(column) ? padStart : padEnd)(row[column] ?? '', widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
