import { stringify } from 'csv-stringify/sync';
import type { Selection } from '../plan/cell.ts';
import type { Plan } from '../plan/plan.ts';
import type { StateReader } from '../state/reader.ts';
import { manifestHeader, rowFields } from './columns.ts';
import type { ManifestRow } from './row.ts';
import { manifestGroups, type OnCell } from './rows.ts';
import { byteOrderMark, spreadsheetFields } from './spreadsheet.ts';
import { ManifestCounter, type ManifestTotals } from './tally.ts';
import { writeWhole } from './whole-file.ts';

/** Rows that become text together: one write to the file, and one turn of the event loop in between. */
export const batchSize = 256;

/**
 * Writes `manifest.csv` whole or not at all, and returns what it adds up to.
 *
 * UTF-8 without a byte order mark; RFC 4180 to the letter: lines end in CRLF, fields with a comma, a quote or a line
 * break are quoted. The bytes are a function of the plan, the selection, the state, `escapeFormulas` and `forSpreadsheet` alone.
 *
 * @throws the error of the file system (`code` ENOSPC, EACCES, …), StateError, and the signal's reason when aborted.
 */
export async function writeManifest(options: ManifestOptions): Promise<ManifestTotals> {
  const totals = new ManifestCounter();
  await writeWhole(options.file, manifestText(options, totals));
  return totals.result();
}

export interface ManifestOptions {
  readonly plan: Plan;
  readonly selection: Selection;
  readonly reader: Pick<StateReader, 'many' | 'rootKeys'>;
  /** Where it goes: `<run directory>/manifest.csv`; `file_name` is relative to its folder. */
  readonly file: string;
  /** Applied to the text: takes secrets out that a service repeated in its messages. */
  readonly redact?: (text: string) => string;
  /**
   * A spreadsheet takes a field that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula, which a
   * prompt or a label could bring along: such fields get a leading apostrophe. Default false: the data as it is.
   */
  readonly escapeFormulas?: boolean;
  /**
   * Writes a copy for spreadsheets: with a byte order mark, and with a leading apostrophe before each field that a spreadsheet would
   * carry out or change (formulas, ids of digits, long numbers, dates). Default false: the data as it is.
   */
  readonly forSpreadsheet?: boolean;
  readonly signal?: AbortSignal;
  /** Called with each piece of the text, in order. `isMasked`: it differs from what it was before {@link redact}. */
  readonly onText?: (text: string, isMasked: boolean) => void;
  readonly onCell?: OnCell;
  readonly onRow?: (row: ManifestRow) => void;
}

/** The text of a manifest in pieces, as {@link writeManifest} writes it. */
export const manifestChunks = (options: Omit<ManifestOptions, 'file'>): AsyncGenerator<string> =>
  manifestText(options, new ManifestCounter());

/** RFC 4180 to the letter. */
export const csvText = (records: readonly (readonly string[])[], escapeFormulas: boolean): string =>
  escapeFormulas
    ? stringify(records as string[][], {
        record_delimiter: '\r\n',
        quote_record_delimiter: true,
        escape_formulas: true,
      })
    : plainText(records);

/** A lone line feed or carriage return must not stand bare: readers end the row there. */
const quotable = /[",\r\n]/;

/** The same bytes as the library makes of it, in a fifth of the time: a manifest may have millions of rows. */
function plainText(records: readonly (readonly string[])[]): string {
  let text = '';
  for (const record of records) {
    let separator = '';
    for (const field of record) {
      text += separator + (quotable.test(field) ? `"${field.replaceAll('"', '""')}"` : field);
      separator = ',';
    }
    text += '\r\n';
  }
  return text;
}

async function* manifestText(
  {
    plan,
    selection,
    reader,
    redact = (text) => text,
    escapeFormulas = false,
    forSpreadsheet = false,
    signal,
    onText,
    onCell,
    onRow,
  }: Omit<ManifestOptions, 'file'>,
  totals: ManifestCounter,
): AsyncGenerator<string> {
  const { variables } = plan.matrix;
  const csv = (records: readonly (readonly string[])[]): string =>
    csvText(records, escapeFormulas && !forSpreadsheet);
  const header = manifestHeader(variables);
  // Redacted field by field as well: a secret that a cut goes through would not be found behind it.
  const fields = (row: readonly string[]): readonly string[] =>
    forSpreadsheet ? spreadsheetFields(header, row.map(redact)) : row;
  const masked = (text: string): string => {
    const shown = redact(text);
    onText?.(shown, shown !== text);
    return shown;
  };
  if (forSpreadsheet) yield byteOrderMark;
  const head = csv([header]);
  onText?.(head, false);
  yield head;
  let batch: (readonly string[])[] = [];
  for await (const rows of manifestGroups(plan, selection, reader, onCell, signal))
    for (const row of rows) {
      totals.add(row);
      onRow?.(row);
      batch.push(fields(rowFields(row, variables)));
      if (batch.length < batchSize) continue;
      signal?.throwIfAborted();
      yield masked(csv(batch));
      batch = [];
    }
  yield masked(csv(batch));
}
