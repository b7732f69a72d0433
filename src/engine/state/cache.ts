import type { Attempt, JobRecord } from '../../plan/job.ts';
import type { StoredRecord, Version } from './rows.ts';

/** Records that no slice needs any more are kept, at most so many: the next slice often asks for the same parents. Each is some KB. */
const mostIdle = 1024;

const none: readonly Attempt[] = [];

interface Entry extends StoredRecord {
  /** What was shown of it last: what is decided about it, is decided from this. */
  seen: Version | undefined;
  /** The turn that decided it, where that was one of this session. */
  readonly turn: number | undefined;
  attempts: readonly Attempt[];
  /** How many slices of this worker need it. */
  needs: number;
}

/**
 * The records that a worker can look up without waiting: those that its slices have asked for, as they were when they were read or written
 * last. Its size is bounded by the slices that the worker holds. What is not here counts as not known: whether a job is really new,
 * its commit decides.
 */
export class RecordCache {
  readonly #entries = new Map<string, Entry>();
  /** Keys that no slice needs, in the order in which they became so. */
  readonly #idle = new Set<string>();
  /** Keys that were asked for and of which there is no record, by slice: they are not asked for again. */
  readonly #bySlice = new Map<number, Set<string>>();

  /** Looks a record up for a decision. */
  get(key: string): JobRecord | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.seen = { slice: entry.slice, rev: entry.rev };
    return entry.record;
  }

  /** Looks a record up without deciding anything about it. */
  peek(key: string): StoredRecord | undefined {
    return this.#entries.get(key);
  }

  attempts(key: string): readonly Attempt[] {
    return this.#entries.get(key)?.attempts ?? [];
  }

  /** What was shown last of a record; undefined: that there is none. */
  seen(key: string): Version | undefined {
    return this.#entries.get(key)?.seen;
  }

  /** Of these keys those that a slice does not know to be here, or to be nowhere. */
  missing(keys: readonly string[], slice: number): readonly string[] {
    const known = this.#bySlice.get(slice);
    return [...new Set(keys)].filter((key) => known?.has(key) !== true);
  }

  /** These keys are needed by a slice until it is released. */
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

  /** Shows what is decided here, in this turn. */
  put(key: string, stored: StoredRecord, turn: number): void {
    const { slice, rev } = stored;
    this.#set(key, stored, { slice, rev }, turn, undefined);
  }

  /**
   * Shows a record as it was read.
   *
   * @param after the last turn that was over when it was asked for: what was decided later is not in it
   */
  read(key: string, stored: StoredRecord, attempts: readonly Attempt[], after: number): void {
    const last = this.#entries.get(key);
    if (last?.turn !== undefined && last.turn > after) return;
    this.#set(key, stored, last?.seen, undefined, attempts);
  }

  /** Adds attempts that were made here. */
  append(attempts: readonly Attempt[]): void {
    for (const attempt of attempts) {
      const entry = this.#entries.get(attempt.key);
      if (entry !== undefined) entry.attempts = [...entry.attempts, attempt];
    }
  }

  /** There is no such record. */
  forget(key: string): void {
    this.#entries.delete(key);
    this.#idle.delete(key);
  }

  /** A slice needs nothing more. */
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

  /** How many records are here. */
  get size(): number {
    return this.#entries.size;
  }

  /** @param attempts undefined: those that are known */
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
    if (this.#idle.size <= mostIdle) return;
    const [oldest] = this.#idle;
    if (oldest === undefined) return;
    this.#idle.delete(oldest);
    this.#entries.delete(oldest);
  }
}
