import type { CutResult, SaveFailure } from '../../artifacts/writer.ts';
import { type Attempt, isSettled, type JobRecord, knownCost } from '../../plan/job.ts';
import type { SubmitResult, Task } from '../../service/image-service.ts';
import type { ServiceResult, Telling } from '../../service/result.ts';
import type { RedoChange } from '../../state/redo-order.ts';
import type { LateFact } from '../../state/store.ts';
import type { Route, RunEnd, RunEvent } from '../events.ts';
import type {
  CallResult,
  FetchReason,
  Job,
  PollTarget,
  SavedResult,
  SeenTask,
  Send,
} from '../machine/job.ts';
import { unmatchedCode } from '../machine/retry/fail-reason.ts';
import type { CellBatch, Hold } from '../ports.ts';

/** An input of a run. */
export type RunInput =
  /** Jobs that an earlier run left unfinished. */
  | { readonly type: 'adopt'; readonly records: readonly JobRecord[] }
  /** Cells of the plan, in order; `last` when there are no more. */
  | ({ readonly type: 'cells' } & CellBatch)
  /** The result of an effect for a slice, which may have been lost meanwhile. */
  | { readonly type: 'result'; readonly effect: Effect; readonly input: RunInput }
  /** Of a commit that is durable, others hold a part by now. */
  | { readonly type: 'refused'; readonly commit: RunCommit; readonly others: HeldByOthers }
  /** Somebody else has taken a slice over. */
  | { readonly type: 'lost'; readonly hold: Hold }
  /** Whether slices of dead workers wait to be taken over. */
  | { readonly type: 'orphans'; readonly areThere: boolean }
  /** The jobs of others that cells wait for were read again, and what was heard of them late. */
  | { readonly type: 'looked'; readonly heard: readonly LateFact[] }
  | ({
      readonly type: 'submitted';
      readonly key: string;
      readonly result: ServiceResult<SubmitResult>;
    } & Telling)
  | { readonly type: 'unread'; readonly key: string; readonly error: SaveFailure }
  | { readonly type: 'masked'; readonly key: string; readonly error?: SaveFailure }
  | ({
      readonly type: 'fetched';
      readonly key: string;
      readonly why: FetchReason;
      readonly result: ServiceResult<SeenTask>;
    } & Telling)
  | ({
      readonly type: 'listed';
      /** Key of the first job. */
      readonly key: string;
      readonly targets: readonly PollTarget[];
      readonly result: ServiceResult<readonly SeenTask[]>;
    } & Telling)
  | ({
      readonly type: 'searched';
      readonly key: string;
      /** Tasks that the job's submissions may have made, the one to adopt first. */
      readonly result: ServiceResult<readonly Task[]>;
      /** The same of the other jobs in doubt. Absent: the job is to be submitted again. */
      readonly beside?: readonly (readonly [key: string, result: ServiceResult<readonly Task[]>])[];
    } & Telling)
  | { readonly type: 'saved'; readonly key: string; readonly result: SavedResult }
  | { readonly type: 'cut'; readonly key: string; readonly result: CutResult }
  | ({ readonly type: 'asked'; readonly key: string; readonly result: CallResult } & Telling)
  /** The store of results is away, as the user is told, or, without words, is back. */
  | { readonly type: 'away'; readonly why: string | undefined }
  /** The shared limits allow more than before. */
  | { readonly type: 'refilled' }
  /** Time has passed. */
  | { readonly type: 'tick' }
  /** Open nothing new, settle the jobs in flight, then end with `end`. */
  | { readonly type: 'drain'; readonly end: RunEnd }
  /** Send nothing more at all. The intents of these effects are not durable, so nothing was sent. */
  | { readonly type: 'halt'; readonly end: RunEnd; readonly unsent: readonly Effect[] };

/** The route of each kind of request; none for what leaves no request to anybody. */
export const routeOf = {
  submit: 'submit',
  modal: 'submit',
  fetch: 'poll',
  list: 'poll',
  search: 'poll',
  save: 'download',
  // A mask is made locally, but takes as long as a download, and must not block the polls.
  mask: 'download',
  cut: undefined,
  ask: 'text',
} as const satisfies Record<Send['kind'], Route | undefined>;

/** A request to carry out once its commit is durable. */
export interface Effect {
  readonly job: Job;
  readonly send: Send;
}

/** True for a request that costs money: its result cannot be requested again. */
export const isPaid = ({ send: { kind } }: Pick<Effect, 'send'>): boolean =>
  kind === 'submit' || kind === 'modal' || kind === 'ask';

/** The decisions since the last commit: first `records` and `attempts` become durable as one, then `effects` are carried out. */
export interface RunCommit {
  readonly records: readonly JobRecord[];
  readonly attempts: readonly Attempt[];
  readonly effects: readonly Effect[];
  readonly events: readonly RunEvent[];
  /** The slices for which the records were decided, by their keys. Absent: a run on one machine. */
  readonly holds?: ReadonlyMap<string, Hold>;
  /** What was heard for slices that were lost. Absent: nothing. */
  readonly heard?: readonly LateFact[];
  /** How far the jobs of open orders are by these records, by key. Absent: as before. */
  readonly redos?: ReadonlyMap<string, RedoChange>;
}

/** True for a request that is this job's alone, and for no task past its deadline: nothing durable depends on that. */
export const isOfOneJob = ({ send }: Pick<Effect, 'send'>): boolean =>
  send.kind !== 'list' && !(send.kind === 'fetch' && send.why === 'overdue');

/** True for the same slice under the same epoch. */
export const isSameHold = (one: Hold | undefined, other: Hold): boolean =>
  one?.slice === other.slice && one.epoch === other.epoch;

/** What others hold by now of a commit. */
export interface HeldByOthers {
  /** Keys that another slice wrote first. */
  readonly refused: ReadonlySet<string>;
  /** Slices that were taken over. */
  readonly lost: readonly Hold[];
}

/**
 * The part of a commit that others do not hold. A poll of several tasks leaves all the same: some of them may be held here. Nothing is
 * said to be closed that rests on what was not written.
 */
export function withoutOthers(commit: RunCommit, { refused, lost }: HeldByOthers): RunCommit {
  const { holds, records, attempts, effects, events, redos } = commit;
  const isMine = (key: string, hold = holds?.get(key)): boolean =>
    !refused.has(key) && !lost.some((slice) => isSameHold(hold, slice));
  const isSaid = (event: RunEvent): boolean =>
    event.type === 'slice:end'
      ? !lost.some((slice) => isSameHold(event, slice))
      : !('key' in event) || isMine(event.key);
  const isWhole =
    lost.length === 0 && records.every(({ key, status }) => !refused.has(key) || !isSettled(status));
  return {
    ...commit,
    records: records.filter(({ key }) => isMine(key)),
    attempts: attempts.filter(({ key }) => isMine(key)),
    ...(redos !== undefined && { redos: new Map([...redos].filter(([key]) => isMine(key))) }),
    effects: effects.filter(
      (effect) => !isOfOneJob(effect) || isMine(effect.job.record.key, effect.job.hold),
    ),
    events: events.filter(isSaid).map((event) => (isWhole ? event : withoutClosing(event))),
  };
}

/** A slice that is not closed after all is given back. */
const withoutClosing = (event: RunEvent): RunEvent =>
  event.type === 'slice:end' && event.how === 'closed' ? { ...event, how: 'waits' } : event;

/** Gathers decisions until they are taken as a commit. If a job changes twice before that, the last record counts. */
export class Outbox {
  #records = new Map<string, JobRecord>();
  /** Records of the commit that is being made durable. */
  #committing: Map<string, JobRecord> | undefined;
  #committingHolds: ReadonlyMap<string, Hold> = new Map();
  #attempts: Attempt[] = [];
  #effects: Effect[] = [];
  #events: RunEvent[] = [];
  #holds = new Map<string, Hold>();
  #heard: LateFact[] = [];
  #redos = new Map<string, RedoChange>();
  #committingRedos = new Map<string, RedoChange>();

  /** The record of a job that is decided and not yet durable. */
  record(key: string): JobRecord | undefined {
    return this.#records.get(key) ?? this.#committing?.get(key);
  }

  /** @param hold the slice for which the record was decided */
  write(record: JobRecord, hold?: Hold): void {
    this.#records.set(record.key, record);
    if (hold !== undefined) this.#holds.set(record.key, hold);
  }

  /** The job of an open order is so far, once its record is durable that was written last. */
  noteRedo(key: string, redo: RedoChange): void {
    this.#redos.set(key, redo);
  }

  /** How far the job of an open order is, where that is decided and not yet durable. */
  redo(key: string): RedoChange | undefined {
    return this.#redos.get(key) ?? this.#committingRedos.get(key);
  }

  /** Keeps what was heard for a slice that was lost. */
  hear(fact: LateFact): void {
    this.#heard.push(fact);
  }

  /** Decisions about a job for this slice belong to another worker by now. @returns the effects that were not handed over yet */
  forget(key: string, slice: Hold): readonly Effect[] {
    const isOf = ({ job: { record, hold }, send }: Effect): boolean =>
      send.kind !== 'list' && record.key === key && isSameHold(hold, slice);
    const effects = this.#effects.filter(isOf);
    this.#effects = this.#effects.filter((effect) => !isOf(effect));
    if (isSameHold(this.#committingHolds.get(key), slice)) {
      this.#committing?.delete(key);
      this.#committingRedos.delete(key);
    }
    if (!isSameHold(this.#holds.get(key), slice)) return effects;
    this.#records.delete(key);
    this.#holds.delete(key);
    this.#redos.delete(key);
    this.#attempts = this.#attempts.filter((attempt) => attempt.key !== key);
    this.#events = this.#events.filter((event) => !('key' in event) || event.key !== key);
    return effects;
  }

  /** The slice for which the record of this job was decided, while that is not durable. */
  holdOf(key: string): Hold | undefined {
    return this.#holds.get(key) ?? (this.#committing?.has(key) ? this.#committingHolds.get(key) : undefined);
  }

  /** The end of this slice is not said any more. */
  forgetEnd(slice: Hold): void {
    this.#events = this.#events.filter((event) => event.type !== 'slice:end' || !isSameHold(event, slice));
  }

  /** No slice is said to be closed: its cells are to be resolved once more. */
  reopen(): void {
    this.#events = this.#events.map(withoutClosing);
  }

  /** Keys of the jobs that were decided for this slice and are not durable. */
  keysOf(slice: Hold): readonly string[] {
    const decided = [...this.#committingHolds, ...this.#holds].flatMap(([key, hold]) =>
      isSameHold(hold, slice) ? [key] : [],
    );
    // A commit that comes back may stand behind what was decided since for the same slice, held anew.
    const toSend = this.#effects.flatMap(({ job }) => (isSameHold(job.hold, slice) ? [job.record.key] : []));
    return [...decided, ...toSend];
  }

  attempt(attempt: Attempt): void {
    this.#attempts.push(attempt);
  }

  send(effect: Effect): void {
    this.#effects.push(effect);
  }

  emit(event: RunEvent): void {
    this.#events.push(event);
  }

  /** Emits the new status of a job. */
  emitStatus(before: JobRecord | undefined, record: JobRecord): void {
    const { key, status, origin, taskId, error, usage } = record;
    const cost = knownCost(record);
    this.emit({
      type: 'job:status',
      key,
      step: origin.step,
      branch: origin.branch,
      cell: origin.cell,
      from: before?.status,
      to: status,
      ...(taskId === undefined ? {} : { taskId }),
      ...(error === undefined ? {} : { error }),
      ...(cost === undefined ? {} : { cost }),
      ...(usage === undefined ? {} : { usage }),
      ...(status === 'submitting' && before?.error?.code === unmatchedCode && { timedOut: true }),
    });
  }

  /** True where nothing was decided since the last commit was taken, and that one is durable. */
  get isEmpty(): boolean {
    return this.#committing === undefined && !this.hasDecided;
  }

  /** True where something was decided since the last commit was taken. */
  get hasDecided(): boolean {
    const parts = [this.#attempts, this.#effects, this.#events, this.#heard];
    return this.#records.size > 0 || parts.some(({ length }) => length > 0);
  }

  /** Hands over the decisions. One commit at a time: the next one is taken once this is durable, or was requeued. */
  take(): RunCommit {
    if (this.#committing !== undefined) throw new Error('Internal error: two commits at once.');
    const commit: RunCommit = {
      records: [...this.#records.values()],
      attempts: this.#attempts,
      effects: this.#effects,
      events: this.#events,
      ...(this.#holds.size > 0 && { holds: this.#holds }),
      ...(this.#heard.length > 0 && { heard: this.#heard }),
      ...(this.#redos.size > 0 && { redos: new Map(this.#redos) }),
    };
    this.#committing = this.#records;
    this.#committingHolds = this.#holds;
    this.#committingRedos = this.#redos;
    this.#records = new Map();
    this.#attempts = [];
    this.#effects = [];
    this.#events = [];
    this.#holds = new Map();
    this.#heard = [];
    this.#redos = new Map();
    return commit;
  }

  /** The commit that was taken is durable: the store shows its records from now on. */
  onDurable(): void {
    this.#committing = undefined;
    this.#committingHolds = new Map();
    this.#committingRedos = new Map();
  }

  /**
   * Puts a commit that is not durable, or the rest of it, before the decisions made since it was taken. If a job changed since, the
   * later record counts.
   */
  requeue({ records, attempts, effects, events, holds, heard = [], redos }: RunCommit): void {
    const since = this.#records;
    this.onDurable();
    this.#records = new Map(records.map((record) => [record.key, record]));
    for (const [key, record] of since) this.#records.set(key, record);
    this.#holds = new Map([...(holds ?? []), ...this.#holds]);
    this.#redos = new Map([...(redos ?? []), ...this.#redos]);
    this.#heard = [...heard, ...this.#heard];
    this.#attempts = [...attempts, ...this.#attempts];
    this.#effects = [...effects, ...this.#effects];
    this.#events = [...events, ...this.#events];
  }
}
