import { createHash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { isNarrowed } from '../../manifest/cells.ts';
import type { ManifestRow } from '../../manifest/row.ts';
import type { ManifestTotals } from '../../manifest/tally.ts';
import { SettledCounts, type SettledStep } from '../../plan/estimate/settled.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { receiptFact, type StateStore } from '../../state/store.ts';
import type { BegunRun } from '../run/session.ts';
import {
  baseText,
  identityText,
  isAtRest,
  type Receipt,
  type RunIdentity,
  receiptText,
  witnessOf,
} from './receipt.ts';
import { matured, type SeenFile, seenFile, writtenFile } from './seen-file.ts';
import type { CellWatch } from './settled-cells.ts';

/** More files are not noted: to look at each of them would take as long as the work that it saves. */
const mostFiles = 10_000;

/** What a manifest was, seen while it was written. */
export interface SeenManifest {
  readonly sha256: string;
  readonly masked: boolean;
  /** What a plan says of its slots; undefined: more than can be counted. */
  readonly steps: Readonly<Record<string, SettledStep>> | undefined;
}

/** Hashes a manifest, and counts its slots, while it is written. */
export class ManifestWatch {
  readonly #hash = createHash('sha256');
  readonly #counts = new SettledCounts();
  #masked = false;

  readonly onText = (text: string | Uint8Array, isMasked: boolean): void => {
    this.#hash.update(text);
    this.#masked ||= isMasked;
  };

  readonly onRow = ({ slot, firstOfSlot, sharesJob, mayChange }: ManifestRow): void => {
    if (firstOfSlot) this.#counts.add(slot, { isShared: sharesJob === true, isFinal: mayChange !== true });
  };

  /** A slot that an earlier manifest has seen. */
  onCopied(step: string, as: keyof SettledStep): void {
    this.#counts.count(step, as);
  }

  result(): SeenManifest {
    return {
      sha256: this.#hash.copy().digest('hex'),
      masked: this.#masked,
      steps: this.#counts.result(),
    };
  }
}

/**
 * Notes in the state what a run was made of and what came of it, where the next run of the same has nothing to do; else notes
 * nothing.
 *
 * @param run.readSince Unix ms, of the clock of the file system: no file of the pipeline was read before
 * @param run.worked some job changed in this run
 */
export async function noteReceipt(
  { directory, state, plan, tables, images, ...run }: BegunRun,
  identity: RunIdentity,
  outcome: {
    readonly readSince: number;
    readonly worked: boolean;
    readonly totals: ManifestTotals;
    readonly written: SeenManifest;
    readonly cells: CellWatch;
    readonly escapeFormulas: boolean;
  },
): Promise<void> {
  const { totals, written } = outcome;
  if (run.missing !== undefined || !isSettled(totals, outcome.worked)) return;
  if (!(await isAtRest(state.reader))) return;
  const now = Date.now();
  const known = images.known();
  if (known.length > mostFiles) return;
  const { folder } = plan.pipeline.source;
  const listings = new Set(
    plan.pipeline.matrix.axes.flatMap((axis) =>
      axis.kind === 'rows' && axis.format === 'files' ? [axis.file] : [],
    ),
  );
  const read = [
    ...tables.filter(({ file }) => !listings.has(file)).map(({ file, sha256 }) => ({ path: file, sha256 })),
    ...tables
      .filter(({ copied }) => copied)
      .map(({ sha256 }) => ({ path: join(directory, runFiles.inputs, sha256), sha256 })),
    ...known.map(({ path, sha256 }) => ({ path: isAbsolute(path) ? path : join(folder, path), sha256 })),
  ];
  const files: SeenFile[] = [];
  for (const { path, sha256 } of read) {
    const file = seenFile(path, sha256, outcome.readSince, now);
    if (file === undefined) return;
    files.push(file);
  }
  const manifest = writtenFile(join(directory, runFiles.manifest), written.sha256);
  if (manifest === undefined) return;
  const base = isNarrowed(identity.selection) ? undefined : baseText(identity);
  const settled =
    base === undefined
      ? undefined
      : await outcome.cells.write(join(directory, runFiles.cells), plan.matrix.cellCount);
  const receipt: Receipt = {
    identity: identityText(identity),
    tables,
    images: known,
    files,
    ...(base === undefined ? {} : { base }),
    ...(settled === undefined ? {} : { settled }),
    cells: plan.matrix.cellCount,
    witness: await witnessOf(state.reader),
    totals,
    ...(isNarrowed(identity.selection) || written.steps === undefined ? {} : { steps: written.steps }),
    manifest: { file: manifest, escapeFormulas: outcome.escapeFormulas, masked: written.masked },
  };
  state.setFact(receiptFact, receiptText(receipt));
}

/**
 * Whether the next run of the same would do nothing. A job that failed may be looked at again by the next run; where this run has
 * changed no job, the next one does not either. A slot that failed without a job may have wanted a file that is not there.
 */
function isSettled({ slots, reasons }: ManifestTotals, worked: boolean): boolean {
  const { done: _done, skipped: _skipped, failed, blocked, ...open } = slots;
  if (Object.values(open).some((count) => count > 0)) return false;
  if (reasons.some(({ unasked = 0 }) => unasked > 0)) return false;
  return failed + blocked === 0 || !worked;
}

/**
 * A file that was young when it was noted is read in each run, until it has come of age.
 *
 * @param readSince Unix ms: the receipt was recognised after that
 */
export function refreshReceipt(state: StateStore, receipt: Receipt, readSince: number): void {
  const { manifest, files } = receipt;
  if (![manifest.file, ...files].some(({ young }) => young)) return;
  const next = {
    ...receipt,
    manifest: { ...manifest, file: matured(manifest.file, readSince) },
    files: files.map((file) => matured(file, readSince)),
  };
  state.setFact(receiptFact, receiptText(next));
}
