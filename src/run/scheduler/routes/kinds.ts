import { isTextKind, isTextRequest } from '../../../plan/job-request.ts';
import type { Slot } from '../../../plan/slot.ts';
import type { Route } from '../../events.ts';
import { counted, type RouteSignal } from '../../limits/route.ts';
import type { Job, Tally } from '../../machine/job.ts';
import type { SharedLimits } from '../../ports.ts';
import { clickOfSlot, kindOfRequest, namesOfJob, operationOf, withoutParticulars } from './kind-names.ts';

/**
 * A kind of request: what a service does or does not do as one. Each kind is refused, rests, is probed and closes by itself; rates
 * and limits that are known are those of its route.
 */

/** After this many equal refusals in a row of one kind, every further request would be the same error. */
export const refusalsInARow = 20;

/** After this many failures in a row, in which other kinds are served, a kind rests by itself, and one request at a time probes it. */
const troubleInARow = 5;

/** After this many tasks in a row that failed for a state of the account, each further one would. */
const accountReasons = 3;

/** How far answers that nobody can do a kind of request, to all of its jobs that wait, or to several, have to lie apart before it closes, ms. */
const noChannelMs = 60_000;

/** How long after its last served request a kind counts as serving, ms. */
const servingMs = 60_000;

/** Maximum of left jobs of a kind that are counted: each one once. */
export const mostCounted = 100_000;

/** Why a kind is closed for the rest of the run. */
export interface Closing {
  /** `route.refused` | `kind.unserved` | `service.not-offered` | `service.no-channel` | `service.quota` | `tasks.failing`. */
  readonly code: string;
  readonly message: string;
}

/** A job that was refused: it fails once others of its kind are served, and goes back to pending where its kind closes. */
export interface Refused {
  /** As it would have settled; absent: it is tried once more when nothing else is left to do. */
  readonly failed?: Job;
  /** An earlier run had put it back for such a refusal. */
  readonly wasPutBack: boolean;
}

/** What a kind is told beside a signal. */
interface NoteContext {
  /** Of the job. */
  readonly key: string;
  readonly now: number;
  /** Results in this run that show that other kinds are served. */
  readonly others: number;
  /** The wait before its next probe after so many failures, ms. */
  readonly restMs: (times: number) => number;
  /** `timeouts.task` and `retry.patience`, ms. */
  readonly taskMs: number;
  readonly patienceMs: number;
}

/** What became of one kind in this run. */
export class KindState {
  readonly name: string;
  readonly route: Route;
  /** Served at the same address, in an earlier run or to others. */
  wasServed: boolean;
  #tally: Tally = { served: 0, firsts: 0, firstsServed: 0 };
  #servedAt: number | undefined;
  /** Its failures in a row: how many, since when, and how many results others had by then. */
  #row:
    | { readonly times: number; readonly since: number; readonly others: number; readonly first: string }
    | undefined;
  /** Several jobs are in the row: the fault is not that of one. */
  #ofSeveral = false;
  #restsUntil: number | undefined;
  #words: string | undefined;
  #sameWords = 0;
  #quota = 0;
  #noChannelAt: number | undefined;
  /** Keys of the jobs in its row that were answered so. */
  readonly #withoutChannel = new Set<string>();
  #reason: string | undefined;
  #sameReasons = 0;
  #accountReasons = 0;
  closed: Closing | undefined;
  /** Why a worker left jobs of it though it is open: one of several workers may see too few of its refusals to close it. */
  leftFor: Closing | undefined;
  /** Since when it refuses a key that had worked, Unix ms; undefined: it does not. */
  keyRefusedAt: number | undefined;
  /** Key of the job that probes whether it is served again. */
  probe: string | undefined;
  /** Keys of its jobs that wait until it is served again, in the order in which they came. */
  readonly parked = new Set<string>();
  /** Its refused jobs on which there is no verdict yet, by their keys. */
  readonly refused = new Map<string, Refused>();
  /** Keys of the jobs that are left to a later run, as far as they are counted. */
  readonly #left = new Set<string>();

  constructor(name: string, route: Route, wasServed = false) {
    this.name = name;
    this.route = route;
    this.wasServed = wasServed;
  }

  get tally(): Tally {
    return this.#tally;
  }

  /** How many of its jobs are left to a later run; at most {@link mostCounted}. */
  get left(): number {
    return this.#left.size;
  }

  /** A job of it is left to a later run. Several cells may say so. */
  leave(key: string): void {
    if (this.#left.size < mostCounted) this.#left.add(key);
  }

  hasLeft(key: string): boolean {
    return this.#left.has(key);
  }

  /** It was served in this run. */
  get isServed(): boolean {
    return this.#servedAt !== undefined;
  }

  /** True while it serves: a refusal is then about the pace, not an outage. */
  isServing(now: number): boolean {
    if (this.#servedAt === undefined) return false;
    return (this.#row?.times ?? 0) < troubleInARow || now - this.#servedAt < servingMs;
  }

  /** Until when its jobs wait, Unix ms; undefined: it does not rest. In the past: one of them may probe it. */
  get restsUntil(): number | undefined {
    return this.#restsUntil;
  }

  /** Counts a result. @param isFirst its route had not deferred the job before */
  count(signal: RouteSignal, isFirst: boolean): void {
    this.#tally = counted(this.#tally, signal, isFirst);
  }

  /**
   * Notes a result.
   *
   * @returns why it is closed from now on; `kind-only`: others are served, so that this says nothing about its route; undefined: neither
   */
  note(signal: RouteSignal, context: NoteContext): Closing | 'kind-only' | undefined {
    if (signal.kind !== 'refused' && signal.kind !== 'quota') {
      this.#words = undefined;
      this.#sameWords = 0;
    }
    switch (signal.kind) {
      case 'served':
        this.#quota = 0;
        this.#noChannelAt = undefined;
        this.#withoutChannel.clear();
        this.#answers(context.now);
        return undefined;
      case 'refused':
        this.#answers(undefined);
        if (signal.about === 'not-offered' && !this.isServed && !this.wasServed)
          return {
            code: 'service.not-offered',
            message: `The service does not offer ${this.name}: ${signal.words ?? ''}`,
          };
        return signal.words === undefined ? undefined : this.#countWords(signal.words);
      case 'quota':
        this.#quota += 1;
        if (this.#quota < 2) return 'kind-only';
        return { code: 'service.quota', message: `No money is left for ${this.name}: ${signal.reason}` };
      case 'throttled':
      case 'trouble':
        return this.#fails(signal, context);
      default:
        return undefined;
    }
  }

  /** Tasks in a row that failed for the same reason. */
  get failedInARow(): number {
    return this.#sameReasons;
  }

  /**
   * Notes how one of its tasks ended.
   *
   * @param failed why, and whether that is a state of the account; undefined: it succeeded
   * @returns why it is closed from now on
   */
  taskEnded(failed?: { readonly reason: string; readonly isAccount: boolean }): Closing | undefined {
    const reason = failed && withoutParticulars(failed.reason);
    this.#sameReasons = reason === undefined ? 0 : reason === this.#reason ? this.#sameReasons + 1 : 1;
    this.#accountReasons = failed === undefined ? 0 : this.#accountReasons + Number(failed.isAccount);
    this.#reason = reason;
    const isClosing = this.#accountReasons >= accountReasons || this.#sameReasons >= refusalsInARow;
    if (failed === undefined || !isClosing) return undefined;
    const times = Math.max(this.#accountReasons, this.#sameReasons);
    return {
      code: 'tasks.failing',
      message: `${times} tasks of ${this.name} in a row were accepted and failed, and none succeeded: ${failed.reason}`,
    };
  }

  #answers(servedAt: number | undefined): void {
    this.#row = undefined;
    this.#restsUntil = undefined;
    this.probe = undefined;
    this.#servedAt = servedAt ?? this.#servedAt;
  }

  #countWords(words: string): Closing | undefined {
    const plain = withoutParticulars(words);
    this.#sameWords = plain === this.#words ? this.#sameWords + 1 : 1;
    this.#words = plain;
    if (this.#sameWords < refusalsInARow) return undefined;
    const message = `The service refused ${refusalsInARow} ${this.name} requests in a row with the same answer: ${words}`;
    return { code: 'route.refused', message };
  }

  /** No other job of it waits that may be answered otherwise. */
  get #isOfAll(): boolean {
    const asked = this.#withoutChannel;
    return asked.size >= troubleInARow || [...this.parked].every((key) => asked.has(key));
  }

  #fails(
    signal: Extract<RouteSignal, { readonly reason: string; kind: 'throttled' | 'trouble' }>,
    { key, now, others, restMs, taskMs, patienceMs }: NoteContext,
  ): Closing | 'kind-only' | undefined {
    const { times, since, others: before, first } = this.#row ?? { times: 0, since: now, others, first: key };
    this.#row = { times: times + 1, since, others: before, first };
    this.#ofSeveral = times > 0 && (this.#ofSeveral || key !== first);
    this.probe = undefined;
    const areServed = others > before && (this.#ofSeveral || !this.isServed);
    if (signal.about === 'no-channel' && !this.isServed && !this.wasServed && others > 0) {
      this.#noChannelAt ??= now;
      this.#withoutChannel.add(key);
      if (now - this.#noChannelAt >= noChannelMs && this.#isOfAll)
        return {
          code: 'service.no-channel',
          message: `Nobody behind the service can do ${this.name}: ${signal.reason}`,
        };
      this.#restsUntil = this.#noChannelAt + noChannelMs;
      return 'kind-only';
    }
    const isOwn = times + 1 >= troubleInARow && others - before >= troubleInARow;
    const isSoon = others > 0 && now - since < Math.min(servingMs, patienceMs);
    // Where nothing else is asked for, its refusals are those of its route.
    const isAlone = this.isServed ? times >= 2 && others - before >= 3 : others > before || isSoon;
    const isLast = this.isServed ? isAlone : isOwn;
    if ((areServed && now - since >= taskMs) || (isLast && now - since >= patienceMs))
      return {
        code: 'kind.unserved',
        message: `The service has served no ${this.name} for ${Math.round((now - since) / 60_000)} min, and others all the while. Its last answer: ${signal.reason}`,
      };
    if (!isOwn) return isAlone ? 'kind-only' : undefined;
    const asked = signal.kind === 'throttled' ? Math.min(patienceMs, signal.retryAfterMs ?? 0) : 0;
    this.#restsUntil = now + Math.max(asked, restMs(times + 2 - troubleInARow));
    return 'kind-only';
  }
}

/** A job, as far as its kind depends on it. */
type Kindred = Pick<Job, 'record'> & { readonly fresh?: Pick<NonNullable<Job['fresh']>, 'button'> };

/** All kinds of a run, by what its jobs asked for. */
export class Kinds {
  readonly #all = new Map<string, KindState>();
  readonly #servedBefore: ReadonlySet<string>;
  readonly #servedToOthers: NonNullable<SharedLimits['kinds']>;
  /** The kinds of each step and branch, and of each click, as far as its jobs had their turn. */
  readonly #byName = new Map<string, Set<KindState>>();
  /** When there is a verdict on the refused jobs, with which alone a worker is left, Unix ms; undefined: it has more to do. */
  judgesAt: number | undefined;
  readonly polls: KindState;
  readonly downloads: KindState;
  #served = 0;

  /** @param servedBefore ids of the kinds that earlier runs saw served at this address; `toOthers`: that others see, told of more here */
  constructor(servedBefore: readonly string[] = [], toOthers: SharedLimits['kinds'] = new Set<string>()) {
    this.#servedBefore = new Set(servedBefore);
    this.#servedToOthers = toOthers;
    this.polls = this.find('poll', 'poll');
    this.downloads = this.find('download', 'download');
  }

  all(): IterableIterator<KindState> {
    return this.#all.values();
  }

  get closed(): readonly KindState[] {
    return [...this.#all.values()].filter(({ closed }) => closed !== undefined);
  }

  /** This job waits for no kind any more. */
  forget(key: string): void {
    for (const { refused, parked } of this.#all.values()) {
      refused.delete(key);
      parked.delete(key);
    }
  }

  /** Ids of the kinds that were served at this address, in this run or before. */
  get servedIds(): readonly string[] {
    const now = [...this.#all].flatMap(([id, kind]) => (kind.isServed && isPaid(kind) ? [id] : []));
    return [...new Set([...this.#servedBefore, ...now])].toSorted();
  }

  /** The kind of the next paid request of a job, or of the one under way; undefined: that depends on a button that nobody has seen. */
  of({ record, fresh }: Kindred): KindState | undefined {
    const { request, modal, pressed } = record;
    if (modal !== undefined) return this.find('submit', 'dialogs');
    if (request.kind !== 'click')
      return this.find(isTextRequest(request) ? 'text' : 'submit', kindOfRequest(request));
    const button = fresh?.button ?? pressed;
    if (button !== undefined) return this.find('submit', operationOf(button.customId));
    return this.#named(namesOfJob(record)[0]);
  }

  /** The kind of what a slot asks for, or will; of a click, what such clicks were found to be. undefined: only a result says it. */
  ofSlot(slot: Slot): KindState | undefined {
    const { kind, job, asks } = slot;
    if (kind === 'click') return this.#named(clickOfSlot(slot));
    const fields = isTextKind(kind) ? (job?.request ?? asks)?.fields : {};
    return fields && this.find(isTextKind(kind) ? 'text' : 'submit', kindOfRequest({ kind, fields }));
  }

  /** Steps, branches and clicks that have asked for nothing but this kind. */
  namesOf(kind: KindState): readonly string[] {
    return [...this.#byName.keys()].filter((name) => this.#named(name) === kind);
  }

  /** The only kind that jobs of this name have asked for; undefined: none, or several. */
  #named(name = ''): KindState | undefined {
    const [kind, ...others] = this.#byName.get(name) ?? [];
    return others.length === 0 ? kind : undefined;
  }

  /** Steps of which something was asked for, and nothing of a kind that is closed. */
  get openSteps(): readonly string[] {
    const all = [...this.#byName].map(([name, kinds]) => ({
      step: name.split('/', 1)[0] ?? name,
      isClosed: [...kinds].some(({ closed }) => closed !== undefined),
    }));
    const closed = new Set(all.flatMap(({ step, isClosed }) => (isClosed ? [step] : [])));
    return [...new Set(all.map(({ step }) => step))].filter((step) => !closed.has(step));
  }

  /** A job's paid request leaves. */
  onSent(job: Kindred): void {
    const kind = job.record.modal === undefined ? this.of(job) : undefined;
    for (const name of namesOfJob(job.record)) if (kind !== undefined) this.isAskedFor(kind, name);
  }

  /** Jobs of this name have asked for this kind, here or at another worker. */
  isAskedFor(kind: KindState, name: string): void {
    const kinds = this.#byName.get(name);
    if (kinds !== undefined) kinds.add(kind);
    else if (this.#byName.size < mostNames) this.#byName.set(name, new Set([kind]));
  }

  /** Counts a result and notes it on its kind, see {@link KindState.note}. */
  note(
    kind: KindState,
    signal: RouteSignal,
    isFirst: boolean,
    context: Omit<NoteContext, 'others'>,
  ): Closing | 'kind-only' | undefined {
    kind.count(signal, isFirst);
    const id = `${kind.route}/${kind.name}`;
    if (signal.kind === 'served' && isPaid(kind)) {
      this.#served += 1;
      this.#servedToOthers.add(id);
    }
    kind.wasServed ||= this.#servedToOthers.has(id);
    return kind.note(signal, { ...context, others: isPaid(kind) ? this.#served - kind.tally.served : 0 });
  }

  /** The kind of this name; beyond the bound, that of all others of its route. */
  find(route: Route, name: string): KindState {
    const id = `${route}/${name}`;
    // A matrix may have any number of models. Those beyond the bound are one kind, of which no answer says that none is served.
    const isKept = this.#all.has(id) || this.#all.size < mostKinds;
    const kept = isKept ? id : `${route}/`;
    const known = this.#all.get(kept);
    if (known !== undefined) return known;
    const wasServed = !isKept || this.#servedBefore.has(id);
    const kind = new KindState(isKept ? name : 'other models', route, wasServed);
    this.#all.set(kept, kind);
    return kind;
  }
}

/** Maximum of kinds, and of steps and branches, that a run keeps apart. The kinds beyond it are one for each route. */
const mostKinds = 1000;
const mostNames = 10_000;

const isPaid = ({ route }: KindState): boolean => route === 'submit' || route === 'text';
