import type { ManifestColumn } from './columns.ts';

/** A byte order mark: without it Excel reads UTF-8 as the code page of its system. */
export const byteOrderMark = '\ufeff';

/** What Excel holds: characters (UTF-16 code units) of one cell, and lines of one sheet, the header among them. */
export const sheetBounds = { characters: 32_767, lines: 1_048_576 } as const;

/** Stands at the end of a text that is too long for a cell. */
const cutMark = '… [cut here: manifest.csv has the whole text]';

/** Columns that name something by digits: a number is never meant, whatever they look like. */
const idColumns: ReadonlySet<string> = new Set<ManifestColumn>([
  'task_id',
  'parent_task_id',
  'custom_id',
  'request_id',
  'sha256',
  'job',
]);

/**
 * The fields of one row as a spreadsheet keeps them when it opens a CSV file: a text that it would carry out as a formula, or turn
 * into another number, a date or a truth value, gets a leading apostrophe; so does a text that begins with one. Whoever takes one
 * leading apostrophe away from every field has the fields again, but for texts above {@link sheetBounds}, which are cut.
 *
 * The apostrophe, and not `="…"` or a tab: Excel, LibreOffice and Google Sheets all take such a field for text, whether
 * the file is opened or imported, and no field of the file is a formula.
 */
export const spreadsheetFields = (header: readonly string[], fields: readonly string[]): readonly string[] =>
  fields.map((field, at) => cutToCell(asText(header[at] ?? '', field)));

const asText = (column: string, field: string): string =>
  isFormula(field) || field.startsWith("'") || isConverted(column, field) ? `'${field}` : field;

/** Programs trim a field before they look at its first character; Asian editions take the wide forms too. */
const isFormula = (field: string): boolean =>
  /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u.test(field) && !isExactNumber(field);

function isConverted(column: string, field: string): boolean {
  if (idColumns.has(column)) return looksConverted(field);
  return !isExactNumber(field) && looksConverted(field);
}

/** A number that a spreadsheet shows as it is written: at most 15 digits, no zero before or behind, no exponent. */
const isExactNumber = (field: string): boolean =>
  /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(field) &&
  String(Number(field)) === field &&
  field.replaceAll(/^-?0?\.?0*|\./g, '').length <= 15;

/** Numbers, amounts, percentages, fractions, dates and times, in any country's order and punctuation; `e` of an exponent. */
const numberLike = /^[\s\p{Nd}\p{Sc}.,:;/\-+()%'’e]*$/iu;

/** What is left of a date or a time without digits and punctuation: `MARCH1`, `1-Sep-2026`, `Dec 5, 2026 3:30 p.m.`, `5 p`. */
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
  // Half of a character in two code units is no text.
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}${cutMark}`;
}
