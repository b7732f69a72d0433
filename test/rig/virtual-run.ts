import type { Cell } from '../../src/plan/cell.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { RecordLookup, Slot } from '../../src/plan/slot.ts';
import type { Route, RunEnd, RunEvent } from '../../src/run/event.ts';
import type { RunSettings } from '../../src/run/ports.ts';
import { Scheduler } from '../../src/run/scheduler.ts';
import { type Errand, type RunInput, routeOf } from '../../src/run/turn.ts';
import type { StateStore } from '../../src/state/store.ts';
import type { VirtualService } from './virtual-service.ts';

export interface VirtualRunOptions {
  readonly cells: Iterable<Cell>;
  readonly resolve: (cell: Cell, lookup: RecordLookup) => readonly Slot[];
  readonly settings: RunSettings;
  readonly store: StateStore;
  readonly service: VirtualService;
  readonly random: () => number;
  readonly price?: (record: JobRecord) => number | undefined;
  readonly steps?: ReadonlySet<string>;
  /** Virtual Unix ms. */
  readonly startAt?: number;
  /** ms a request takes. Default 100. */
  readonly latency?: (route: Route) => number;
  /** The process dies after this many turns: nothing of that turn leaves, answers under way are never heard. */
  readonly dieAfterTurns?: number;
  /** Drained (first signal) at this moment. */
  readonly drainAt?: number;
}

export interface VirtualRun {
  /** Undefined: it died. */
  readonly end: RunEnd | undefined;
  readonly events: readonly RunEvent[];
  readonly submits: number;
  readonly endedAt: number;
  /** The most at any moment. */
  readonly most: {
    readonly requests: number;
    readonly rooms: number;
    readonly jobs: number;
    readonly cells: number;
  };
  readonly turns: number;
}

interface Arrival {
  readonly at: number;
  readonly order: number;
  readonly input: () => RunInput;
}

/** Turns beyond this mean a run that goes round in circles. */
const turnLimit = 1_000_000;

/**
 * Drives a whole run through the scheduler in virtual time: the same order of things as the engine (make the turn
 * durable, then carry out its errands), with no promise in it.
 */
export function runVirtually(options: VirtualRunOptions): VirtualRun {
  const { store, service, settings } = options;
  const startAt = options.startAt ?? 1_700_000_000_000;
  const latency = options.latency ?? ((): number => 100);
  const { attempts, cost } = store.totals();
  const scheduler = new Scheduler({
    settings,
    startedAt: startAt,
    random: options.random,
    resolve: options.resolve,
    lookup: (key) => store.get(key),
    price: options.price ?? (() => undefined),
    spent: { attempts, cost },
    ...(options.steps === undefined ? {} : { steps: options.steps }),
  });
  const cells = options.cells[Symbol.iterator]();
  const arrivals: Arrival[] = [];
  const events: RunEvent[] = [];
  const most = { requests: 0, rooms: 0, jobs: 0, cells: 0 };
  let underWay = 0;
  let order = 0;
  let now = startAt;
  let turns = 0;
  let drained = false;
  const result = (end: RunEnd | undefined): VirtualRun => ({
    end,
    events,
    submits: scheduler.submits,
    endedAt: now,
    most,
    turns,
  });

  const send = ({ job, send: what }: Errand): void => {
    const { key } = job.record;
    const sentAt = now;
    const at = now + latency(routeOf[what.kind]);
    underWay += 1;
    order += 1;
    // The service works when the request reaches it, halfway; the answer is heard later, or never.
    const work = ((): (() => RunInput) => {
      switch (what.kind) {
        case 'submit': {
          const answer = service.submit(job.record, job.parentTaskId, sentAt);
          return () => ({ type: 'submitted', key, answer });
        }
        case 'fetch': {
          const answer = service.fetch(what.taskId, sentAt);
          return () => ({ type: 'fetched', key, why: what.why, answer });
        }
        case 'save': {
          const answer = service.save(key);
          return () => ({ type: 'saved', key, answer });
        }
      }
    })();
    arrivals.push({ at, order, input: work });
  };

  scheduler.handle({ type: 'adopt', records: store.unfinished() }, now);
  for (;;) {
    while (scheduler.wantsCells) {
      const next = cells.next();
      scheduler.handle(
        { type: 'cells', cells: next.done ? [] : [next.value], last: next.done === true },
        now,
      );
    }
    turns += 1;
    if (turns > turnLimit) throw new Error('The run goes round in circles.');
    const turn = scheduler.takeTurn();
    store.commit({ records: turn.records, attempts: turn.attempts });
    events.push(...turn.events);
    if (turns === options.dieAfterTurns) return result(undefined);
    for (const errand of turn.errands) send(errand);
    most.requests = Math.max(most.requests, underWay);
    most.rooms = Math.max(most.rooms, scheduler.tasks);
    most.jobs = Math.max(most.jobs, scheduler.held.jobs);
    most.cells = Math.max(most.cells, scheduler.held.cells);
    if (scheduler.ended !== undefined) return result(scheduler.ended);

    arrivals.sort((a, b) => a.at - b.at || a.order - b.order);
    const wakes = [arrivals[0]?.at, scheduler.nextWakeAt(), drained ? undefined : options.drainAt].filter(
      (at) => at !== undefined,
    );
    if (wakes.length === 0)
      throw new Error('The run is stuck: nothing is under way and nothing is waited for.');
    now = Math.max(now, Math.min(...wakes));
    if (!drained && options.drainAt !== undefined && now >= options.drainAt) {
      drained = true;
      scheduler.handle({ type: 'drain', end: { kind: 'interrupted', forced: false } }, now);
      continue;
    }
    const arrival = arrivals[0];
    if (arrival !== undefined && arrival.at <= now) {
      arrivals.shift();
      underWay -= 1;
      scheduler.handle(arrival.input(), now);
    } else scheduler.handle({ type: 'tick' }, now);
  }
}

/** Settings as a pipeline without any would give them, to be changed by a test. */
export function virtualSettings(changes: Partial<RunSettings> = {}): RunSettings {
  return {
    speed: 'fast',
    limits: { tasks: 12, requests: 32 },
    retry: {
      attempts: 6,
      baseMs: 1000,
      capMs: 60_000,
      resubmits: 2,
      ambiguous: 'retry',
      patienceMs: 3_600_000,
    },
    timeouts: { taskMs: 1_200_000 },
    poll: { minMs: 1000, maxMs: 15_000 },
    budget: {},
    prices: {},
    inDoubt: 'hold',
    failFast: false,
    ...changes,
  };
}

/** A small seeded generator (mulberry32): uniform in [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
