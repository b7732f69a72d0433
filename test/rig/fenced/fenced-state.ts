import type { Attempt, JobRecord } from '../../../src/plan/job.ts';
import { isTextRequest } from '../../../src/plan/job-request.ts';
import { longestAnswerMs, sameMomentMs } from '../../../src/run/machine/ownership.ts';
import type { LeftRecord } from '../../../src/run/ports.ts';
import type { RedoChange, RedoOrders } from '../../../src/state/redo-order.ts';
import {
  burstMs,
  type Committed,
  type LateFact,
  type TaskClaims,
  type Turn,
  type TurnSlices,
} from '../../../src/state/store.ts';
import { memoryRedos } from '../memory-redos.ts';

/** A record as the state has it: which slice wrote it last, under which number, and who held that slice then. */
export interface Row {
  readonly record: JobRecord;
  readonly slice: number;
  /** `epoch × 2^32 + turn`: a commit that is executed late has a smaller one. */
  readonly rev: number;
  readonly holder: string;
  /** Names the write. */
  readonly version: string;
  /** How far the job is of an open order to make it anew. */
  readonly redo?: 'waiting' | 'begun' | undefined;
}

/** A turn as it travels to the state. */
export interface Request {
  readonly turn: Turn;
  /** Number of the turn of its worker. */
  readonly number: number;
}

/** A rule that is left out on purpose, to see that it is noticed. */
export type Unfenced = 'no-epoch' | 'no-claim' | 'forgets-orders' | 'cancels-nothing';

/** The rows that a turn writes, and what each was decided from. */
export function rowsOf({ turn: { records, slices = noSlices, redos }, number }: Request): readonly {
  readonly row: Row;
  readonly basis: string | undefined;
  readonly redo: RedoChange | undefined;
}[] {
  return records.map((record) => {
    const slice = slices.of.get(record.key) ?? -1;
    const epoch = slices.epochs.get(slice) ?? 0;
    const holder = holderOf(slice, epoch);
    const rev = epoch * 2 ** 32 + number;
    const redo = redos?.get(record.key);
    return {
      row: { record: copied(record), slice, rev, holder, version: `${holder}/${number}` },
      redo,
      basis: slices.basis.get(record.key),
    };
  });
}

/** Who holds a slice so. */
export const holderOf = (slice: number, epoch: number): string => `${slice}/${epoch}`;

const noSlices: TurnSlices = { of: new Map(), epochs: new Map(), basis: new Map() };

const resting = new Set(['pending', 'modal', 'done', 'failed', 'in-doubt']);

/**
 * The shared state of several workers in memory: what any such state promises, in the fewest words. Each call is one transaction, and
 * everything that goes in or comes out is a copy.
 */
export class FencedState {
  readonly rows = new Map<string, Row>();
  readonly #history: Attempt[] = [];
  readonly #facts = new Map<string, LateFact>();
  readonly #epochs = new Map<number, number>();
  readonly #over = new Set<string>();
  /** The orders to make jobs anew. */
  readonly redos: RedoOrders & ReturnType<typeof memoryRedos>;
  /** Of these, who may still hear of text calls. */
  readonly #hearing = new Set<string>();
  readonly #without: Unfenced | undefined;

  /** Submissions that the workers have counted here. */
  counted = 0;
  /** How often an older copy came back: whoever was connected before has lost that connection. */
  restores = 0;
  /** The epochs that were ever given. */
  readonly #given = new Map<number, number>();

  constructor(without?: Unfenced) {
    this.#without = without;
    const redos = memoryRedos();
    this.redos = without === 'cancels-nothing' ? { ...redos, cancel: () => 0 } : redos;
  }

  epochOf(slice: number): number {
    return this.#epochs.get(slice) ?? 0;
  }

  /** Takes a slice, whoever holds it. */
  claim(slice: number): { readonly epoch: number; readonly left: readonly LeftRecord[] } {
    // No hold of a time that is forgotten has the name of a later one: whoever had it is known to be gone.
    const epoch = Math.max(this.epochOf(slice), this.#given.get(slice) ?? 0) + 1;
    this.#given.set(slice, epoch);
    this.#epochs.set(slice, epoch);
    return { epoch, left: this.left(slice) };
  }

  /** Makes a copy. @returns puts it back in the place of what is there by then */
  copy(): () => void {
    const { counted } = this;
    const maps: Map<unknown, unknown>[] = [this.rows, this.#facts, this.#epochs, this.redos.all];
    const copies = maps.map((map) => [...map]);
    const history = [...this.#history];
    return () => {
      for (const [at, map] of maps.entries()) {
        map.clear();
        for (const [key, value] of copies[at] ?? []) map.set(key, value);
      }
      // The newest state has attempts that an older copy had not.
      this.#history.splice(0, this.#history.length, ...history);
      this.counted = counted;
      this.restores += 1;
    };
  }

  /** What a slice was left with. */
  left(slice: number): readonly LeftRecord[] {
    return [...this.rows.values()].flatMap((row): LeftRecord[] => {
      const { record, holder } = row;
      if (row.slice !== slice || ['done', 'failed'].includes(record.status)) return [];
      const [lateFact] = this.#factsOf(record);
      if (record.status === 'in-doubt' && lateFact === undefined) return [];
      return [
        {
          record: this.#shown(row),
          ...(this.#isOver(record, holder) ? {} : { sender: holder }),
          ...(lateFact && { lateFact }),
        },
      ];
    });
  }

  /** Nothing is sent or heard any more by who held a slice so. */
  end(holder: string): void {
    this.#over.add(holder);
    this.#hearing.delete(holder);
  }

  /** Nothing was heard of who held a slice so: nothing is sent any more, but answers to text calls may still be heard. */
  silence(holder: string): void {
    if (this.#over.has(holder)) return;
    this.#over.add(holder);
    this.#hearing.add(holder);
  }

  #isOver({ request }: JobRecord, holder: string): boolean {
    return this.#over.has(holder) && !(isTextRequest(request) && this.#hearing.has(holder));
  }

  /** Whether something was heard of a submission. */
  hasFact(submission: Pick<JobRecord, 'key' | 'submittedAt' | 'submittedBy'>): boolean {
    return this.#facts.has(nameOf(submission));
  }

  commit(request: Request): Committed {
    const { turn } = request;
    const { of, epochs } = turn.slices ?? noSlices;
    const lost = new Set<number>();
    const refused = new Set<string>();
    for (const [slice, epoch] of epochs)
      if (this.#without !== 'no-epoch' && this.epochOf(slice) !== epoch) lost.add(slice);
    for (const { row, basis, redo } of rowsOf(request)) {
      const { key } = row.record;
      if (lost.has(row.slice)) continue;
      if (!this.#mayWrite(row, basis)) {
        refused.add(key);
        continue;
      }
      this.rows.set(key, row);
      if (redo !== undefined && this.#without !== 'forgets-orders') this.redos.change(key, redo);
    }
    for (const attempt of turn.attempts)
      if (!refused.has(attempt.key) && !lost.has(of.get(attempt.key) ?? -1))
        this.#history.push(copied(attempt));
    for (const fact of turn.lateFacts ?? []) {
      const name = nameOf(fact);
      const known = this.#facts.get(name);
      // What is known of a task, or of an answer, stays known.
      if (known?.taskId === undefined && known?.answer === undefined) this.#facts.set(name, copied(fact));
    }
    return { refused, lost };
  }

  /** The rows of these keys, as they are now, and the late facts about them. */
  read(keys: Iterable<string>): {
    readonly rows: ReadonlyMap<string, Row>;
    readonly lateFacts: readonly LateFact[];
  } {
    const found = [...keys].flatMap((key) => this.rows.get(key) ?? []);
    return {
      rows: new Map(
        found.map((row) => {
          const { key } = row.record;
          return [key, { ...row, record: this.#shown(row), redo: this.redos.of(key) }];
        }),
      ),
      lateFacts: found.flatMap(({ record }) => this.#factsOf(record)),
    };
  }

  /** Doubts, and text calls that were taken over, of which something was heard: the slice of each, and the name of its submission. */
  heardDoubts(): readonly { readonly slice: number; readonly name: string }[] {
    return [...this.rows.values()].flatMap(({ record, slice }) =>
      (record.status === 'in-doubt' || record.status === 'pending') && this.#factsOf(record).length > 0
        ? [{ slice, name: nameOf(record) }]
        : [],
    );
  }

  attempts(key: string): readonly Attempt[] {
    return this.#history.filter((attempt) => attempt.key === key);
  }

  /** Who got a task, and whether another may yet: it is asked for with the others that left in that moment. */
  claims({ key, taskId, submittedAt = 0 }: JobRecord, now: number): TaskClaims {
    const keys = this.#history.flatMap((attempt) =>
      attempt.taskId === taskId && Math.abs(attempt.at - submittedAt) < burstMs ? [attempt.key] : [],
    );
    const mayGrow = [...this.rows.values()].some(
      ({ record }) =>
        record.status === 'submitting' &&
        record.key !== key &&
        !isTextRequest(record.request) &&
        Math.abs((record.submittedAt ?? 0) - submittedAt) < sameMomentMs,
    );
    return { keys, mayGrow: mayGrow && now - submittedAt < longestAnswerMs };
  }

  #mayWrite(row: Row, basis: string | undefined): boolean {
    const before = this.rows.get(row.record.key);
    if (before === undefined || this.#without === 'no-claim') return true;
    const { status, unheard } = row.record;
    if (
      status === 'submitting' &&
      unheard !== undefined &&
      this.#factsOf(row.record)[0]?.answer !== undefined
    )
      return false;
    if (before.slice === row.slice) return before.rev < row.rev || this.#without === 'no-epoch';
    return resting.has(before.record.status) && before.version === basis;
  }

  #factsOf(record: JobRecord): readonly LateFact[] {
    const { key, status, unheard = [], sender } = record;
    const calls = sender === undefined || this.#over.has(sender) ? unheard : unheard.slice(-1);
    const own = status === 'pending' ? [] : [nameOf(record)];
    const names = [...own, ...calls.map((name) => `${key} ${name.replace('/', ' ')}`)];
    const found = names.flatMap((name) => this.#facts.get(name) ?? []);
    return found
      .toSorted((a, b) => Number(b.answer !== undefined) - Number(a.answer !== undefined))
      .slice(0, 1);
  }

  /** Without a sender that is over, but for a doubt of which something was heard that is not in the record: that one has a sender. */
  #shown({ record, holder }: Row): JobRecord {
    const { sender: known, ...rest } = record;
    const isHeard = this.#factsOf(record).length > 0;
    const isTakenOver = record.status === 'in-doubt' || record.status === 'pending';
    const sender = known ?? (isHeard && isTakenOver ? holder : undefined);
    return sender !== undefined && (isHeard || !this.#isOver(record, sender)) ? { ...rest, sender } : rest;
  }
}

/** Names a submission. */
export const nameOf = ({
  key,
  submittedAt,
  submittedBy,
}: Pick<JobRecord, 'key' | 'submittedAt' | 'submittedBy'>): string => `${key} ${submittedAt} ${submittedBy}`;

/** A copy, as if it had been written and read again. */
const copied = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
