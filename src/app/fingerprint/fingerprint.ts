import { createHash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { isNarrowed } from '../../manifest/cells.ts';
import type { WrittenManifest } from '../../manifest/write.ts';
import type { FilePort } from '../../pipeline/files.ts';
import type { AxisSetting, Pipeline } from '../../pipeline/pipeline.ts';
import { aFlag, aMapping, aNumber, anything, aText, listOf, mapOf } from '../../pipeline/values/shape.ts';
import type { Selection } from '../../plan/cell.ts';
import type { SettledStep } from '../../plan/estimate/settled.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { type InputTable, lastRun } from '../../report/facts/run.ts';
import type { RunService } from '../../report/facts/services.ts';
import type { ManifestTotals } from '../../results/row-ledger.ts';
import type { StateReader } from '../../state/reader.ts';
import { fingerprintFact, type StateStore } from '../../state/store.ts';
import type { Redactor } from '../output/redact.ts';
import { version } from '../version.ts';
import type { ReadPipeline } from '../workspace/read-pipeline.ts';
import {
  holdsNone,
  isAsSeen,
  isSeenFile,
  matured,
  type SeenFile,
  seenFile,
  writtenFile,
} from './seen-file.ts';

/** A pipeline and all user input that decides what work is left in a run. */
export interface RunIdentity {
  /** Absolute path of the pipeline's file. */
  readonly path: string;
  readonly text: string;
  readonly set?: readonly AxisSetting[] | undefined;
  readonly service: RunService;
  /** Folder that all files of the pipeline must lie in, links resolved. */
  readonly filesRoot: string;
  readonly selection: Selection;
}

/** Returns the parts of a run's input that decide what work is left. */
export const identityOf = (
  { pipeline: { source }, path, files }: ReadPipeline,
  { service, selection }: { readonly service: RunService; readonly selection: Selection },
): RunIdentity => ({ path, text: source.text, set: source.set, service, filesRoot: files.root, selection });

/**
 * The inputs and the results of a run that left nothing to do. If none of them has changed, another run has nothing to do either, and its
 * manifest is already there.
 */
export interface Fingerprint {
  /** {@link identityText} of the run. */
  readonly identity: string;
  readonly tables: readonly InputTable[];
  /** Images that the pipeline uses, by their rendered paths. */
  readonly images: readonly { readonly path: string; readonly sha256: string; readonly bytes: number }[];
  /** Files that the run read. */
  readonly files: readonly SeenFile[];
  /** Number of cells of the matrix. */
  readonly cells: number;
  /** {@link changesOf} the state. */
  readonly changes: string;
  readonly totals: ManifestTotals;
  /** Slots of each step, as `plan` counts them; absent: only a part of the plan ran, or there are too many slots to count. */
  readonly steps?: Readonly<Record<string, SettledStep>>;
  /** The manifest that the run wrote. `masked`: a secret in it was masked. */
  readonly manifest: {
    readonly file: SeenFile;
    readonly escapeFormulas: boolean;
    readonly masked: boolean;
  };
}

const isFingerprint = aMapping(
  {
    identity: aText,
    changes: aText,
    cells: aNumber,
    tables: listOf(aMapping({ file: aText, sha256: aText, bytes: aNumber, copied: aFlag })),
    images: listOf(aMapping({ path: aText, sha256: aText, bytes: aNumber })),
    files: listOf(isSeenFile),
    totals: aMapping({ rows: aNumber, files: aNumber, slots: mapOf(aNumber), reasons: listOf(anything) }),
    manifest: aMapping({ file: isSeenFile, escapeFormulas: aFlag, masked: aFlag }),
  },
  { steps: mapOf(mapOf(aNumber)) },
) as (value: unknown) => value is Fingerprint;

/** Returns a run's identity as JSON, with the release: another release may plan differently. */
export function identityText({ path, text, set = [], service, filesRoot, selection }: RunIdentity): string {
  const { limit, filters = [], shard, only = [] } = selection;
  return JSON.stringify({
    version,
    path,
    sha256: createHash('sha256').update(text).digest('hex'),
    set,
    service: [service.id, service.origin],
    filesRoot,
    selection: [limit, filters.map(({ axis, value }) => [axis, value]), shard, only],
  });
}

/**
 * Returns counts of a state that nearly every change alters. Every change also removes the fingerprint (`fingerprintFact`); the counts
 * catch programs that do not do so.
 */
async function changesOf(state: StateReader): Promise<string> {
  const { known } = await state.submissions();
  return JSON.stringify([known, await state.lastNumber(), await state.totals()]);
}

/** Returns the stored fingerprint if the state is unchanged since; undefined if that is not certain. */
async function fingerprintOf(state: StateReader): Promise<Fingerprint | undefined> {
  const text = (await state.fact(fingerprintFact)) ?? '';
  if (text === '') return undefined;
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isFingerprint(found) && found.changes === (await changesOf(state)) ? found : undefined;
}

/** The form of the manifest that a run would write, and the secrets that it must not contain. */
export interface WantedManifest {
  readonly directory: string;
  readonly escapeFormulas: boolean;
  readonly redactor: Pick<Redactor, 'formsInData'>;
}

/**
 * Returns the fingerprint of the last run if the same run would have nothing to do now: none of its inputs has changed.
 *
 * @param wanted the manifest that the new run would write, which must be there already; absent: none
 */
export async function recognise(
  state: StateReader,
  identity: RunIdentity,
  files: FilePort,
  wanted?: WantedManifest,
): Promise<Fingerprint | undefined> {
  const found = await fingerprintOf(state);
  if (found === undefined || found.identity !== identityText(identity)) return undefined;
  if (wanted !== undefined && !isThere(found, wanted)) return undefined;
  if (!found.files.every(isAsSeen)) return undefined;
  for (const table of found.tables) {
    // The table is a listing of files, which has no file of its own.
    if (found.files.some(({ path }) => path === table.file)) continue;
    if ((await listingHash(table, files)) !== table.sha256) return undefined;
  }
  return found;
}

/**
 * Returns the totals of the manifest in a run directory if it is the one that would be written for the last run; undefined if it must be
 * written.
 *
 * @param all list every planned slot, whatever the last run's flags chose
 */
export async function currentManifest(
  state: StateReader,
  wanted: WantedManifest,
  all: boolean,
): Promise<ManifestTotals | undefined> {
  const last = await lastRun(state);
  if (last === undefined) return undefined;
  const { facts, text, path } = last;
  if (all && isNarrowed(facts.selection)) return undefined;
  const { serviceId: id, origin } = facts;
  const service = origin === undefined ? { id } : { id, origin };
  const found = await fingerprintOf(state);
  if (found?.identity !== identityText({ ...facts, path, text, service })) return undefined;
  if (!isThere(found, wanted)) return undefined;
  // Only tables are checked (the copies, or the originals of large ones): everything else that the plan was made of is in the state.
  const tables = found.tables.map(({ file, sha256, copied }) =>
    copied ? join(wanted.directory, runFiles.inputs, sha256) : file,
  );
  return found.files.filter(({ path: one }) => tables.includes(one)).every(isAsSeen)
    ? found.totals
    : undefined;
}

/** Whether the manifest on disk is the wanted one. One with a masked secret is written again, because the secret is unknown. */
function isThere(
  { manifest }: Fingerprint,
  { directory, escapeFormulas, redactor }: WantedManifest,
): boolean {
  const { file, masked } = manifest;
  if (file.path !== join(directory, runFiles.manifest)) return false;
  if (manifest.escapeFormulas !== escapeFormulas || masked || !isAsSeen(file)) return false;
  return holdsNone(file.realPath, redactor.formsInData);
}

async function listingHash({ file }: InputTable, files: FilePort): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of files.list(file)) hash.update(chunk);
  } catch {
    // The code that writes the manifest reports the error.
    return undefined;
  }
  return hash.digest('hex');
}

/** Largest number of files in a fingerprint: checking more would take as long as the work that it saves. */
const maxFiles = 10_000;

interface NotedRun {
  readonly directory: string;
  readonly state: StateStore;
  readonly plan: {
    readonly pipeline: Pick<Pipeline, 'source' | 'matrix'>;
    readonly matrix: { readonly cellCount: number };
  };
  readonly tables: readonly InputTable[];
  readonly images: { known(): Fingerprint['images'] };
}

/** The outcome of a completed run. */
interface Noted {
  /** Unix ms by the clock of the file system: files of the pipeline were read after this. */
  readonly readSince: number;
  /** Unix ms by the same clock, now. */
  readonly now: number;
  /** True if some job changed in the run. */
  readonly worked: boolean;
  readonly written: WrittenManifest;
  readonly escapeFormulas: boolean;
}

/** Stores the fingerprint of a run in the state if the same run would have nothing to do. */
export async function noteFingerprint(run: NotedRun, identity: RunIdentity, outcome: Noted): Promise<void> {
  const { directory, state, plan, tables } = run;
  const { totals, sha256, isMasked, steps } = outcome.written;
  const images = run.images.known();
  if (images.length > maxFiles || !isSettled(totals, outcome.worked)) return;
  // A later run continues jobs that are under way, in doubt or left over.
  const { done: _done, failed: _failed, ...open } = (await state.reader.totals()).jobs;
  if (Object.values(open).some((count) => count > 0)) return;
  const files = filesOf(run, images, outcome);
  const file = writtenFile(join(directory, runFiles.manifest), sha256);
  if (files === undefined || file === undefined) return;
  const noted: Fingerprint = {
    identity: identityText(identity),
    tables,
    images,
    files,
    cells: plan.matrix.cellCount,
    changes: await changesOf(state.reader),
    totals,
    ...(isNarrowed(identity.selection) || steps === undefined ? {} : { steps }),
    manifest: { file, escapeFormulas: outcome.escapeFormulas, masked: isMasked },
  };
  state.setFact(fingerprintFact, JSON.stringify(noted));
}

/** Returns the files that a plan was made of; undefined if one may have changed. */
function filesOf(
  { directory, plan, tables }: NotedRun,
  images: Fingerprint['images'],
  { readSince, now }: Noted,
): readonly SeenFile[] | undefined {
  const { matrix, source } = plan.pipeline;
  const listings = new Set(
    matrix.axes.flatMap((axis) => (axis.kind === 'rows' && axis.format === 'files' ? [axis.file] : [])),
  );
  const read = [
    ...tables.filter(({ file }) => !listings.has(file)).map(({ file, sha256 }) => [file, sha256] as const),
    ...tables
      .filter(({ copied }) => copied)
      .map(({ sha256 }) => [join(directory, runFiles.inputs, sha256), sha256] as const),
    ...images.map(
      ({ path, sha256 }) => [isAbsolute(path) ? path : join(source.folder, path), sha256] as const,
    ),
  ];
  const files: SeenFile[] = [];
  for (const [path, sha256] of read) {
    const file = seenFile(path, sha256, readSince, now);
    if (file === undefined) return undefined;
    files.push(file);
  }
  return files;
}

/**
 * Whether the same run would do nothing. A later run may retry a failed job, but not if this run changed no job. A slot that failed without
 * a job may lack a file.
 */
function isSettled({ slots, reasons }: ManifestTotals, worked: boolean): boolean {
  const { done: _done, skipped: _skipped, failed, blocked, accepted, ...open } = slots;
  if (Object.values(open).some((count) => count > 0)) return false;
  if (reasons.some(({ unasked = 0 }) => unasked > 0)) return false;
  return failed + blocked + accepted === 0 || !worked;
}

/**
 * Marks files of a fingerprint that are no longer recent, so that later runs do not read them again.
 *
 * @param readSince Unix ms: the run was recognised after this time
 */
export function refreshFingerprint(state: StateStore, found: Fingerprint, readSince: number): void {
  const { manifest, files } = found;
  if (![manifest.file, ...files].some(({ young }) => young)) return;
  const next: Fingerprint = {
    ...found,
    manifest: { ...manifest, file: matured(manifest.file, readSince) },
    files: files.map((file) => matured(file, readSince)),
  };
  state.setFact(fingerprintFact, JSON.stringify(next));
}
