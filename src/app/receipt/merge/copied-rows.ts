import { manifestColumns } from '../../../manifest/columns.ts';
import type { KeySet } from '../../../manifest/key-set.ts';
import type { CopiedRows as CopiedSums } from '../../../manifest/tally.ts';
import { tokenCounts } from '../../../pipeline/kinds.ts';
import { roundMoney } from '../../../plan/estimate/price.ts';
import { knownCost } from '../../../plan/job.ts';
import { inGroups } from '../../../plan/resolve/load-records.ts';
import type { StateReader } from '../../../state/reader.ts';
import type { ManifestWatch } from '../note.ts';
import type { Receipt } from '../receipt.ts';
import { NotReusable, type OldRows } from './old-rows.ts';

const at = Object.fromEntries(manifestColumns.map((name, index) => [name, index])) as Readonly<
  Record<(typeof manifestColumns)[number], number>
>;

const tokenNames = tokenCounts.map((name) => [at[`${name}_tokens`], name] as const);
const accountColumns = [...tokenNames.map(([column]) => column), at.cost];

/** What is gathered before it is written. */
const pieceLength = 65_536;

/** More jobs whose rows are gone are not remembered: then a manifest is made anew. */
const mostDropped = 100_000;

/** Gathers rows that are copied, and adds them up, from what all rows added up to before. */
export class CopiedRows {
  readonly #receipt: Receipt;
  readonly #listedJobs: KeySet;
  readonly #watch: Pick<ManifestWatch, 'onText' | 'onCopied'>;
  #piece = Buffer.allocUnsafe(2 * pieceLength);
  #length = 0;
  readonly #sums = { rows: 0, files: 0, done: 0, skipped: 0, priced: 0 };
  #tokens: Record<string, number> | undefined;
  /** Of the last row. */
  #slot = { cell: 0, step: '', branch: '' };
  /** Jobs whose cost is on no row any more. */
  readonly #dropped = new Map<string, number>();

  constructor(receipt: Receipt, listedJobs: KeySet, watch: Pick<ManifestWatch, 'onText' | 'onCopied'>) {
    this.#receipt = receipt;
    this.#listedJobs = listedJobs;
    this.#watch = watch;
  }

  /** Takes the row at hand over. @returns false where what was taken is to be written */
  take(rows: OldRows): boolean {
    const sums = this.#sums;
    sums.rows += 1;
    if (!rows.isEmpty(at.file_name)) sums.files += 1;
    const [step, branch] = [rows.field(at.step), rows.field(at.branch)];
    const last = this.#slot;
    const isFirst = last.cell !== rows.cell || last.step !== step || last.branch !== branch;
    const isCounted = accountColumns.some((column) => !rows.isEmpty(column));
    if (isFirst) {
      this.#slot = { cell: rows.cell, step, branch };
      const status = rows.field(at.status);
      if (status !== 'done' && status !== 'skipped')
        throw new NotReusable('A settled cell has an open slot.');
      sums[status] += 1;
      // A slot that is skipped may name a job that was never begun.
      const isShared = (status === 'done' || isCounted) && !this.#listedJobs.add(rows.field(at.job));
      // A row that is made again above shows the same job.
      if (isShared && isCounted) throw new NotReusable('A job has two accounts.');
      this.#watch.onCopied(step, isShared && status === 'done' ? 'shared' : status);
    } else if (isCounted) throw new NotReusable('A job has two accounts.');
    if (isCounted) this.#count(rows);
    return this.#keep(rows.row);
  }

  #keep(row: Buffer): boolean {
    if (this.#length + row.length > this.#piece.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#length + row.length));
      this.#piece.copy(larger, 0, 0, this.#length);
      this.#piece = larger;
    }
    this.#length += row.copy(this.#piece, this.#length);
    return this.#length < pieceLength;
  }

  /** What was taken since it was called last. Its bytes are other ones after the next row is taken. */
  *text(): Generator<Uint8Array> {
    if (this.#length === 0) return;
    const text = this.#piece.subarray(0, this.#length);
    this.#length = 0;
    this.#watch.onText(text, false);
    yield text;
  }

  #count(rows: OldRows): void {
    if (!rows.isEmpty(at.cost)) this.#sums.priced += 1;
    for (const [column, name] of tokenNames) {
      if (rows.isEmpty(column)) continue;
      this.#tokens ??= {};
      this.#tokens[name] = (this.#tokens[name] ?? 0) + Number(rows.field(column));
    }
  }

  /** The row at hand is not taken over. */
  drop(rows: OldRows): void {
    this.#slot = { cell: 0, step: '', branch: '' };
    if (rows.isEmpty(at.cost)) return;
    this.#dropped.set(rows.field(at.job), Number(rows.field(at.cost)));
    if (this.#dropped.size > mostDropped) throw new NotReusable('Most of the manifest is another one.');
  }

  async sum(reader: Pick<StateReader, 'many'>): Promise<CopiedSums> {
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
