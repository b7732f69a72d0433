import { stringify } from 'csv-stringify/sync';
import type { SettledStep } from '../plan/estimate/settled.ts';
import { type ManifestTotals, RowLedger } from '../results/row-ledger.ts';
import { manifestHeader, rowFields } from './columns.ts';
import type { ManifestRow } from './row.ts';
import { spreadsheetFields } from './spreadsheet.ts';

/** Number of rows that become text together: one write to the file, and one turn of the event loop in between. */
const batchSize = 256;

/** The options of a written manifest. */
export interface ManifestForm {
  /** Masks secrets in the text, which a service may have repeated in its messages. */
  readonly redact?: (text: string) => string;
  /**
   * Adds a leading apostrophe to each field that begins with `=`, `+`, `-`, `@`, a tab or a carriage return: a spreadsheet would evaluate
   * it as a formula, and prompts or labels may contain one. Default false: unchanged data.
   */
  readonly escapeFormulas?: boolean;
  /**
   * Writes a copy for spreadsheets: with a byte order mark, and with a leading apostrophe before each field that a spreadsheet would
   * evaluate or change (formulas, ids of digits, long numbers, dates). Default false: unchanged data.
   */
  readonly forSpreadsheet?: boolean;
}

/** Converts rows of a manifest to text, and adds them up. */
export class RowText {
  /** The header line with its line end. */
  readonly header: string;
  readonly #names: readonly string[];
  readonly #variables: readonly string[];
  readonly #form: ManifestForm;
  readonly #ledger = new RowLedger();
  #batch: (readonly string[])[] = [];
  #isMasked = false;

  /** @param variables as in the plan's matrix, in its order */
  constructor(variables: readonly string[], form: ManifestForm) {
    this.#variables = variables;
    this.#form = form;
    this.#names = manifestHeader(variables);
    this.header = this.#csv([this.#names]);
  }

  /** Whether enough rows for a chunk of text have been added since the last {@link take}. */
  get isFull(): boolean {
    return this.#batch.length >= batchSize;
  }

  add(row: ManifestRow): void {
    this.#ledger.add(row);
    const { forSpreadsheet, redact = (text) => text } = this.#form;
    const fields = rowFields(row, this.#variables);
    // Masked field by field as well: a secret that is cut would not be found afterwards.
    this.#batch.push(forSpreadsheet ? spreadsheetFields(this.#names, fields.map(redact)) : fields);
  }

  /** Returns the text of the rows since the last call. */
  take(): string {
    const text = this.#csv(this.#batch);
    this.#batch = [];
    const shown = this.#form.redact?.(text) ?? text;
    this.#isMasked ||= shown !== text;
    return shown;
  }

  /** Returns the sums over all rows. */
  result(): RowSums {
    return { totals: this.#ledger.totals(), isMasked: this.#isMasked, steps: this.#ledger.settled() };
  }

  #csv(records: readonly (readonly string[])[]): string {
    const { escapeFormulas = false, forSpreadsheet = false } = this.#form;
    return csvText(records, escapeFormulas && !forSpreadsheet);
  }
}

/** The sums over the rows of a manifest. */
export interface RowSums {
  readonly totals: ManifestTotals;
  /** True if some text was a secret and was masked. */
  readonly isMasked: boolean;
  /** The counts that a plan shows for each step; undefined: they cannot be counted. */
  readonly steps: Readonly<Record<string, SettledStep>> | undefined;
}

/** Formats records as CSV, exactly as RFC 4180 says. */
export const csvText = (records: readonly (readonly string[])[], escapeFormulas: boolean): string =>
  escapeFormulas
    ? stringify(records as string[][], {
        record_delimiter: '\r\n',
        quote_record_delimiter: true,
        escape_formulas: true,
      })
    : plainText(records);

/** Characters that require quotes. Readers would end a row at a lone line feed or carriage return. */
const quotable = /[",\r\n]/;

/** Formats CSV with the same bytes as the library, in a fifth of the time: a manifest may have millions of rows. */
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
