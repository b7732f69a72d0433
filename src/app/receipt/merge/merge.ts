import { join } from 'node:path';
import { manifestHeader, rowFields } from '../../../manifest/columns.ts';
import { KeySet } from '../../../manifest/key-set.ts';
import { rowsOfCells } from '../../../manifest/rows.ts';
import { ManifestCounter, type ManifestTotals } from '../../../manifest/tally.ts';
import { writeWhole } from '../../../manifest/whole-file.ts';
import { csvText } from '../../../manifest/write.ts';
import type { Cell } from '../../../plan/cell.ts';
import type { Plan } from '../../../plan/plan.ts';
import { cellsAtOnce } from '../../../plan/resolve/load-records.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import type { StateReader } from '../../../state/reader.ts';
import type { ManifestWatch } from '../note.ts';
import type { Receipt } from '../receipt.ts';
import { isMaskedAlike, type WantedManifest } from '../recognise.ts';
import { isAsSeen } from '../seen-file.ts';
import type { CellWatch, SettledCells } from '../settled-cells.ts';
import { CopiedRows } from './copied-rows.ts';
import { NotReusable, OldRows } from './old-rows.ts';

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
): AsyncGenerator<string | Uint8Array> {
  const { receipt, settled } = reuse;
  const { variables } = plan.matrix;
  const { escapeFormulas } = receipt.manifest;
  const listedJobs = new KeySet();
  const copied = new CopiedRows(receipt, listedJobs, watch);
  const header = csvText([manifestHeader(variables)], escapeFormulas);

  const made = async function* (group: readonly Cell[]): AsyncGenerator<string> {
    const records: (readonly string[])[] = [];
    for await (const row of rowsOfCells(plan, group, reader, listedJobs, cells.onCell)) {
      totals.add(row);
      watch.onRow(row);
      records.push(rowFields(row, variables));
    }
    const whole = csvText(records, escapeFormulas);
    const shown = redactor.applyToData(whole);
    watch.onText(shown, shown !== whole);
    yield shown;
  };

  watch.onText(header, false);
  yield header;
  const rows = new OldRows(receipt.manifest.file.realPath, header);
  try {
    let group: Cell[] = [];
    for await (const cell of plan.matrix.cells({}, signal)) {
      const { number } = cell;
      if (rows.cell < number) throw new NotReusable('The rows of the manifest are in another order.');
      const isKept = settled.has(cell);
      if (group.length > 0 && (isKept || group.length >= cellsAtOnce(plan))) {
        yield* made(group);
        group = [];
      }
      if (!isKept) {
        yield* copied.text();
        for (; rows.cell === number; rows.next()) copied.drop(rows);
        group.push(cell);
        continue;
      }
      if (rows.cell !== number) throw new NotReusable('A settled cell has no rows.');
      cells.keep(settled, number);
      for (; rows.cell === number; rows.next()) {
        if (copied.take(rows)) continue;
        signal.throwIfAborted();
        yield* copied.text();
      }
    }
    yield* copied.text();
    if (group.length > 0) yield* made(group);
    for (; rows.cell !== Number.POSITIVE_INFINITY; rows.next()) copied.drop(rows);
  } finally {
    rows.close();
  }
  totals.addCopied(await copied.sum(reader));
}
