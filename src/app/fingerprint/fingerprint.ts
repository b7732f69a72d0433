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
import { type InputTable, readRunFacts } from '../../report/facts/run.ts';
import type { RunService } from '../../report/facts/services.ts';
import type { ManifestTotals } from '../../results/row-ledger.ts';
import { pipelineFacts } from '../../state/binding.ts';
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

/** A pipeline, and all that a user says of a run that decides what is left to do. */
export interface RunIdentity {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly set?: readonly AxisSetting[] | undefined;
  readonly service: RunService;
  /** Folder that all files of the pipeline must lie in, links resolved. */
  readonly filesRoot: string;
  readonly selection: Selection;
}

/** What decides what is left to do in a run. */
export const identityOf = (
  { pipeline: { source }, path, files }: ReadPipeline,
  { service, selection }: { readonly service: RunService; readonly selection: Selection },
): RunIdentity => ({ path, text: source.text, set: source.set, service, filesRoot: files.root, selection });

/**
 * By what a run with nothing to do is recognised: what the last run was made of, noted when nothing was left to do. While all of that is
 * unchanged, another run has nothing to do either, and its manifest is there.
 */
export interface Fingerprint {
  /** {@link identityText} of the run. */
  readonly identity: string;
  readonly tables: readonly InputTable[];
  /** Images that the pipeline names, by the paths that templates rendered. */
  readonly images: readonly { readonly path: string; readonly sha256: string; readonly bytes: number }[];
  /** The files that were read. */
  readonly files: readonly SeenFile[];
  /** Cells of the matrix. */
  readonly cells: number;
  /** {@link changesOf} the state. */
  readonly changes: string;
  readonly totals: ManifestTotals;
  /** What a plan says of the slots of each step; absent: only a part of the plan ran, or it has too many slots to be counted. */
  readonly steps?: Readonly<Record<string, SettledStep>>;
  /** The manifest as the run wrote it. `masked`: some text was a secret. */
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

/** As JSON, with the release: another release may plan otherwise. */
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
 * Counts of a state that nearly every change moves. Each change takes the fingerprint away as well (`fingerprintFact`): they are for changes
 * by a program that does not know of it.
 */
async function changesOf(state: StateReader): Promise<string> {
  const { known } = await state.submissions();
  return JSON.stringify([known, await state.lastNumber(), await state.totals()]);
}

/** The fingerprint that describes a state as it is; whatever cannot be known or understood counts as changed. */
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

/** The manifest that is wanted: the one of a run directory, in one form, without these secrets. */
export interface WantedManifest {
  readonly directory: string;
  readonly escapeFormulas: boolean;
  readonly redactor: Pick<Redactor, 'formsInData'>;
}

/**
 * The fingerprint of the last run, where another run of the same would have nothing to do: nothing of what it was made of has changed.
 *
 * @param wanted the manifest that the other run would write, and that is to be there already; absent: none
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
    // Files as rows: the listing has no file of its own.
    if (found.files.some(({ path }) => path === table.file)) continue;
    if ((await listingHash(table, files)) !== table.sha256) return undefined;
  }
  return found;
}

/**
 * What the manifest of a run directory adds up to, where it lies there as it would be written for the last run; undefined where it is to
 * be written.
 *
 * @param all every planned slot is to be listed, whatever the last run's flags chose
 */
export async function currentManifest(
  state: StateReader,
  wanted: WantedManifest,
  all: boolean,
): Promise<ManifestTotals | undefined> {
  const facts = await readRunFacts(state);
  const text = await state.fact(pipelineFacts.text);
  const path = await state.fact(pipelineFacts.path);
  if (facts === undefined || text === undefined || path === undefined) return undefined;
  if (all && isNarrowed(facts.selection)) return undefined;
  const { serviceId: id, origin } = facts;
  const service = origin === undefined ? { id } : { id, origin };
  const found = await fingerprintOf(state);
  if (found?.identity !== identityText({ ...facts, path, text, service })) return undefined;
  if (!isThere(found, wanted)) return undefined;
  // Copies of tables, and tables too large to be copied: what else the plan was made of is in the state.
  const tables = found.tables.map(({ file, sha256, copied }) =>
    copied ? join(wanted.directory, runFiles.inputs, sha256) : file,
  );
  return found.files.filter(({ path: one }) => tables.includes(one)).every(isAsSeen)
    ? found.totals
    : undefined;
}

/** Whether a manifest lies there as it would be written now. One in which a secret was masked is written again: which secret it was is not known. */
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
    // Whoever lists it says what is wrong.
    return undefined;
  }
  return hash.digest('hex');
}

/** More files are not noted: to look at each of them would take as long as the work that it saves. */
const mostFiles = 10_000;

/** A run of which the fingerprint is noted. */
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

/** What came of a run that went to its end. */
interface Noted {
  /** Unix ms, of the clock of the file system: no file of the pipeline was read before. */
  readonly readSince: number;
  /** The same, now. */
  readonly now: number;
  /** Some job changed in it. */
  readonly worked: boolean;
  readonly written: WrittenManifest;
  readonly escapeFormulas: boolean;
}

/** Notes in the state by what the next run of the same is recognised, where that has nothing to do. */
export async function noteFingerprint(run: NotedRun, identity: RunIdentity, outcome: Noted): Promise<void> {
  const { directory, state, plan, tables } = run;
  const { totals, sha256, isMasked, steps } = outcome.written;
  const images = run.images.known();
  if (images.length > mostFiles || !isSettled(totals, outcome.worked)) return;
  // A run takes up again what is under way, in doubt or left over.
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

/** The files of which a plan was made; undefined where one may be another one by now. */
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
 * Notes which files of a fingerprint are young no longer: later runs do not read them again.
 *
 * @param readSince Unix ms: the run was recognised after that
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
