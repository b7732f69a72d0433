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

/** What came of a run. */
export interface Noted {
  /** Unix ms, of the clock of the file system: no file of the pipeline was read before. */
  readonly readSince: number;
  /** The same, now. */
  readonly now: number;
  /** The run went to its end, and nothing that it was to redo has failed. */
  readonly isComplete: boolean;
  /** Some job changed in it. */
  readonly worked: boolean;
  readonly totals: ManifestTotals;
  readonly written: SeenManifest;
  readonly cells: CellWatch;
  readonly escapeFormulas: boolean;
}

/**
 * Notes in the state what a run was made of and what came of it. Where something is left to do, its settled cells alone are noted, for
 * `reusableCells`; where nothing can be said of a later run, nothing.
 */
export async function noteReceipt(run: BegunRun, identity: RunIdentity, outcome: Noted): Promise<void> {
  const { directory, state, plan, images } = run;
  const { totals, written } = outcome;
  const known = images.known();
  if (run.missing !== undefined || known.length > mostFiles) return;
  const isWhole = !isNarrowed(identity.selection);
  const files =
    outcome.isComplete && isSettled(totals, outcome.worked) && (await isAtRest(state.reader))
      ? filesOf(run, outcome)
      : undefined;
  const manifest = writtenFile(join(directory, runFiles.manifest), written.sha256);
  if (manifest === undefined) return;
  const base = isWhole ? baseText(identity) : undefined;
  const settled =
    base === undefined
      ? undefined
      : await outcome.cells.write(join(directory, runFiles.cells), plan.matrix.cellCount);
  if (files === undefined && settled === undefined) return;
  const receipt: Receipt = {
    identity: files === undefined ? '' : identityText(identity),
    tables: run.tables,
    images: known,
    files: files ?? [],
    ...(base === undefined ? {} : { base }),
    ...(settled === undefined ? {} : { settled }),
    cells: plan.matrix.cellCount,
    witness: await witnessOf(state.reader),
    totals,
    ...(isWhole && files !== undefined && written.steps !== undefined ? { steps: written.steps } : {}),
    manifest: { file: manifest, escapeFormulas: outcome.escapeFormulas, masked: written.masked },
  };
  state.setFact(receiptFact, receiptText(receipt));
}

/** The files of which a plan was made; undefined where one may be another one by now. */
function filesOf(
  { directory, plan, tables, images }: BegunRun,
  { readSince, now }: Noted,
): readonly SeenFile[] | undefined {
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
    ...images
      .known()
      .map(({ path, sha256 }) => ({ path: isAbsolute(path) ? path : join(folder, path), sha256 })),
  ];
  const files: SeenFile[] = [];
  for (const { path, sha256 } of read) {
    const file = seenFile(path, sha256, readSince, now);
    if (file === undefined) return undefined;
    files.push(file);
  }
  return files;
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
