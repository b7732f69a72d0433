import { isSettled, type JobRecord } from '../../src/plan/job.ts';
import type { RunEnd, RunEvent } from '../../src/run/events.ts';
import type { RedoRequest } from '../../src/state/redo-order.ts';
import { BrokenPromise } from './violation.ts';

/** A job that some order named. */
interface Ordered {
  /** Its new result is owed. */
  readonly isOpen: boolean;
  /** A submission of it may have left: only what is said of doubts and failures has it submitted again. */
  readonly isBegun: boolean;
  /** What stood when it was ordered: the task, or the moment at which the answer was asked for. */
  readonly stood: string;
  readonly asked: string;
  readonly isClosed: boolean;
}

/** Keys of what is owed when a run begins. */
interface Owed {
  readonly open: readonly string[];
  /** Those of them of which no submission may have left. */
  readonly waiting: readonly string[];
}

const standsOf = ({ taskId, submittedAt }: Pick<JobRecord, 'taskId' | 'submittedAt'>): string =>
  taskId ?? `asked at ${submittedAt}`;

/**
 * The orders of a simulated history (`--redo`, `--redo-jobs`), kept from what the user says, from the results that are durable and from what
 * the runs say alone. Each of their jobs is owed one new result, whatever ends the runs, and no run may pay for another one.
 */
export class Orders {
  readonly #jobs = new Map<string, Ordered>();
  /** Jobs that had begun when what was left of their orders was dropped: what is under way goes on. */
  readonly #dropped = new Set<string>();

  /** @param record of a job that is asked for @returns what may be paid anew from now on */
  begin(request: RedoRequest | undefined, record: (key: string) => JobRecord | undefined): Owed {
    const { keys = [], again = false } = request ?? {};
    const asked = `${again} ${keys.toSorted().join()}`;
    for (const key of keys) {
      const known = this.#jobs.get(key);
      const stood = standsOf(record(key) ?? {});
      if (known?.isOpen) this.#jobs.set(key, { ...known, asked });
      else if (known === undefined || (again && (known.isClosed || known.asked !== asked)))
        this.#jobs.set(key, { isOpen: true, isBegun: false, stood, asked, isClosed: false });
    }
    const open = this.open;
    return { open, waiting: open.filter((key) => this.#jobs.get(key)?.isBegun !== true) };
  }

  /** `--redo-cancel`: what is left is owed no more, and nothing more of it is begun. */
  cancel(): void {
    for (const [key, ordered] of this.#jobs)
      if (!ordered.isOpen) this.#jobs.set(key, { ...ordered, isClosed: true });
      else if (ordered.isBegun) this.#dropped.add(key);
    for (const key of this.open) this.#jobs.delete(key);
  }

  /** A submission of the job is one of its order. */
  mayMake(key: string): boolean {
    return this.#jobs.get(key)?.isOpen === true || this.#dropped.has(key);
  }

  /** A turn is durable: what has settled anew is owed no more. */
  committed(records: readonly JobRecord[]): void {
    for (const record of records) {
      const { key, status, former, error, modal } = record;
      const ordered = this.#jobs.get(key);
      if (isSettled(status) && status !== 'in-doubt') this.#dropped.delete(key);
      if (!ordered?.isOpen) continue;
      // A dialog that is answered is one of the submission that stood.
      if (status === 'submitting' && modal === undefined) this.#jobs.set(key, { ...ordered, isBegun: true });
      if (!isSettled(status) || status === 'in-doubt') continue;
      const isLate = error?.code === 'task.timeout';
      const isNew = former === undefined && (status === 'failed' || standsOf(record) !== ordered.stood);
      // Done as before: it was given back.
      this.#jobs.set(key, { ...ordered, isOpen: !isNew && !isLate, isBegun: false });
    }
  }

  /** The service answered a submission with a task: it makes no other one where that is the one that stood. */
  answered(key: string, taskId: string): void {
    const ordered = this.#jobs.get(key);
    if (ordered?.isOpen && ordered.stood === taskId) this.#jobs.set(key, { ...ordered, isOpen: false });
  }

  /** What a run said: a job that could not be made anew has had its turn. @param isWritten that is durable */
  onEvents(events: readonly RunEvent[], isWritten: (key: string) => boolean = () => true): void {
    for (const event of events) {
      if (event.type !== 'run:notice' || event.code !== 'redo.failed') continue;
      const [, key = ''] = /^--redo: ([0-9a-f]+)/.exec(event.message) ?? [];
      const ordered = this.#jobs.get(key);
      if (ordered !== undefined && isWritten(key)) this.#jobs.set(key, { ...ordered, isOpen: false });
    }
  }

  /** A run is over: an order of which nothing is left is closed, unless the run was killed, or could not write its state. */
  end(end: RunEnd | undefined): void {
    if (end === undefined || (end.kind === 'disk' && end.code.startsWith('state.'))) return;
    const left = new Set([...this.#jobs.values()].flatMap(({ isOpen, asked }) => (isOpen ? [asked] : [])));
    for (const [key, ordered] of this.#jobs)
      if (!ordered.isOpen && !left.has(ordered.asked)) this.#jobs.set(key, { ...ordered, isClosed: true });
  }

  /** Everything is settled: nothing is owed. */
  checkMade(asked: ReadonlySet<string>): void {
    const key = this.open.find((open) => asked.has(open));
    if (key !== undefined) throw new BrokenPromise(`${key} was to be made anew, and never was`);
  }

  /** Keys of the jobs that are to be made anew. */
  get open(): readonly string[] {
    return [...this.#jobs].flatMap(([key, { isOpen }]) => (isOpen ? [key] : []));
  }
}
