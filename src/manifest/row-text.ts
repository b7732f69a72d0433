import { stringify } from 'csv-stringify/sync';
import type { SettledStep } from '../plan/estimate/settled.ts';
import { type ManifestTotals, RowLedger } from '../results/row-ledger.ts';
import { manifestHeader, rowFields } from './columns.ts';
import type { ManifestRow } from './row.ts';
import { spreadsheetFields } from './spreadsheet.ts';

/** Rows that become text together: one write to the file, and one turn of the event loop in between. */
const batchSize = 256;

/** How a manifest is written. */
export interface ManifestForm {
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
}

/** Rows of a manifest as text, and what they add up to. */
export class RowText {
  /** With its line end. */
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

  /** True where the rows since the last {@link take} are enough for a piece of text. */
  get isFull(): boolean {
    return this.#batch.length >= batchSize;
  }

  add(row: ManifestRow): void {
    this.#ledger.add(row);
    const { forSpreadsheet, redact = (text) => text } = this.#form;
    const fields = rowFields(row, this.#variables);
    // Redacted field by field as well: a secret that a cut goes through would not be found behind it.
    this.#batch.push(forSpreadsheet ? spreadsheetFields(this.#names, fields.map(redact)) : fields);
  }

  /** The rows since the last call. */
  take(): string {
    const text = this.#csv(this.#batch);
    this.#batch = [];
    const shown = this.#form.redact?.(text) ?? text;
    this.#isMasked ||= shown !== text;
    return shown;
  }

  /** What all rows add up to. */
  result(): RowSums {
    return { totals: this.#ledger.totals(), isMasked: this.#isMasked, steps: this.#ledger.settled() };
  }

  #csv(records: readonly (readonly string[])[]): string {
    const { escapeFormulas = false, forSpreadsheet = false } = this.#form;
    return csvText(records, escapeFormulas && !forSpreadsheet);
  }
}

/** What the rows of a manifest add up to. */
export interface RowSums {
  readonly totals: ManifestTotals;
  /** Some text was a secret and is masked. */
  readonly isMasked: boolean;
  /** What a plan says of the slots of each step; undefined: more than can be counted. */
  readonly steps: Readonly<Record<string, SettledStep>> | undefined;
}

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
