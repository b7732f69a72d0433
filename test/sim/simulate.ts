import { findTasks } from '../../src/app/run/doubt/find-tasks.ts';
import type { Cell } from '../../src/plan/cell.ts';
import { type JobRecord, jobStatuses } from '../../src/plan/job.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { become } from '../../src/run/machine/job.ts';
import type { RunSettings } from '../../src/run/ports.ts';
import { planForRun } from '../../src/run/run-plan.ts';
import type { Task } from '../../src/service/image-service.ts';
import type { ServiceResult } from '../../src/service/result.ts';
import type { RedoRequest } from '../../src/state/redo-order.ts';
import { type Driven, drive } from '../rig/drive.ts';
import type { Delivered } from '../rig/driven-service.ts';
import { type Fault, faultyStore } from '../rig/faulty-store.ts';
import { Gateway } from '../rig/gateway/gateway.ts';
import { type MemoryStore, memoryStore } from '../rig/memory-store.ts';
import { Auditor } from './auditor.ts';
import { Chance } from './chance.ts';
import type { Reads } from './lineage-auditor.ts';
import { epoch, planFor, prices, settingsOf } from './outset.ts';
import { RandomTemper } from './random-temper.ts';
import { checkManifest, checkResults, keysAsked, unfinished } from './results.ts';
import { type Invocation, type Scenario, unlimited } from './scenario.ts';
import { BrokenPromise } from './violation.ts';

/** A rule that is broken on purpose, to see that it is noticed. */
export type Mutant =
  | 'sends-first'
  | 'forgets-modals'
  | 'overlooks-tasks'
  | 'forgets-orders'
  | 'cancels-nothing';

export interface Outcome {
  /** What was broken; undefined: nothing. */
  readonly broken?: string;
  readonly submits: number;
  readonly inDoubt: number;
  /** How often each kind of trouble came about. */
  readonly met: ReadonlyMap<string, number>;
}

/** Starts of the command that a healed service may need until everything is done. */
const healingRuns = 12;
const never = new AbortController().signal;
/** No run lasts longer than this in virtual time: patience and deadlines end it. */
const longestRunMs = 14 * 86_400_000;

/** Plays one history to its end, then heals the service and sees whether everything comes out as if nothing had been. */
export async function simulate(scenario: Scenario, mutant?: Mutant): Promise<Outcome> {
  const { plan, cells } = await planFor(scenario);
  const plans = await Promise.all(scenario.invocations.map((invocation) => planFor(scenario, invocation)));
  const store = memoryStore();
  const temper = new RandomTemper(scenario);
  const gateway = new (mutant === 'overlooks-tasks' ? BlindGateway : Gateway)(temper);
  const auditor = new Auditor(scenario, store, gateway, readsIn(plan, cells, store));
  let now = epoch;
  let submits = 0;
  let inDoubt = 0;
  let lastOrder: RedoRequest | undefined;

  const start = async (invocation: Invocation, settings: RunSettings, n: number): Promise<Driven> => {
    now += invocation.gapMs;
    temper.starts += 1;
    if (invocation.inDoubt === 'find') {
      const service = { listTasks: () => Promise.resolve(gateway.taskList(now)) };
      await findTasks(store, service, prices, () => now, never);
    }
    const records = [...allRecords(store)];
    if (invocation.cancels && mutant !== 'cancels-nothing') store.redos.cancel();
    const redo = invocation.cancels
      ? undefined
      : invocation.sameOrder
        ? lastOrder
        : redone(scenario, invocation, n, records);
    lastOrder = redo ?? lastOrder;
    const asked = plans[scenario.invocations.indexOf(invocation)]?.plan ?? plan;
    const planned = cells.slice(0, invocation.cells);
    auditor.begin(invocation, records, redo, (key) =>
      planned.some((cell) =>
        asked.resolve(cell, (other) => store.get(other)).some(({ job }) => job?.key === key),
      ),
    );
    const { death, disk, drainAfterMs } = invocation;
    const faulty = disk === undefined ? store : faultyStore(store, diskFaults(disk));
    const kept = mutant === 'forgets-orders' ? withoutProgress(faulty) : faulty;
    const chance = new Chance(scenario.seed);
    let draws = 0;
    let pauses = 0;
    const driven = drive({
      cells: planned,
      resolve: (cell, lookup, isOwn) => asked.resolve(cell, lookup, isOwn),
      gathers: planForRun(asked, {}).gathers,
      settings,
      ...(redo && { redo }),
      store: watched(mutant === 'forgets-modals' ? forgetful(kept) : kept, (records) =>
        auditor.committed(records),
      ),
      service: gateway,
      price: () => 1,
      random: () => chance.of('jitter', n, ++draws),
      startAt: now,
      commitMs: scenario.commitMs,
      ...(scenario.lateCommitMs !== undefined && {
        answersLater: (turn: number) => ({
          afterMs: chance.whole(0, scenario.lateCommitMs ?? 0, 'late', n, turn),
          isDurableAtOnce: chance.happens(0.5, 'durable', n, turn),
        }),
      }),
      isLong: () => chance.happens(scenario.pauses ?? 0, 'pause', n, ++pauses),
      onEffect: (effect, at) => auditor.sends(effect, at),
      onResult: (input, at) => {
        if (at - now > longestRunMs) throw new BrokenPromise('The run does not end.');
        auditor.receives(input, at);
      },
      onTake: () => auditor.takesTurn(),
      onTurn: (held) => auditor.holds(held),
      ...(death && { dies: (turn, place) => turn === death.turn && place === death.place }),
      ...(drainAfterMs !== undefined && { drainAt: now + drainAfterMs }),
      ...(mutant === 'sends-first' && { sendsFirst: true }),
    });
    now = driven.endedAt;
    submits += driven.submits;
    auditor.onEvents(driven.events);
    auditor.ends(driven.end);
    auditor.checkCounted();
    if (driven.end?.kind === 'complete') auditor.checkFound(now);
    // One commit that fails is tried once more at the least.
    if (driven.end !== undefined && (disk === undefined || disk.commits === 1)) auditor.checkReported();
    return driven;
  };

  try {
    for (const [n, invocation] of scenario.invocations.entries()) {
      await start(invocation, settingsOf(scenario, invocation), n);
      await checkManifest(plans[n]?.plan ?? plan, cells, store);
    }
    inDoubt = [...store.withStatus('in-doubt')].length;
    temper.healed = true;
    const word: Invocation = { gapMs: 3_600_000, retryFailed: true, inDoubt: 'retry' };
    // An order of a job that no cell asks for any more stays open, until one does.
    const isOrdered = (key: string): boolean => store.redos.of(key) !== undefined || auditor.owes(key);
    const isLeft = (): boolean =>
      unfinished(plan, cells, store) > 0 || [...keysAsked(plan, cells, store)].some(isOrdered);
    for (let n = 0; isLeft(); n++) {
      if (n === healingRuns)
        throw new BrokenPromise(
          `${unfinished(plan, cells, store)} slots are not done, ${JSON.stringify(store.redoCounts())} to be made anew, after ${n} runs against a healthy service`,
        );
      await start(word, settingsOf(unlimited(scenario), word), 1000 + n);
    }
    const asked = keysAsked(plan, cells, store);
    auditor.checkLineage(asked);
    auditor.checkOrders(asked);
    await checkResults(scenario, plan, cells, store, gateway);
    return { submits, inDoubt, met: temper.met };
  } catch (error) {
    const broken =
      error instanceof Error
        ? `${error.message}${error instanceof BrokenPromise ? '' : `\n${error.stack ?? ''}`}`
        : String(error);
    return { broken, submits, inDoubt, met: temper.met };
  }
}

/** Steps of the simulated pipelines whose templates name the reply of another step. */
const reads: Readonly<Record<string, string>> = { best: 'pick', title: 'weather', drawn: 'words' };

/** Finds the jobs whose replies a job's templates name: in the cell that the job was made for, and in all that ask for it. */
function readsIn(plan: Plan, cells: readonly Cell[], store: MemoryStore): (key: string) => Reads {
  return (key) => {
    const { step: asking, cell: number } = store.get(key)?.origin ?? {};
    const step = asking === undefined ? undefined : reads[asking];
    if (step === undefined) return { own: [], all: [] };
    const found = cells.map((cell) => {
      const slots = plan.resolve(cell, (other) => store.get(other));
      const isAskedFor = cell.number === number || slots.some(({ job }) => job?.key === key);
      const keys = isAskedFor
        ? slots.flatMap((slot) => (slot.step === step ? (slot.job?.key ?? []) : []))
        : [];
      return { isOwn: cell.number === number, keys };
    });
    const keysOf = (some: typeof found): readonly string[] => [...new Set(some.flatMap(({ keys }) => keys))];
    return { own: keysOf(found.filter(({ isOwn }) => isOwn)), all: keysOf(found) };
  };
}

/** The commits that fail; without a number, that one and all after it. */
const diskFaults = ({ commit, code, commits }: NonNullable<Invocation['disk']>): readonly Fault[] =>
  commits === undefined
    ? [{ at: commit, fault: code, lasting: true }]
    : Array.from({ length: commits }, (_, n) => ({ at: commit + n, fault: code }));

/** A gateway whose list of tasks is never read. */
class BlindGateway extends Gateway {
  override listAll(): Delivered<ServiceResult<readonly Task[]>> {
    return { result: { ok: true, value: [] }, afterMs: 1 };
  }
}

/** A store that does not know of modals: a run that it is given presses again. */
const forgetful = (store: MemoryStore): MemoryStore => {
  const forget = (record: JobRecord): JobRecord =>
    record.modal === undefined || record.status === 'done'
      ? record
      : become(record, 'pending', { modal: undefined });
  return {
    ...store,
    get: (key) => {
      const record = store.get(key);
      return record === undefined ? undefined : forget(record);
    },
    unfinished: () => store.unfinished().filter(({ modal }) => modal === undefined),
  };
};

/** A store that does not keep how far the jobs of an order are. */
const withoutProgress = (store: MemoryStore): MemoryStore => ({
  ...store,
  commit: (turn) => {
    const { redos: _, ...rest } = turn;
    store.commit(rest);
  },
});

/** A store that says when a turn is durable. */
const watched = (store: MemoryStore, committed: (records: readonly JobRecord[]) => void): MemoryStore => ({
  ...store,
  commit: (turn) => {
    store.commit(turn);
    committed(turn.records);
  },
});

/** The jobs that the command of an invocation is to make anew. */
function redone(
  { seed }: Scenario,
  { redo = 0, byFile }: Invocation,
  n: number,
  records: readonly JobRecord[],
): RedoRequest | undefined {
  const chance = new Chance(seed);
  const keys = records
    .filter(({ status, key }) => status === 'done' && chance.happens(redo, 'redo', n, key))
    .map(({ key }) => key);
  return keys.length === 0 ? undefined : { keys, again: byFile !== true };
}

function* allRecords(store: MemoryStore): Generator<ReturnType<MemoryStore['unfinished']>[number]> {
  for (const status of jobStatuses) yield* store.withStatus(status);
}
