import { droppedCode, type JobRecord, type JobSpec, needsOf } from '../job.ts';
import type { RecordLookup, Slot } from '../slot.ts';
import { standing } from './former.ts';
import { isBeingRedone } from './slot-status.ts';

/** What a job is made from, as its record keeps it. */
export type Lineage = Pick<JobRecord, 'parentTaskId' | 'from'>;

/** How often a job's result has been replaced by a new one (`--redo`). */
export const timesRedone = (record: Pick<JobRecord, 'redone'> | undefined): number =>
  record?.redone?.count ?? 0;

/** Keys of all jobs that a job comes from: those that it presses, shows, gathers or continues, and those whose results its templates name. */
export const sourcesOf = (
  job: Pick<JobSpec, 'parent' | 'inputs' | 'request' | 'reads'>,
): readonly string[] => {
  const needs = needsOf(job);
  const { reads = [] } = job;
  // Of most jobs of a plan there are none, or one.
  return reads.length === 0 && needs.length < 2 ? needs : [...new Set([...needs, ...reads])];
};

/** The same of a job that was submitted before. */
const sourcesOnRecord = (record: JobRecord): readonly string[] => sourcesOf(withReads(record));

/** The record, with what its templates read. Of most records that is nothing. */
const withReads = (record: JobRecord): JobRecord & Pick<JobSpec, 'reads'> =>
  record.from === undefined ? record : { ...record, reads: Object.keys(record.from) };

/**
 * What a job comes from now, to be recorded when it is begun. What is never absent from a request (`needsOf`) is recorded only where
 * it was redone before; what a template names is recorded always, because equal requests of other cells may name others.
 *
 * @param parentTaskId the finished task of its parent
 */
export function lineageOf(
  job: Pick<JobSpec, 'parent' | 'inputs' | 'request' | 'reads'>,
  parentTaskId: string | undefined,
  lookup: RecordLookup,
): Lineage {
  const sources = sourcesOf(job);
  if (sources.length === 0) return parentTaskId === undefined ? {} : { parentTaskId };
  const needs = new Set(needsOf(job));
  const from = sources
    .map((key) => [key, timesRedone(lookup(key))] as const)
    .filter(([key, times]) => times > 0 || !needs.has(key));
  return {
    ...(parentTaskId === undefined ? {} : { parentTaskId }),
    ...(from.length === 0 ? {} : { from: Object.fromEntries(from) }),
  };
}

/** {@link lineageOf} a job that was submitted before, from the same sources. */
export const lineageNow = (
  record: JobRecord,
  parentTaskId: string | undefined,
  lookup: RecordLookup,
): Lineage => lineageOf(withReads(record), parentTaskId, lookup);

/** The record of a job that is begun from this. What other cells had it made from stays known. */
export function begunFrom(record: JobRecord, { parentTaskId, from }: Lineage): JobRecord {
  const { parentTaskId: _, ...rest } = record;
  return {
    ...rest,
    ...(parentTaskId === undefined ? {} : { parentTaskId }),
    ...(from === undefined ? {} : { from: { ...record.from, ...from } }),
  };
}

/**
 * True where a job came from a result that has been replaced since: the job is to be redone. False where a redo was tried
 * and failed, and for a job that never came from this source.
 *
 * @param times how often the result of the source was replaced
 */
function isReplaced(record: JobRecord, needs: ReadonlySet<string>, key: string, times: number): boolean {
  const made = record.from?.[key] ?? (needs.has(key) ? 0 : undefined);
  return made !== undefined && made !== times && record.kept?.[key] !== times;
}

/**
 * True where a settled job has to be redone because a job that it came from was redone. False for a job in doubt, which is
 * held.
 */
export function isOutdated(
  record: JobRecord,
  lookup: RecordLookup,
  sources: readonly string[] = sourcesOnRecord(record),
): boolean {
  const { status, error, former, from } = record;
  if (status !== 'done' && status !== 'failed') return false;
  // Its own task may still come; and what the user gave up is not paid again on another's account.
  if (former !== undefined || error?.code === droppedCode) return false;
  if (from === undefined && sources.every((key) => timesRedone(lookup(key)) === 0)) return false;
  const needs = new Set(needsOf(record));
  return sources.some(
    (key) => isReplaced(record, needs, key, timesRedone(lookup(key))) && !isMadeFrom(key, record.key, lookup),
  );
}

/**
 * True where a job was made from another one, over any number of others. In different cells each of two jobs may have been made from
 * the other: then a new result of the one would ask for one of the other, and so on without end.
 */
function isMadeFrom(key: string, source: string, lookup: RecordLookup): boolean {
  const seen = new Set([key]);
  for (const one of seen) {
    if (one === source) return true;
    const record = lookup(one);
    for (const next of record === undefined ? [] : sourcesOnRecord(record)) seen.add(next);
  }
  return false;
}

/**
 * The task that a job was made from: whose button it pressed, or whose image it was shown first. Records of releases that
 * did not keep it: that of the parent's first result, where that was submitted before the job was; otherwise unknown.
 */
export function parentTaskOf(record: JobRecord, lookup: RecordLookup): string | undefined {
  if (record.parentTaskId !== undefined) return record.parentTaskId;
  const parent = record.parent === undefined ? undefined : lookup(record.parent);
  if (parent === undefined) return undefined;
  const { taskId, submittedAt } = parent.redone?.first ?? standing(parent);
  const at = record.submittedAt ?? record.finishedAt;
  return submittedAt === undefined || at === undefined || submittedAt <= at ? taskId : undefined;
}

/**
 * The sources of the jobs of one cell. Equal requests are one job, so a template can name a step whose job comes from the
 * very job that is resolved: a text that is corrected twice and was right at once, a word that is translated there and
 * back. Such a job does not depend on that step, and does not come from it: otherwise it would come from itself, and each
 * new result of it would ask for another one.
 */
export class CellSources {
  readonly #of = new Map<string, readonly string[]>();

  /** A job that several slots ask for may come from something else in each. */
  add(key: string, sources: readonly string[]): void {
    if (sources.length === 0) return;
    const known = this.#of.get(key);
    this.#of.set(key, known === undefined ? sources : [...known, ...sources]);
  }

  /** Adds the sources of another cell's jobs. */
  include(other: CellSources): void {
    for (const [key, sources] of other.#of) this.add(key, sources);
  }

  /** Of the jobs that a request's templates name, those that do not come from the job itself. */
  before(key: string, reads: readonly string[]): readonly string[] {
    return reads.filter((read) => !this.#comesFrom(read, key));
  }

  #comesFrom(key: string, source: string): boolean {
    const seen = new Set([key]);
    for (const one of seen) {
      if (one === source) return true;
      for (const next of this.#of.get(one) ?? []) seen.add(next);
    }
    return false;
  }
}

/** What happens to a slot when a job that it comes from is redone; see `Slot`. */
interface RedoVerdict extends Pick<Slot, 'outdated' | 'waitsForRedo'> {
  readonly ready?: true;
  /** Its result is to be replaced. */
  readonly isToCome: boolean;
}

const nothingRedone: RedoVerdict = { isToCome: false };

/** The jobs of one cell that are being redone, or are to be. Slots are added in an order in which each follows what it comes from. */
export class CellRedos {
  readonly #lookup: RecordLookup;
  /** By key of a job. */
  readonly #records = new Map<string, JobRecord | undefined>();
  /** Keys of jobs that are being redone, or are to be. */
  readonly #redo = new Set<string>();
  readonly #sources = new CellSources();

  constructor(lookup: RecordLookup) {
    this.#lookup = lookup;
  }

  /** @param free all that the slot waits for is done */
  of(job: JobSpec | undefined, record: JobRecord | undefined, free: boolean): RedoVerdict {
    if (job === undefined) return nothingRedone;
    const { key } = job;
    this.#records.set(key, record);
    const sources = sourcesOf(job);
    this.#sources.add(key, sources);
    const waitsForRedo = this.#redo.size > 0 && sources.some((source) => this.#redo.has(source));
    const outdated = record !== undefined && isOutdated(record, (source) => this.#recordOf(source), sources);
    const isToCome = record !== undefined && (outdated || waitsForRedo);
    if (isToCome || isBeingRedone(record)) this.#redo.add(key);
    if (!isToCome && !waitsForRedo) return nothingRedone;
    return {
      isToCome,
      ...(outdated && { outdated, ...(free && { ready: true }) }),
      ...(waitsForRedo && { waitsForRedo }),
    };
  }

  /** Adds the jobs of another cell that jobs of this one are made from. */
  include(other: CellRedos): void {
    for (const [key, record] of other.#records) this.#records.set(key, record);
    for (const key of other.#redo) this.#redo.add(key);
    this.#sources.include(other.#sources);
  }

  /** See {@link CellSources.before}. */
  before(key: string, reads: readonly string[]): readonly string[] {
    return reads.length === 0 ? reads : this.#sources.before(key, reads);
  }

  #recordOf(key: string): JobRecord | undefined {
    return this.#records.has(key) ? this.#records.get(key) : this.#lookup(key);
  }
}
