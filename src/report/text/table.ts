import { columnsOf } from '../../pipeline/diagnostics/columns.ts';

/** Pads a text with blanks to a width in terminal columns. */
export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - columnsOf(text)));

const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - columnsOf(text))) + text;

/** Returns the width of the widest text in terminal columns; 0 for no texts. */
export const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(columnsOf));

/**
 * Formats rows as aligned lines. Columns without any text are left out.
 *
 * @param head names of the columns, the first line; omitted if there are no rows
 * @param isNumber whether a column is aligned right
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

/** A name and a text; undefined: it is left out. */
export type FactRow = readonly [name: string, text: string | undefined];

/**
 * Formats facts as lines, each with its name before its text. A name that repeats the one before it is left out.
 *
 * @param width of the names; undefined: that of the widest
 */
export function factLines(width: number | undefined, facts: readonly FactRow[]): readonly string[] {
  const known = facts.filter(([, text]) => text !== undefined);
  const wide = width ?? widest(known.map(([name]) => name));
  return known.flatMap(([name, text = ''], at) => {
    const isAgain = width === undefined && known[at - 1]?.[0] === name;
    return text.split('\n').map((line, n) => `  ${padEnd(n > 0 || isAgain ? '' : name, wide)}  ${line}`);
  });
}
