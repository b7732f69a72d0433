import { type JobRecord, type JobStatus, needsOf } from '../../src/plan/job.ts';
import type { RunEvent } from '../../src/run/events.ts';
import type { Effect } from '../../src/run/scheduler/commit.ts';
import type { MemoryStore } from '../rig/memory-store.ts';
import { BrokenPromise } from './violation.ts';

/** What stands of each job that another one came from, by key: the task, or the moment at which the answer was asked for. */
type Sources = Map<string, string>;

/** Keys of the jobs whose replies the templates of a job name. Equal requests are one job, so those of other cells may name others. */
export interface Reads {
  /** In the cell that the job was made for. */
  readonly own: readonly string[];
  /** In every cell that asks for the job. */
  readonly all: readonly string[];
}

/**
 * Watches where the results of a simulated history come from: kept from what was sent and what is durable alone, and from nothing that
 * the records say of their lineage. What came from a result that was replaced (`--redo`) is made again, once, or says that it was not;
 * every job names the task that was really pressed.
 */
export class LineageAuditor {
  readonly #store: MemoryStore;
  readonly #readsOf: (key: string) => Reads;
  /** Of the jobs that were sent. */
  readonly #reads = new Map<string, Reads>();
  /** Jobs that are made again while they have a result: another one replaces that. */
  readonly #redoable = new Set<string>();
  /** What stands of each job. */
  readonly #stands = new Map<string, string>();
  /** What was sent last for a job, and the task that was pressed for it. */
  readonly #sent = new Map<string, { readonly sources: Sources; readonly pressed?: string }>();
  /** What the result that stands was made from. */
  readonly #made = new Map<string, { readonly sources: Sources; readonly pressed?: string }>();
  /** Jobs that were to be made again, came to nothing, and said so: beside which sources they stay. */
  readonly #kept = new Map<string, Sources>();
  /** Jobs that may be sent once more, for which sources that was allowed. */
  readonly #allowed = new Map<string, string>();

  /** How each job was before the turn that became durable last: what is settled may be begun again in the very next one. */
  readonly #was = new Map<string, JobStatus>();

  constructor(store: MemoryStore, readsOf: (key: string) => Reads) {
    this.#store = store;
    this.#readsOf = readsOf;
  }

  /** @returns keys of what a run that begins now makes again */
  begin(redo: readonly string[]): readonly string[] {
    // A redo that an earlier run was asked for, and never sent, is forgotten with that run.
    for (const key of this.#redoable)
      if (this.#store.get(key)?.former === undefined) this.#redoable.delete(key);
    for (const key of redo) this.#redoable.add(key);
    this.#allowed.clear();
    return this.#newlyOutdated();
  }

  sends({ job }: Effect): void {
    const { record, parentTaskId } = job;
    const { own, all } = this.#readsOf(record.key);
    const before = this.#reads.get(record.key);
    this.#reads.set(record.key, {
      own: [...new Set([...(before?.own ?? []), ...own])],
      all: [...new Set([...(before?.all ?? []), ...all])],
    });
    this.#sent.set(record.key, {
      sources: this.#sourcesOf(record),
      ...(parentTaskId === undefined ? {} : { pressed: parentTaskId }),
    });
  }

  /** The service answered a submission with the task that stands: it makes no other one, and the job stays as it is. */
  answered(key: string, taskId: string): void {
    const sent = this.#sent.get(key);
    if (sent !== undefined && this.#stands.get(key) === taskId) this.#kept.set(key, sent.sources);
  }

  /** A turn is durable. @returns keys of what is to be made again from now on */
  committed(records: readonly JobRecord[]): readonly string[] {
    for (const record of records) {
      const { key, status, former, result, taskId, submittedAt } = record;
      if (former !== undefined) {
        this.#redoable.add(key);
        this.#standsFor(key, former.taskId ?? `asked at ${former.submittedAt}`);
      }
      const isThere = former === undefined && (status === 'done' || result !== undefined);
      const stands = taskId ?? `asked at ${submittedAt}`;
      if (!isThere || this.#stands.get(key) === stands) continue;
      // What failed and is tried again on the user's word takes nothing away from what was made of it.
      if (!this.#stands.has(key) || this.#redoable.has(key)) this.#stands.set(key, stands);
      const sent = this.#sent.get(key);
      if (sent !== undefined) this.#made.set(key, sent);
    }
    const keys = this.#newlyOutdated();
    for (const { key, status } of records) this.#was.set(key, status);
    return keys;
  }

  /** What a run said: a redo that came to nothing is reported. */
  onEvents(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type !== 'run:notice' || event.code !== 'redo.failed') continue;
      const [, key = ''] = /^--redo: ([0-9a-f]+)/.exec(event.message) ?? [];
      const record = this.#store.get(key);
      if (record === undefined) throw new BrokenPromise(`A notice names no job: ${event.message}`);
      this.#kept.set(key, this.#sourcesOf(record));
    }
  }

  /** Each result names the task that was pressed for it. */
  checkPressed(): void {
    for (const [key, { pressed }] of this.#made) {
      const record = this.#store.get(key);
      if (record === undefined || record.former !== undefined || record.status !== 'done') continue;
      if (record.request.kind === 'click' && record.parentTaskId !== pressed)
        throw new BrokenPromise(`${key} was pressed on task ${pressed}, and names ${record.parentTaskId}`);
    }
  }

  /** Everything is settled: each result comes from what stands in its own cell, but for those that were tried in vain. */
  checkSettled(asked: ReadonlySet<string>): void {
    this.checkPressed();
    for (const key of this.#made.keys())
      if (asked.has(key) && this.#isOutdated(key, 'own')) {
        const { from, redone, status } = this.#store.get(key) ?? {};
        throw new BrokenPromise(
          `${key} is ${status} and came from what was replaced: ${JSON.stringify({ from, redone, made: [...(this.#made.get(key)?.sources ?? [])], now: [...this.#sourcesOf(this.#store.get(key) as JobRecord)] })}`,
        );
      }
  }

  #newlyOutdated(): readonly string[] {
    const keys: string[] = [];
    for (const key of new Set([...this.#made.keys(), ...this.#sent.keys()])) {
      const record = this.#store.get(key);
      const statuses = [record?.status, this.#was.get(key)];
      // What ends and is begun again in one turn is durable as its next submission only.
      const isBeingRedone = record?.status === 'submitting' && this.#was.has(key);
      const isSettled = statuses.includes('done') || statuses.includes('failed') || isBeingRedone;
      if (record === undefined || !isSettled || !this.#isOutdated(key, 'all')) continue;
      const sources = JSON.stringify([...this.#sourcesOf(record)]);
      if (this.#allowed.get(key) === sources) continue;
      this.#allowed.set(key, sources);
      keys.push(key);
    }
    return keys;
  }

  /** @param reads in which cells: each may have the job made again, its own one must */
  #isOutdated(key: string, reads: keyof Reads): boolean {
    const record = this.#store.get(key);
    const made = this.#made.get(key) ?? this.#sent.get(key);
    if (record === undefined || made === undefined) return false;
    const kept = this.#kept.get(key);
    return [...this.#sourcesOf(record, reads)].some(
      ([source, stands]) => made.sources.get(source) !== stands && kept?.get(source) !== stands,
    );
  }

  /** What failed and was made after all on the user's word is the same source as before to all that was made from it. */
  #standsFor(key: string, stands: string): void {
    const before = this.#stands.get(key);
    if (before === undefined || before === stands) return;
    for (const { sources } of [...this.#made.values(), ...this.#sent.values()])
      if (sources.get(key) === before) sources.set(key, stands);
    this.#stands.set(key, stands);
  }

  #sourcesOf(record: JobRecord, reads: keyof Reads = 'all'): Sources {
    const keys = [...needsOf(record), ...(this.#reads.get(record.key)?.[reads] ?? [])];
    return new Map(keys.map((key) => [key, this.#stands.get(key) ?? '']));
  }
}
