import { join } from 'node:path';
import { manifestColumns, manifestHeader, rowFields } from '../../manifest/columns.ts';
import { KeySet } from '../../manifest/key-set.ts';
import { rowsOfCells } from '../../manifest/rows.ts';
import { type CopiedRows, ManifestCounter, type ManifestTotals } from '../../manifest/tally.ts';
import { tokenColumns } from '../../manifest/text-columns.ts';
import { writeWhole } from '../../manifest/whole-file.ts';
import { csvText } from '../../manifest/write.ts';
import type { Cell } from '../../plan/cell.ts';
import { roundMoney } from '../../plan/estimate/price.ts';
import { knownCost } from '../../plan/job.ts';
import type { Plan } from '../../plan/plan.ts';
import { cellsAtOnce, inGroups } from '../../plan/resolve/load-records.ts';
import { runFiles } from '../../report/facts/layout.ts';
import type { StateReader } from '../../state/reader.ts';
import type { ManifestWatch } from './note.ts';
import { NotReusable, type OldRow, oldRows } from './old-rows.ts';
import type { Receipt } from './receipt.ts';
import { isMaskedAlike, type WantedManifest } from './recognise.ts';
import { isAsSeen } from './seen-file.ts';
import type { CellWatch, SettledCells } from './settled-cells.ts';

const at = Object.fromEntries(manifestColumns.map((name, index) => [name, index])) as Readonly<
  Record<(typeof manifestColumns)[number], number>
>;

/** What a run can take over from the one before it. */
export interface Reuse {
  readonly receipt: Receipt;
  readonly settled: SettledCells;
}

/**
 * Writes the manifest of a whole plan, in which most cells are as they were: their rows are copied from the manifest of the last run,
 * and only those of the other cells are made again. The bytes are those of `writeManifest`.
 *
 * @returns undefined where the manifest of the last run cannot be copied from; nothing is written then
 */
export async function writeMerged(options: {
  readonly plan: Plan;
  readonly reader: StateReader;
  readonly directory: string;
  readonly reuse: Reuse;
  readonly redactor: WantedManifest['redactor'];
  readonly watch: ManifestWatch;
  readonly cells: CellWatch;
  readonly signal: AbortSignal;
}): Promise<ManifestTotals | undefined> {
  const { receipt } = options.reuse;
  const totals = new ManifestCounter();
  try {
    if (!isAsSeen(receipt.manifest.file) || !isMaskedAlike(receipt, options.redactor)) return undefined;
    await writeWhole(join(options.directory, runFiles.manifest), mergedText(options, totals));
    return totals.result();
  } catch (error) {
    if (error instanceof NotReusable) return undefined;
    throw error;
  }
}

async function* mergedText(
  { plan, reader, reuse, redactor, watch, cells, signal }: Parameters<typeof writeMerged>[0],
  totals: ManifestCounter,
): AsyncGenerator<string> {
  const { receipt, settled } = reuse;
  const { variables } = plan.matrix;
  const { escapeFormulas } = receipt.manifest;
  const accounted = new KeySet();
  const copied = new Copied(receipt, accounted);
  const header = csvText([manifestHeader(variables)], escapeFormulas);
  const rows = new RowsByCell(oldRows(receipt.manifest.file.realPath, header));

  const text = function* (piece: string, isMasked: boolean): Generator<string> {
    if (piece === '') return;
    watch.onText(piece, isMasked);
    yield piece;
  };
  const made = async function* (group: readonly Cell[]): AsyncGenerator<string> {
    const records: (readonly string[])[] = [];
    for await (const row of rowsOfCells(plan, group, reader, accounted, cells.onCell)) {
      totals.add(row);
      records.push(rowFields(row, variables));
    }
    const whole = csvText(records, escapeFormulas);
    const shown = redactor.applyToData(whole);
    yield* text(shown, shown !== whole);
  };

  yield* text(header, false);
  let group: Cell[] = [];
  let copy = '';
  for await (const cell of plan.matrix.cells({})) {
    const old = rows.of(cell.number);
    if (!settled.has(cell)) {
      yield* text(copy, false);
      copy = '';
      for (const row of old) copied.drop(row);
      group.push(cell);
      if (group.length < cellsAtOnce(plan)) continue;
      yield* made(group);
      group = [];
      continue;
    }
    if (old.length === 0) throw new NotReusable('A settled cell has no rows.');
    yield* made(group);
    group = [];
    cells.keep(settled, cell.number);
    for (const row of old) copy += copied.take(row);
    if (copy.length < 65_536) continue;
    signal.throwIfAborted();
    yield* text(copy, false);
    copy = '';
  }
  yield* text(copy, false);
  yield* made(group);
  for (const row of rows.rest()) copied.drop(row);
  totals.addCopied(await copied.sum(reader));
}

/** Groups rows by their cells, in the order of a manifest. */
class RowsByCell {
  readonly #rows: Iterator<OldRow>;
  #next: OldRow | undefined;

  constructor(rows: Iterator<OldRow>) {
    this.#rows = rows;
    this.#advance();
  }

  #advance(): void {
    const { done, value } = this.#rows.next();
    this.#next = done === true ? undefined : value;
  }

  of(cell: number): readonly OldRow[] {
    const found: OldRow[] = [];
    for (; this.#next !== undefined && this.#next.cell <= cell; this.#advance()) {
      if (this.#next.cell < cell) throw new NotReusable('The rows of the manifest are in another order.');
      found.push(this.#next);
    }
    return found;
  }

  *rest(): Generator<OldRow> {
    for (; this.#next !== undefined; this.#advance()) yield this.#next;
  }
}

const accountColumns = [...Object.keys(tokenColumns), 'cost'].map((name) => at[name as keyof typeof at]);

/** Adds up rows that are copied, from what all rows added up to before. */
class Copied {
  readonly #receipt: Receipt;
  readonly #accounted: KeySet;
  readonly #sums = { rows: 0, files: 0, done: 0, skipped: 0, priced: 0 };
  #tokens: Record<string, number> | undefined;
  #slot = '';
  /** Jobs whose cost is on no row any more. */
  readonly #dropped = new Map<string, number>();

  constructor(receipt: Receipt, accounted: KeySet) {
    this.#receipt = receipt;
    this.#accounted = accounted;
  }

  take({ text, fields }: OldRow): string {
    const status = fields[at.status];
    if (status !== 'done' && status !== 'skipped') throw new NotReusable('A settled cell has an open slot.');
    const sums = this.#sums;
    sums.rows += 1;
    if (fields[at.file_name] !== '') sums.files += 1;
    const slot = [fields[at.cell], fields[at.step], fields[at.branch]].join('\n');
    if (slot !== this.#slot) sums[status] += 1;
    this.#slot = slot;
    if (accountColumns.some((column) => fields[column] !== '')) this.#count(fields);
    return text;
  }

  #count(fields: readonly string[]): void {
    // A row that is made again above shows the same job.
    if (!this.#accounted.add(fields[at.job] ?? '')) throw new NotReusable('A job has two accounts.');
    if (fields[at.cost] !== '') this.#sums.priced += 1;
    for (const [column, name] of Object.entries(tokenColumns)) {
      const value = fields[at[column as keyof typeof tokenColumns]] ?? '';
      if (value === '') continue;
      this.#tokens ??= {};
      this.#tokens[name] = (this.#tokens[name] ?? 0) + Number(value);
    }
  }

  drop({ fields }: OldRow): void {
    this.#slot = '';
    if (fields[at.cost] !== '') this.#dropped.set(fields[at.job] ?? '', Number(fields[at.cost]));
  }

  async sum(reader: Pick<StateReader, 'many'>): Promise<CopiedRows> {
    const { priced, ...sums } = this.#sums;
    let cost = this.#receipt.totals.exactCost ?? 0;
    for await (const costs of inGroups(this.#dropped, 1024)) {
      const records = await reader.many(costs.map(([key]) => key));
      for (const [key, shown] of costs) {
        const record = records.get(key);
        const known = record && knownCost(record);
        // A job that was tried again since has cost more.
        if (known === undefined || roundMoney(known) !== shown) throw new NotReusable('A cost has changed.');
        cost -= known;
      }
    }
    return {
      ...sums,
      ...(priced === 0 ? {} : { cost }),
      ...(this.#tokens === undefined ? {} : { tokens: this.#tokens }),
    };
  }
}
