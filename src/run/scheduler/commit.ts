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
import type { CellBatch, Lease } from '../ports.ts';

/** An input of the scheduler. */
export type RunInput =
  /** Jobs that an earlier run left unfinished. */
  | { readonly type: 'adopt'; readonly records: readonly JobRecord[] }
  /** Cells of the plan, in order; `last` when there are no more. */
  | ({ readonly type: 'cells' } & CellBatch)
  /** The result of an effect for a slice, which may have been lost meanwhile. */
  | { readonly type: 'result'; readonly effect: Effect; readonly input: RunInput }
  /** Other workers have taken over a part of a durable commit. */
  | { readonly type: 'refused'; readonly commit: RunCommit; readonly others: TakenByOthers }
  /** Another worker has taken a slice over. */
  | { readonly type: 'lost'; readonly lease: Lease }
  /** Slices of dead workers wait to be taken over, or no longer do. */
  | { readonly type: 'orphans'; readonly areThere: boolean }
  /** The awaited jobs of other workers were read again, with the late facts about them. */
  | { readonly type: 'peer-results'; readonly lateFacts: readonly LateFact[] }
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
      /** The same for the other jobs in doubt. Absent: the job is to be submitted again. */
      readonly beside?: readonly (readonly [key: string, result: ServiceResult<readonly Task[]>])[];
    } & Telling)
  | ({ readonly type: 'seed'; readonly key: string; readonly result: ServiceResult<string> } & Telling)
  | { readonly type: 'saved'; readonly key: string; readonly result: SavedResult }
  | { readonly type: 'cut'; readonly key: string; readonly result: CutResult }
  | ({ readonly type: 'asked'; readonly key: string; readonly result: CallResult } & Telling)
  /** The store of results is unavailable, with the reason for the user, or, without a reason, is back. */
  | { readonly type: 'away'; readonly why: string | undefined }
  /** The shared limits allow more than before. */
  | { readonly type: 'refilled' }
  /** Time has passed. */
  | { readonly type: 'tick' }
  /** Begin nothing new, settle the jobs in flight, then end with `end`. */
  | { readonly type: 'drain'; readonly end: RunEnd }
  /** Send nothing more at all. The intents of these effects are not durable, so nothing was sent. */
  | { readonly type: 'halt'; readonly end: RunEnd; readonly unsent: readonly Effect[] };

/** The route of each kind of request; undefined for local work. */
export const routeOf = {
  submit: 'submit',
  modal: 'submit',
  fetch: 'poll',
  list: 'poll',
  seed: 'poll',
  search: 'poll',
  save: 'download',
  // A mask is made locally, but takes as long as a download and must not block the polls.
  mask: 'download',
  cut: undefined,
  ask: 'text',
} as const satisfies Record<Send['kind'], Route | undefined>;

/** A request to run once its commit is durable. */
export interface Effect {
  readonly job: Job;
  readonly send: Send;
}

/** Whether a request costs money: its result cannot be requested again. */
export const isPaid = ({ send: { kind } }: Pick<Effect, 'send'>): boolean =>
  kind === 'submit' || kind === 'modal' || kind === 'ask';

/** The decisions since the last commit: first `records` and `attempts` become durable in one transaction, then `effects` run. */
export interface RunCommit {
  readonly records: readonly JobRecord[];
  readonly attempts: readonly Attempt[];
  readonly effects: readonly Effect[];
  readonly events: readonly RunEvent[];
  /** Leases for which the records were decided, by job key. Absent: a run on one machine. */
  readonly leases?: ReadonlyMap<string, Lease>;
  /** Facts received for slices that were lost. Absent: none. */
  readonly lateFacts?: readonly LateFact[];
  /** Progress of redo orders with these records, by job key. Absent: unchanged. */
  readonly redos?: ReadonlyMap<string, RedoChange>;
}

/** Whether a request is for this job alone, and no read of a task past its deadline: nothing durable depends on such a read. */
export const isOfOneJob = ({ send }: Pick<Effect, 'send'>): boolean =>
  send.kind !== 'list' && !(send.kind === 'fetch' && send.why === 'overdue');

/** Whether both are the same slice under the same epoch. */
export const isSameLease = (one: Lease | undefined, other: Lease): boolean =>
  one?.slice === other.slice && one.epoch === other.epoch;

/** The part of a commit that other workers have taken over. */
export interface TakenByOthers {
  /** Keys that another slice wrote first. */
  readonly refused: ReadonlySet<string>;
  /** Slices that were taken over. */
  readonly lost: readonly Lease[];
  /** Whether the record of a job of this slice is written all the same: its slice was lost while the commit was written. */
  readonly isWritten: (key: string, slice: number) => boolean;
}

/**
 * Returns the part of a commit that no other worker has taken over. A poll of several tasks is sent anyway, because some of them may still
 * be this worker's. Events of closed cells that depend on unwritten records are removed.
 */
export function withoutOthers(
  commit: RunCommit,
  { refused, lost }: Pick<TakenByOthers, 'refused' | 'lost'>,
): RunCommit {
  const { leases, records, attempts, effects, events, redos } = commit;
  const isMine = (key: string, lease = leases?.get(key)): boolean =>
    !refused.has(key) && !lost.some((slice) => isSameLease(lease, slice));
  const isSaid = (event: RunEvent): boolean =>
    event.type === 'slice:end'
      ? !lost.some((slice) => isSameLease(event, slice))
      : !('key' in event) || isMine(event.key);
  const isWhole =
    lost.length === 0 && records.every(({ key, status }) => !refused.has(key) || !isSettled(status));
  return {
    ...commit,
    records: records.filter(({ key }) => isMine(key)),
    attempts: attempts.filter(({ key }) => isMine(key)),
    ...(redos !== undefined && { redos: new Map([...redos].filter(([key]) => isMine(key))) }),
    effects: effects.filter(
      (effect) => !isOfOneJob(effect) || isMine(effect.job.record.key, effect.job.lease),
    ),
    events: events.filter(isSaid).map((event) => (isWhole ? event : withoutClosing(event))),
  };
}

/** A slice that is not closed after all is given back. */
const withoutClosing = (event: RunEvent): RunEvent =>
  event.type === 'slice:end' && event.how === 'closed' ? { ...event, how: 'waits' } : event;

/** Collects decisions until they are taken as a commit. If a job changes twice before that, the last record counts. */
export class Outbox {
  readonly #accepted: readonly string[];
  #records = new Map<string, JobRecord>();
  /** Records of the commit that is being written. */
  #committing: Map<string, JobRecord> | undefined;
  #committingLeases: ReadonlyMap<string, Lease> = new Map();
  #attempts: Attempt[] = [];
  #effects: Effect[] = [];
  #events: RunEvent[] = [];
  #leases = new Map<string, Lease>();
  #lateFacts: LateFact[] = [];
  #redos = new Map<string, RedoChange>();
  #committingRedos = new Map<string, RedoChange>();

  /** @param accepted error codes of failures that the pipeline accepts */
  constructor(accepted: readonly string[] = []) {
    this.#accepted = accepted;
  }

  /** Returns the decided record of a job that is not yet durable. */
  record(key: string): JobRecord | undefined {
    return this.#records.get(key) ?? this.#committing?.get(key);
  }

  /** @param lease lease for which the record was decided */
  write(record: JobRecord, lease?: Lease): void {
    this.#records.set(record.key, record);
    if (lease !== undefined) this.#leases.set(record.key, lease);
  }

  /** Notes the progress of a redo order, which becomes durable with the job's last written record. */
  noteRedo(key: string, redo: RedoChange): void {
    this.#redos.set(key, redo);
  }

  /** Returns the decided progress of a redo order that is not yet durable. */
  redo(key: string): RedoChange | undefined {
    return this.#redos.get(key) ?? this.#committingRedos.get(key);
  }

  /** Saves a fact received for a slice that was lost. */
  addLateFact(fact: LateFact): void {
    this.#lateFacts.push(fact);
  }

  /** Drops the decisions about a job for this slice, which belong to another worker now. @returns the effects not yet taken */
  forget(key: string, slice: Lease): readonly Effect[] {
    const isOf = ({ job: { record, lease }, send }: Effect): boolean =>
      send.kind !== 'list' && record.key === key && isSameLease(lease, slice);
    const effects = this.#effects.filter(isOf);
    this.#effects = this.#effects.filter((effect) => !isOf(effect));
    if (isSameLease(this.#committingLeases.get(key), slice)) {
      this.#committing?.delete(key);
      this.#committingRedos.delete(key);
    }
    if (!isSameLease(this.#leases.get(key), slice)) return effects;
    this.#records.delete(key);
    this.#leases.delete(key);
    this.#redos.delete(key);
    this.#attempts = this.#attempts.filter((attempt) => attempt.key !== key);
    this.#events = this.#events.filter((event) => !('key' in event) || event.key !== key);
    return effects;
  }

  /** Returns the lease for which this job's record was decided, while it is not durable. */
  leaseOf(key: string): Lease | undefined {
    return (
      this.#leases.get(key) ?? (this.#committing?.has(key) ? this.#committingLeases.get(key) : undefined)
    );
  }

  /** Drops the event that reports the end of this slice. */
  forgetEnd(slice: Lease): void {
    this.#events = this.#events.filter((event) => event.type !== 'slice:end' || !isSameLease(event, slice));
  }

  /** Drops all events that report closed slices: their cells are to be resolved once more. */
  reopen(): void {
    this.#events = this.#events.map(withoutClosing);
  }

  /** Returns the keys of the jobs that were decided for this slice and are not durable. */
  keysOf(slice: Lease): readonly string[] {
    const decided = [...this.#committingLeases, ...this.#leases].flatMap(([key, lease]) =>
      isSameLease(lease, slice) ? [key] : [],
    );
    // A requeued commit may stand behind later decisions for the same slice, which was taken again.
    const toSend = this.#effects.flatMap(({ job }) =>
      isSameLease(job.lease, slice) ? [job.record.key] : [],
    );
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
      ...(status === 'failed' && this.#accepted.includes(error?.code ?? '') && { accepted: true }),
    });
  }

  /** True where there are no decisions since the last commit was taken, and that commit is durable. */
  get isEmpty(): boolean {
    return this.#committing === undefined && !this.hasDecided;
  }

  /** True where there are decisions since the last commit was taken. */
  get hasDecided(): boolean {
    const parts = [this.#attempts, this.#effects, this.#events, this.#lateFacts];
    return this.#records.size > 0 || parts.some(({ length }) => length > 0);
  }

  /** Takes the decisions as a commit. The next one may be taken once this one is durable or requeued. */
  take(): RunCommit {
    if (this.#committing !== undefined) throw new Error('Internal error: two commits at once.');
    const commit: RunCommit = {
      records: [...this.#records.values()],
      attempts: this.#attempts,
      effects: this.#effects,
      events: this.#events,
      ...(this.#leases.size > 0 && { leases: this.#leases }),
      ...(this.#lateFacts.length > 0 && { lateFacts: this.#lateFacts }),
      ...(this.#redos.size > 0 && { redos: new Map(this.#redos) }),
    };
    this.#committing = this.#records;
    this.#committingLeases = this.#leases;
    this.#committingRedos = this.#redos;
    this.#records = new Map();
    this.#attempts = [];
    this.#effects = [];
    this.#events = [];
    this.#leases = new Map();
    this.#lateFacts = [];
    this.#redos = new Map();
    return commit;
  }

  /** Reports that the taken commit is durable: the store shows its records from now on. */
  onDurable(): void {
    this.#committing = undefined;
    this.#committingLeases = new Map();
    this.#committingRedos = new Map();
  }

  /**
   * Puts a commit that is not durable, or the rest of it, before the decisions made since it was taken. If a job changed since, the later
   * record counts.
   */
  requeue({ records, attempts, effects, events, leases, lateFacts = [], redos }: RunCommit): void {
    const since = this.#records;
    this.onDurable();
    this.#records = new Map(records.map((record) => [record.key, record]));
    for (const [key, record] of since) this.#records.set(key, record);
    this.#leases = new Map([...(leases ?? []), ...this.#leases]);
    this.#redos = new Map([...(redos ?? []), ...this.#redos]);
    this.#lateFacts = [...lateFacts, ...this.#lateFacts];
    this.#attempts = [...attempts, ...this.#attempts];
    this.#effects = [...effects, ...this.#effects];
    this.#events = [...events, ...this.#events];
  }
}
