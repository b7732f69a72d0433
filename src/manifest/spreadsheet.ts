import type { ManifestColumn } from './columns.ts';

/** A byte order mark: without it, Excel reads UTF-8 as the code page of its system. */
export const byteOrderMark = '\ufeff';

/** Limits of Excel: characters (UTF-16 code units) per cell, and lines per sheet, including the header. */
export const sheetBounds = { characters: 32_767, lines: 1_048_576 } as const;

/** Marks the end of a text that is too long for a cell. */
const cutMark = '… [cut here: manifest.csv has the whole text]';

/** Columns of ids, which may consist of digits but are never numbers. */
const idColumns: ReadonlySet<string> = new Set<ManifestColumn>([
  'task_id',
  'parent_task_id',
  'custom_id',
  'request_id',
  'sha256',
  'job',
]);

/**
 * Returns the fields of one row so that a spreadsheet keeps them when it opens a CSV file: a text that it would evaluate as a formula, or
 * turn into another number, a date or a truth value, gets a leading apostrophe; so does a text that begins with one. Removing one leading
 * apostrophe from every field restores the fields, except texts above {@link sheetBounds}, which are cut.
 *
 * Not `="…"` or a tab: Excel, LibreOffice and Google Sheets all read a field with an apostrophe as text, whether the file is opened or
 * imported, and no field of the file is a formula.
 */
export const spreadsheetFields = (header: readonly string[], fields: readonly string[]): readonly string[] =>
  fields.map((field, at) => cutToCell(asText(header[at] ?? '', field)));

const asText = (column: string, field: string): string =>
  isFormula(field) || field.startsWith("'") || isConverted(column, field) ? `'${field}` : field;

/** Whether a spreadsheet evaluates a field. Programs trim a field first; Asian editions accept the wide forms too. */
const isFormula = (field: string): boolean =>
  /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u.test(field) && !isExactNumber(field);

function isConverted(column: string, field: string): boolean {
  if (idColumns.has(column)) return looksConverted(field);
  return !isExactNumber(field) && looksConverted(field);
}

/** Whether a spreadsheet shows a number as written: at most 15 digits, no leading or trailing zero, no exponent. */
const isExactNumber = (field: string): boolean =>
  /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(field) &&
  String(Number(field)) === field &&
  field.replaceAll(/^-?0?\.?0*|\./g, '').length <= 15;

/** Numbers, amounts, percentages, fractions, dates and times, in any country's order and punctuation; `e` of an exponent. */
const numberLike = /^[\s\p{Nd}\p{Sc}.,:;/\-+()%'’e]*$/iu;

/** The letters of a date or time, without digits and punctuation: `MARCH1`, `1-Sep-2026`, `Dec 5, 2026 3:30 p.m.`, `5 p`. */
const dateWords = /^(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*)? ?(?:[ap](?: ?m)?)?$/;

const isDateLike = (field: string): boolean =>
  dateWords.test(
    field
      .replaceAll(/[\s\p{Nd}.,:/-]+/gu, ' ')
      .trim()
      .toLowerCase(),
  );

const looksConverted = (field: string): boolean =>
  field.length <= 64 &&
  (/^\s*(?:true|false)\s*$/i.test(field) ||
    (/\p{Nd}/u.test(field) && (numberLike.test(field) || isDateLike(field))));

function cutToCell(field: string): string {
  if (field.length <= sheetBounds.characters) return field;
  const kept = field.slice(0, sheetBounds.characters - cutMark.length);
  // Half of a surrogate pair is not valid text.
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}${cutMark}`;
}
