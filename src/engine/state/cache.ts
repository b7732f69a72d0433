import type { Attempt, JobRecord } from '../../plan/job.ts';
import type { StoredRecord, Version } from './rows.ts';

/** Largest number of records kept that no slice needs any more: the next slice often needs the same parents. Each has some KB. */
const maxIdle = 1024;

const none: readonly Attempt[] = [];

interface Entry extends StoredRecord {
  /** The version shown last, which later decisions are based on. */
  seen: Version | undefined;
  /** The turn of this session that decided the record; undefined where it was read. */
  readonly turn: number | undefined;
  attempts: readonly Attempt[];
  /** Number of this worker's slices that need the record. */
  needs: number;
}

/**
 * Cache of the records that a worker can look up without waiting: those that its slices need, as last read or written. Its size is bounded
 * by the slices that the worker holds. A missing record counts as unknown: whether a job is really new is decided by its commit.
 */
export class RecordCache {
  readonly #entries = new Map<string, Entry>();
  /** Keys that no slice needs, the one unused longest in front. */
  readonly #idle = new Set<string>();
  /** Keys by slice that were read and have no record, so that they are not read again. */
  readonly #bySlice = new Map<number, Set<string>>();

  /** Returns a record for a decision, and notes the shown version. */
  get(key: string): JobRecord | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.seen = { slice: entry.slice, rev: entry.rev };
    return entry.record;
  }

  /** Returns a record without deciding anything about it. */
  peek(key: string): StoredRecord | undefined {
    return this.#entries.get(key);
  }

  attempts(key: string): readonly Attempt[] {
    return this.#entries.get(key)?.attempts ?? [];
  }

  /** Returns the version shown last; undefined where no record was shown. */
  seen(key: string): Version | undefined {
    return this.#entries.get(key)?.seen;
  }

  /** Returns those of the keys that are not known to the slice, as a record or as missing. */
  missing(keys: readonly string[], slice: number): readonly string[] {
    const known = this.#bySlice.get(slice);
    return [...new Set(keys)].filter((key) => known?.has(key) !== true);
  }

  /** Marks keys as needed by a slice until it is released. */
  need(keys: Iterable<string>, slice: number): void {
    const known = this.#bySlice.get(slice) ?? new Set();
    this.#bySlice.set(slice, known);
    for (const key of keys) {
      if (known.has(key)) continue;
      known.add(key);
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      entry.needs += 1;
      this.#idle.delete(key);
    }
  }

  /** Stores a record that this session decided in a turn. */
  put(key: string, stored: StoredRecord, turn: number): void {
    const { slice, rev } = stored;
    this.#set(key, stored, { slice, rev }, turn, undefined);
  }

  /**
   * Stores a record that was read.
   *
   * @param after the last turn that had ended when the query began: later decisions are not in the record
   */
  read(key: string, stored: StoredRecord, attempts: readonly Attempt[], after: number): void {
    const last = this.#entries.get(key);
    if (last?.turn !== undefined && last.turn > after) return;
    this.#set(key, stored, last?.seen, undefined, attempts);
  }

  /** Adds attempts that this session made. */
  append(attempts: readonly Attempt[]): void {
    for (const attempt of attempts) {
      const entry = this.#entries.get(attempt.key);
      if (entry !== undefined) entry.attempts = [...entry.attempts, attempt];
    }
  }

  /** Notes that there is no such record. */
  forget(key: string): void {
    this.#entries.delete(key);
    this.#idle.delete(key);
  }

  /** Releases the records of a slice. */
  release(slice: number): void {
    const known = this.#bySlice.get(slice) ?? [];
    this.#bySlice.delete(slice);
    for (const key of known) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      entry.needs -= 1;
      if (entry.needs === 0) this.#rest(key);
    }
  }

  /** Number of records in the cache. */
  get size(): number {
    return this.#entries.size;
  }

  /** @param attempts undefined: the known ones stay */
  #set(
    key: string,
    { record, slice, rev, redo }: StoredRecord,
    seen: Version | undefined,
    turn: number | undefined,
    attempts: readonly Attempt[] | undefined,
  ): void {
    const last = this.#entries.get(key);
    let needs = last?.needs ?? 0;
    if (last === undefined) for (const known of this.#bySlice.values()) if (known.has(key)) needs += 1;
    const entry = {
      record,
      slice,
      rev,
      redo,
      seen,
      turn,
      attempts: attempts ?? last?.attempts ?? none,
      needs,
    };
    this.#entries.set(key, entry);
    if (last === undefined && needs === 0) this.#rest(key);
  }

  #rest(key: string): void {
    this.#idle.add(key);
    if (this.#idle.size <= maxIdle) return;
    const [oldest] = this.#idle;
    if (oldest === undefined) return;
    this.#idle.delete(oldest);
    this.#entries.delete(oldest);
  }
}
