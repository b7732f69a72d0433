import type { Cell } from '../../src/plan/cell.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { RecordLookup, Slot } from '../../src/plan/slot.ts';
import type { RunEnd, RunEvent } from '../../src/run/events.ts';
import { type LearnedTexts, learnedFact, learnedNames, readLearned } from '../../src/run/limits/learned.ts';
import { backoffMs } from '../../src/run/machine/retry/backoff.ts';
import type { RunSettings, ServiceAddress, SharedLimits } from '../../src/run/ports.ts';
import { nextInvocation, sentBefore } from '../../src/run/run.ts';
import { type Effect, isPaid, type RunCommit, type RunInput } from '../../src/run/scheduler/commit.ts';
import { Scheduler } from '../../src/run/scheduler/scheduler.ts';
import type { RedoRequest } from '../../src/state/redo-order.ts';
import { StateError, type StateStore } from '../../src/state/store.ts';
import { answered, type DrivenService } from './driven-service.ts';

/** Where a process can die within a turn. */
export type TurnPlace =
  | 'before-commit'
  /** While a store that answers later makes the turn durable. */
  | 'within-commit'
  | 'after-commit'
  | 'after-count'
  | 'after-first-effect'
  | 'after-effects';

/** How a store that answers later makes one turn durable. */
export interface LateCommit {
  readonly afterMs: number;
  /** The turn is durable from the beginning, and only the answer comes later; else both come together. */
  readonly isDurableAtOnce: boolean;
}

export interface DriveOptions {
  readonly cells: Iterable<Cell>;
  readonly resolve: (cell: Cell, lookup: RecordLookup, isOwn?: boolean) => readonly Slot[];
  /** See `RunPlan.gathers`. */
  readonly gathers?: ((cell: number) => readonly number[]) | undefined;
  readonly settings: RunSettings;
  readonly store: StateStore;
  readonly service: DrivenService;
  readonly random: () => number;
  readonly price?: (record: JobRecord) => number | undefined;
  readonly steps?: ReadonlySet<string>;
  /** Virtual Unix ms. */
  readonly startAt: number;
  /** How long a commit takes, ms. Default 0. */
  readonly commitMs?: number;
  /** The store answers later. Absent: it is done when it returns. */
  readonly answersLater?: (turn: number) => LateCommit;
  /** A turn is taken, to be made durable: it holds what was decided of all results received so far, and of none after. */
  readonly onTake?: () => void;
  /** True: the process dies here. Turns count from 1. */
  readonly dies?: (turn: number, place: TurnPlace) => boolean;
  /** It dies at the first moment from this one on, Unix ms. */
  readonly diesAt?: number;
  /** Drained (first signal) at this moment. */
  readonly drainAt?: number;
  /** The machine sleeps: it wakes so many ms after the first moment at which it was to wake from then on. */
  readonly sleeps?: { readonly atMs: number; readonly forMs: number };
  /** Sees every effect just before the service does. */
  readonly onEffect?: (effect: Effect, now: number) => void;
  /** Sees every event of a turn once that is durable. */
  readonly onEvent?: (event: RunEvent, now: number) => void;
  /** Sees every answer just before the run does. */
  readonly onResult?: (input: RunInput, now: number) => void;
  /** Sees what the run holds after each turn. */
  readonly onTurn?: (held: {
    readonly requests: number;
    readonly taskSlots: number;
    readonly jobs: number;
    readonly cells: number;
  }) => void;
  /** Asked after each cell that is resolved: true where the others are left to the next tick. Absent: never. */
  readonly isLong?: () => boolean;
  readonly shared?: SharedLimits;
  readonly address?: ServiceAddress;
  /** Turns beyond this mean a run that goes round in circles. */
  readonly maxTurns?: number;
  /** A run that sends before its turn is durable: the error that every test of durability must notice. */
  readonly sendsFirst?: boolean;
  /** Jobs that its flags have made anew. */
  readonly redo?: RedoRequest;
}

export interface Driven {
  /** Undefined: it died. */
  readonly end: RunEnd | undefined;
  readonly events: readonly RunEvent[];
  readonly submits: number;
  readonly tokens: number;
  readonly redosFailed: number;
  readonly endedAt: number;
  readonly turns: number;
}

type DiskEnd = Extract<RunEnd, { kind: 'disk' }>;

interface PendingTurn {
  readonly turn: RunCommit;
  readonly at: number;
  /** Why the turn is not durable; present where that is known, though the store has not answered. */
  readonly fault?: DiskEnd | undefined;
}

interface Arrival {
  readonly at: number;
  readonly order: number;
  readonly input: RunInput;
  readonly isPaid: boolean;
}

const isOfOne = (input: RunInput, other: RunInput): boolean =>
  input.type === 'asked' && other.type === 'asked' && input.key === other.key;

/** As at the end of a run: nothing depends on what is kept here. */
function keepLearned(store: StateStore, texts: LearnedTexts): void {
  for (const name of learnedNames) {
    try {
      store.setFact(learnedFact(name), texts[name] ?? '');
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
    }
  }
}

/** Turns beyond this mean a run that goes round in circles, where a test says nothing else. */
const turnLimit = 200_000;

/**
 * Drives a whole run through the scheduler in virtual time: the same order of things as the engine (make the turn
 * durable, count what of it costs, then carry out its effects), with no promise in it.
 */
export function drive(options: DriveOptions): Driven {
  const { store, service } = options;
  const spent = store.totals();
  if (options.redo !== undefined) store.redos.add(options.redo);
  const scheduler = new Scheduler({
    settings: options.settings,
    startedAt: options.startAt,
    invocation: nextInvocation(store),
    random: options.random,
    resolve: options.resolve,
    ...(options.gathers && { gathers: options.gathers }),
    lookup: (key) => store.get(key),
    redo: (key) => store.redos.of(key),
    price: options.price ?? (() => undefined),
    spent,
    ...sentBefore(store),
    learned: readLearned(store),
    ...(options.steps === undefined ? {} : { steps: options.steps }),
    ...(options.shared === undefined ? {} : { shared: options.shared }),
    ...(options.address === undefined ? {} : { address: options.address }),
  });
  const cells = options.cells[Symbol.iterator]();
  let arrivals: Arrival[] = [];
  const events: RunEvent[] = [];
  let order = 0;
  let now = options.startAt;
  let turns = 0;
  let drained = false;
  let slept = false;
  const result = (end: RunEnd | undefined): Driven => ({
    end,
    events,
    submits: scheduler.submits,
    tokens: scheduler.tokens,
    redosFailed: scheduler.redosFailed,
    endedAt: now,
    turns,
  });
  const dies = (place: TurnPlace): boolean => options.dies?.(turns, place) === true;

  const send = (effect: Effect): void => {
    options.onEffect?.(effect, now);
    const { afterMs, input } = answered(effect, service, store, now);
    order += 1;
    arrivals.push({ at: now + afterMs, order, input, isPaid: isPaid(effect) });
    for (const cut of service.takeCut?.() ?? [])
      arrivals = arrivals.map((one) => (isOfOne(one.input, cut) ? { ...one, at: now, input: cut } : one));
  };
  const sendAll = ({ effects }: RunCommit): boolean => {
    for (const [at, effect] of effects.entries()) {
      send(effect);
      if (at === 0 && dies('after-first-effect')) return true;
    }
    return dies('after-effects');
  };

  /** Makes a turn durable. @returns why it is not */
  const write = (turn: RunCommit): DiskEnd | undefined => {
    try {
      const { records, attempts: made } = turn;
      const submits = turn.effects.filter(isPaid).length;
      if (records.length + made.length + submits > 0)
        store.commit({
          records,
          attempts: made,
          submits,
          invocation: scheduler.invocation,
          ...(turn.redos === undefined ? {} : { redos: turn.redos }),
          ...(scheduler.sent === undefined ? {} : { sent: scheduler.sent }),
        });
      return undefined;
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      return { kind: 'disk', code: error.code, message: error.message };
    }
  };
  /** Reverts decisions whose requests were not sent. From here on the run receives the results of paid requests only. */
  const halt = (end: RunEnd): void => {
    const turn = scheduler.takeCommit();
    scheduler.requeue({ ...turn, effects: [] });
    scheduler.handle({ type: 'halt', end, unsent: turn.effects }, now);
    arrivals = arrivals.filter((arrival) => arrival.isPaid);
  };
  let tries = 0;
  let restsUntil: number | undefined;
  let failed: RunEnd | undefined;
  /** The turn that a store that answers later makes durable. */
  let pending: PendingTurn | undefined;
  /** One turn. @returns how the run ended, if it did */
  const turnOver = (): Driven | undefined => {
    while (scheduler.wantsCells) {
      const next = cells.next();
      scheduler.handle(
        { type: 'cells', cells: next.done ? [] : [next.value], last: next.done === true },
        now,
      );
    }
    turns += 1;
    if (turns > (options.maxTurns ?? turnLimit)) throw new Error('The run goes round in circles.');
    const turn = scheduler.takeCommit();
    options.onTake?.();
    if (options.sendsFirst && sendAll(turn)) return result(undefined);
    if (dies('before-commit')) return result(undefined);
    const later = options.answersLater?.(turns);
    const isEmpty = turn.records.length + turn.attempts.length + turn.effects.filter(isPaid).length === 0;
    if (later === undefined || isEmpty) return afterWrite(turn, write(turn));
    const at = now + later.afterMs;
    pending = { turn, at, ...(later.isDurableAtOnce ? { fault: write(turn) } : {}) };
    return dies('within-commit') ? result(undefined) : undefined;
  };
  /** The store has answered. @returns how the run ended, if it did */
  const afterWrite = (turn: RunCommit, fault: DiskEnd | undefined): Driven | undefined => {
    if (fault !== undefined) {
      scheduler.requeue(turn);
      const { retry } = options.settings;
      tries += 1;
      if (fault.code === 'state.busy' && tries < retry.attempts)
        restsUntil = now + backoffMs(tries, retry, () => 1);
      else {
        failed = fault;
        halt(fault);
      }
      return undefined;
    }
    tries = 0;
    scheduler.onDurable();
    if (turn.records.length > 0 || turn.attempts.length > 0) now += options.commitMs ?? 0;
    events.push(...turn.events);
    for (const event of turn.events) options.onEvent?.(event, now);
    if (dies('after-commit')) return result(undefined);
    if (turn.effects.some(isPaid)) store.countSubmissions();
    if (dies('after-count')) return result(undefined);
    if (!options.sendsFirst && sendAll(turn)) return result(undefined);
    options.onTurn?.({ requests: arrivals.length, taskSlots: scheduler.tasks, ...scheduler.inMemory });
    if (scheduler.ended === undefined) return undefined;
    keepLearned(store, scheduler.learned);
    store.redos.close();
    return result(scheduler.ended);
  };

  scheduler.handle({ type: 'adopt', records: store.unfinished() }, now, options.isLong);
  for (;;) {
    if (now >= (options.diesAt ?? Number.POSITIVE_INFINITY)) return result(undefined);
    if (failed !== undefined) {
      turns += 1;
      if (dies('before-commit')) return result(undefined);
      if (arrivals.length === 0) {
        const last = scheduler.takeCommit();
        options.onTake?.();
        // What is said and was not durable is not so for the next run.
        if (write(last) === undefined) events.push(...last.events);
        return result(failed);
      }
    } else if (pending === undefined && (restsUntil === undefined || now >= restsUntil)) {
      restsUntil = undefined;
      const over = turnOver();
      if (over !== undefined) return over;
      if (failed !== undefined) continue;
    }

    arrivals.sort((a, b) => a.at - b.at || a.order - b.order);
    const tickAt = restsUntil ?? scheduler.nextWakeAt();
    const wakes = [
      arrivals[0]?.at,
      pending?.at,
      // What only another turn can do is not waited for while one is made durable.
      pending === undefined || (tickAt ?? 0) > now ? tickAt : undefined,
      drained ? undefined : options.drainAt,
    ].filter((at) => at !== undefined);
    if (wakes.length === 0)
      throw new Error('The run is stuck: nothing is under way and nothing is waited for.');
    now = Math.max(now, Math.min(...wakes));
    if (!slept && options.sleeps !== undefined && now >= options.sleeps.atMs) {
      slept = true;
      now += options.sleeps.forMs;
    }
    const arrival = arrivals[0];
    if (!drained && options.drainAt !== undefined && now >= options.drainAt) {
      drained = true;
      scheduler.handle({ type: 'drain', end: { kind: 'interrupted', forced: false } }, now);
    } else if (pending !== undefined && pending.at <= Math.min(now, arrival?.at ?? now)) {
      const { turn, ...written } = pending;
      pending = undefined;
      const over = afterWrite(turn, 'fault' in written ? written.fault : write(turn));
      if (over !== undefined) return over;
    } else if (arrival !== undefined && arrival.at <= now) {
      arrivals.shift();
      options.onResult?.(arrival.input, now);
      scheduler.handle(arrival.input, now);
    } else scheduler.handle({ type: 'tick' }, now);
  }
}
