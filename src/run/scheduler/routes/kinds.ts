import type { EndCode } from '../../../pipeline/diagnostics/run-codes.ts';
import { isPress, isTextKind } from '../../../pipeline/kinds.ts';
import type { Slot } from '../../../plan/slot.ts';
import type { Route } from '../../events.ts';
import type { Job, Tally } from '../../machine/job.ts';
import type { SharedLimits } from '../../ports.ts';
import { clickOfSlot, kindOfRequest, namesOfJob, operationOf, withoutParticulars } from './kind-names.ts';
import type { FailedSignal, RouteSignal } from './outcome.ts';

/**
 * A kind of request: what a service does or does not do as one. Each kind is refused, rests, is probed and closes by itself; rates
 * and limits that are known are those of its route.
 */

/** After this many equal refusals in a row of one kind, every further request would be the same error. */
export const refusalsInARow = 20;

/** After this many failures in a row, in which as many of other kinds are served, a kind rests by itself, and one request at a time probes it. */
const troubleInARow = 5;

/** After this many tasks in a row that failed for a state of the account, each further one would. */
const accountReasons = 3;

/** How far answers that nobody can do a kind of request, to all of its jobs that wait, or five, have to lie apart before it closes, ms. */
const noChannelMs = 60_000;

/** For so long after its first failure, a kind that was never served counts as refused alone once anything else was served, ms. */
const servingMs = 60_000;

/** Maximum of left jobs of a kind that are counted: each one once. */
export const maxCounted = 100_000;

/** The counts of a kind of which nothing is known. */
export const noTally: Tally = { served: 0, firsts: 0, firstsServed: 0 };

/** Why a kind is closed for the rest of the run. */
export interface Closing {
  readonly code: EndCode;
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
  /** Its route had not deferred the job before. */
  readonly isFirst: boolean;
  readonly now: number;
  /** Results in this run that show that other kinds are served. */
  readonly others: number;
  /** True where a job of it waits that is none of these. */
  readonly areMoreWaiting: (asked: ReadonlySet<string>) => boolean;
  /** The wait before its next probe after so many failures, ms. */
  readonly restMs: (times: number) => number;
  /** `timeouts.task` and `retry.patience`, ms. */
  readonly taskMs: number;
  readonly patienceMs: number;
}

/** The failures of a kind in a row: when they began, and how many results others had by then. */
interface Row {
  readonly since: number;
  readonly others: number;
  times: number;
  /** Keys of the jobs that met them, at most {@link troubleInARow}. */
  readonly keys: Set<string>;
  /** When the first one was that nobody can do it. */
  noChannelAt?: number;
}

/** Counts the same words in a row, whatever differs in them from one request to the next. */
class SameWords {
  #words: string | undefined;
  times = 0;

  /** @param words undefined: something else came. @returns how often they came in a row */
  note(words?: string): number {
    const plain = words && withoutParticulars(words);
    this.times = plain === undefined ? 0 : plain === this.#words ? this.times + 1 : 1;
    this.#words = plain;
    return this.times;
  }
}

/** What became of one kind in this run. */
export class KindState {
  readonly name: string;
  readonly route: Route;
  /** Served at the same address, in an earlier run or to others. */
  wasServed: boolean;
  tally: Tally = noTally;
  #row: Row | undefined;
  /** Until when its jobs wait, Unix ms; in the past: one may probe it. undefined: it does not rest, as no text does: their lane rests. */
  restsUntil: number | undefined;
  /** Its last result is a refusal, and others are served: it says nothing of its route, and is no try of its job if nothing was made. */
  isRefusedAlone = false;
  readonly #words = new SameWords();
  #quota = 0;
  readonly #reasons = new SameWords();
  #accountReasons = 0;
  /** Ids of the tasks that failed last: one whose slice is taken in turn is reported each time. */
  #failed: readonly string[] = [];
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
  /** Keys of the jobs that are left to a later run, at most {@link maxCounted}. */
  readonly left = new Set<string>();

  constructor(name: string, route: Route, wasServed = false) {
    this.name = name;
    this.route = route;
    this.wasServed = wasServed;
  }

  /** A job of it is left to a later run. Several cells may say so. */
  leave(key: string): void {
    if (this.left.size < maxCounted) this.left.add(key);
  }

  /** It was served in this run. */
  get isServed(): boolean {
    return this.tally.served > 0;
  }

  /** Counts and notes a result. @returns why it is closed from now on */
  note(signal: RouteSignal, context: NoteContext): Closing | undefined {
    this.isRefusedAlone = false;
    const isServed = signal.kind === 'served';
    const { served, firsts, firstsServed } = this.tally;
    this.tally = {
      served: served + Number(isServed),
      firsts: firsts + Number(context.isFirst),
      firstsServed: firstsServed + Number(isServed && context.isFirst),
    };
    if (signal.kind !== 'refused' && signal.kind !== 'quota') this.#words.note();
    switch (signal.kind) {
      case 'served':
        this.#quota = 0;
        this.#answers();
        return undefined;
      case 'refused':
        this.#answers();
        return this.#refuses(signal);
      case 'quota':
        this.#quota += 1;
        this.isRefusedAlone = true;
        if (this.#quota < 2) return undefined;
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
    return this.#reasons.times;
  }

  /**
   * Notes how one of its tasks ended.
   *
   * @param reason why it failed, which may be a state of the account; undefined: it succeeded
   * @returns why it is closed from now on
   */
  taskEnded(id: string, reason?: string, isAccount = false): Closing | undefined {
    if (reason !== undefined && this.#failed.includes(id)) return undefined;
    this.#failed = reason === undefined ? [] : [id, ...this.#failed].slice(0, refusalsInARow);
    const same = this.#reasons.note(reason);
    this.#accountReasons = reason === undefined ? 0 : this.#accountReasons + Number(isAccount);
    if (reason === undefined || (this.#accountReasons < accountReasons && same < refusalsInARow))
      return undefined;
    const times = Math.max(this.#accountReasons, same);
    return {
      code: 'tasks.failing',
      message: `${times} tasks of ${this.name} in a row were accepted and failed, and none succeeded: ${reason}`,
    };
  }

  #answers(): void {
    this.#row = undefined;
    this.restsUntil = undefined;
    this.probe = undefined;
  }

  #refuses({ words, about }: Extract<RouteSignal, { kind: 'refused' }>): Closing | undefined {
    if (about === 'not-offered' && !this.isServed && !this.wasServed)
      return {
        code: 'service.not-offered',
        message: `The service does not offer ${this.name}: ${words ?? ''}`,
      };
    if (words === undefined || this.#words.note(words) < refusalsInARow) return undefined;
    const message = `The service refused ${refusalsInARow} ${this.name} requests in a row with the same answer: ${words}`;
    return { code: 'route.refused', message };
  }

  #fails(
    { about, reason, retryAfterMs = 0 }: FailedSignal,
    { key, now, others, areMoreWaiting, restMs, taskMs, patienceMs }: NoteContext,
  ): Closing | undefined {
    this.#row ??= { since: now, others, times: 0, keys: new Set<string>() };
    const row = this.#row;
    row.times += 1;
    const hasNoChannel = about === 'no-channel' && !this.isServed && !this.wasServed && others > 0;
    // Jobs that failed otherwise say nothing of channels.
    if (hasNoChannel && row.noChannelAt === undefined) row.keys.clear();
    const isCounted = hasNoChannel || row.noChannelAt === undefined;
    if (isCounted && row.keys.size < troubleInARow) row.keys.add(key);
    this.probe = undefined;
    if (hasNoChannel) {
      row.noChannelAt ??= now;
      this.isRefusedAlone = true;
      this.#rest(row.noChannelAt + noChannelMs);
      const areAll = row.keys.size >= troubleInARow || !areMoreWaiting(row.keys);
      if (now - row.noChannelAt < noChannelMs || !areAll) return undefined;
      return {
        code: 'service.no-channel',
        message: `Nobody behind the service can do ${this.name}: ${reason}`,
      };
    }
    const lastsMs = now - row.since;
    const served = others - row.others;
    const areServed = served > 0 && (row.keys.size > 1 || !this.isServed);
    const isSoon = others > 0 && lastsMs < Math.min(servingMs, patienceMs);
    // Where nothing else is asked for, its refusals are those of its route.
    this.isRefusedAlone = this.isServed ? row.times > 2 && served >= 3 : served > 0 || isSoon;
    if ((areServed && lastsMs >= taskMs) || (this.isRefusedAlone && lastsMs >= patienceMs))
      return {
        code: 'kind.unserved',
        message: `The service has served no ${this.name} for ${Math.round(lastsMs / 60_000)} min, and others all the while. Its last answer: ${reason}`,
      };
    if (row.times >= troubleInARow && served >= troubleInARow)
      this.#rest(now + Math.max(Math.min(patienceMs, retryAfterMs), restMs(row.times + 1 - troubleInARow)));
    return undefined;
  }

  #rest(until: number): void {
    if (this.route === 'submit') this.restsUntil = until;
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
    if (request.press === undefined)
      return this.find(isTextKind(request.kind) ? 'text' : 'submit', kindOfRequest(request));
    const button = fresh?.button ?? pressed;
    if (button !== undefined) return this.find('submit', operationOf(button.customId));
    return this.#named(namesOfJob(record)[0]);
  }

  /** The kind of what a slot asks for, or will; of a click, what such clicks were found to be. undefined: only a result says it. */
  ofSlot(slot: Slot): KindState | undefined {
    const { kind, job, asks } = slot;
    if (isPress(kind)) return this.#named(clickOfSlot(slot));
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
    const steps = new Map<string, boolean>();
    for (const [name, kinds] of this.#byName) {
      const [step = name] = name.split('/', 1);
      const isOpen = [...kinds].every(({ closed }) => closed === undefined);
      steps.set(step, isOpen && steps.get(step) !== false);
    }
    return [...steps].flatMap(([step, isOpen]) => (isOpen ? [step] : []));
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
    else if (this.#byName.size < maxNames) this.#byName.set(name, new Set([kind]));
  }

  /** Counts a result and notes it on its kind, see {@link KindState.note}. */
  note(kind: KindState, signal: RouteSignal, context: Omit<NoteContext, 'others'>): Closing | undefined {
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
    const known = this.#all.get(`${route}/${name}`);
    if (known !== undefined) return known;
    // A matrix may have any number of models. Those beyond the bound are one kind, of which no answer says that none is served.
    const isKept = this.#all.size < maxKinds;
    if (!isKept && name !== otherModels) return this.find(route, otherModels);
    const id = `${route}/${name}`;
    const kind = new KindState(name, route, !isKept || this.#servedBefore.has(id));
    this.#all.set(id, kind);
    return kind;
  }
}

/** Maximum of kinds, and of steps and branches, that a run keeps apart. The kinds beyond it are one for each route. */
const maxKinds = 1000;
const maxNames = 10_000;
const otherModels = 'other models';

const isPaid = ({ route }: KindState): boolean => route === 'submit' || route === 'text';
