import { type DealtSlice, dealSlices } from '../../../src/engine/slices/deal.ts';
import { isSettled, type JobRecord } from '../../../src/plan/job.ts';
import { isTextRequest } from '../../../src/plan/job-request.ts';
import { submissionOf } from '../../../src/run/machine/search/late-fact.ts';
import { ownTasks } from '../../../src/run/machine/search/own-tasks.ts';
import type { RedoRequest } from '../../../src/state/redo-order.ts';
import type { LateFact } from '../../../src/state/store.ts';
import { FencedState } from '../../rig/fenced/fenced-state.ts';
import { Gateway } from '../../rig/gateway/gateway.ts';
import { plainTemper, type Temper } from '../../rig/gateway/temper.ts';
import { planOf } from '../../rig/plan.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { Chance } from '../chance.ts';
import { epoch } from '../outset.ts';
import { type Broken, type Cost, maxCommitMs, WorkersAuditor } from './auditor.ts';
import { Queue, type SimSlice } from './queue.ts';
import { SharedRooms } from './rooms.ts';
import { drawWorkers, type Order, pipelineOf, type WorkersRun, type WorkersScenario } from './scenario.ts';
import { Timeline } from './timeline.ts';
import { SimWorker, type WorkersMutant, type World } from './worker.ts';

export interface WorkersOutcome {
  readonly broken: readonly Broken[];
  readonly submits: number;
  readonly inDoubt: number;
  /** Of these, what certainly never left. */
  readonly neverSent: number;
  readonly kills: number;
  readonly cuts: number;
  /** Cuts that outlast a lease. */
  readonly longCuts: number;
  /** Answered text calls that were made again. */
  readonly twice: number;
  /** Jobs of orders, each of which is made anew once. */
  readonly ordered: number;
  /** Older copies of the state that came back, and how many of them were refused. */
  readonly restores: number;
  readonly refused: number;
}

/** From then on nothing goes wrong any more, so that a history comes to its end. */
const troubledMs = 600_000;
const longestMs = 24 * 3_600_000;
const maxEvents = 400_000;

const plans = new Map<string, ReturnType<typeof planOf>>();

const unclear = ['500', '500-made', '504-made', 'reset-made', 'timeout-made'] as const;

function temperOf({ unaccepted, failing, unclear: share, collides, seed }: WorkersScenario): Temper {
  const chance = new Chance(seed);
  return {
    ...plainTemper,
    keepsId: () => true,
    repeatsId: (name) => chance.happens(collides, 'same id', name),
    submitFault: (_route, _key, n) =>
      chance.happens(unaccepted, 'submit', n)
        ? chance.pick(['429', 'code-23', 'refused', '503'] as const, 'submit', 'fault', n)
        : chance.happens(share, 'unclear', n)
          ? chance.pick(unclear, 'unclear', 'fault', n)
          : undefined,
    latencyMs: (route, n) =>
      route === 'text' ? chance.whole(200, 20_000, 'thinking', n) : chance.whole(20, 3000, 'latency', n),
    durationMs: (_key, name) => chance.whole(1000, 60_000, 'duration', name),
    end: (key, name) => (chance.happens(failing, 'fails', key, name) ? 'transient' : 'success'),
  };
}

/** A submission of a job whose task was found is answered with that task. */
class KnownGateway extends Gateway {
  takenOn: (key: string) => string | undefined = () => undefined;

  override submit(
    ...[record, parentTaskId, now]: Parameters<Gateway['submit']>
  ): ReturnType<Gateway['submit']> {
    const taskId = this.takenOn(record.key);
    if (taskId === undefined) return super.submit(record, parentTaskId, now);
    return { result: { ok: true, value: { kind: 'accepted', taskId, code: 1 } }, afterMs: 1 };
  }
}

/** Plays one history of several workers. */
export async function simulateWorkers(
  scenario: WorkersScenario,
  mutant?: WorkersMutant,
): Promise<WorkersOutcome> {
  const text = pipelineOf(scenario);
  const { plan, cells } = await (plans.get(text) ?? plans.set(text, planOf(text)).get(text) ?? planOf(text));
  const dealtSlices: DealtSlice[] = [];
  for await (const dealt of dealSlices(plan.matrix.cells(), [...plan.groups.values()], scenario.cellsOfSlice))
    dealtSlices.push(...dealt);
  const chance = new Chance(scenario.seed);
  const time = new Timeline(epoch);
  const isOfWorkers = mutant === 'holds-first' || mutant === 'left-is-closed' || mutant === 'trusts-copies';
  const state = new FencedState(isOfWorkers ? undefined : mutant);
  const gateway = new KnownGateway(temperOf(scenario));
  const auditor = new WorkersAuditor(state, gateway, time);
  gateway.takenOn = (key) => auditor.takenOn(key);
  auditor.hasUnclear = scenario.unclear > 0;
  const workers: SimWorker[] = [];
  const place = { highest: 0 };
  /** The newest state, when an older copy came back. */
  let newest: (() => void) | undefined;
  let kills = 0;
  let slices = 0;

  /** Plays one invocation. @returns false where it does not end */
  const play = (invocation: number, { inDoubt, endsAfterMs, restore }: WorkersRun): boolean => {
    const startedAt = time.now;
    const own: SimWorker[] = [];
    const holders = new Map<number, string>();
    const places = new Map<number, SimSlice>();
    // What earlier invocations left under way stays in their slices, which have no cells any more.
    for (let slice = 1; slice <= slices; slice++) {
      state.claim(slice);
      if ([...state.rows.values()].some((row) => row.slice === slice && isOpen(row.record)))
        places.set(slice, { cells: [] });
    }
    const firstOf = new Map<number, number>();
    for (const { cells: own, since } of dealtSlices) {
      slices += 1;
      if (since === undefined) for (const { number } of own) firstOf.set(number, slices);
      places.set(slices, { cells: own, ...(since !== undefined && { waitsFrom: firstOf.get(since) ?? 1 }) });
    }
    const calmAt = startedAt + troubledMs;
    const queue = new Queue(places, scenario, time, chance, calmAt);
    const openOf = (worker: string): number =>
      [...state.rows.values()].filter(
        ({ slice, record }) => holders.get(slice) === worker && !queue.isOver(slice) && isTask(record),
      ).length;
    let isOver = false;
    const world: World = {
      scenario,
      settings: virtualSettings({
        limits: { tasks: scenario.tasks, requests: 8 },
        retry: { ...virtualSettings().retry, resubmits: 20, attempts: 20 },
        inDoubt,
      }),
      invocation,
      holders,
      taskSlots: scenario.sharesRooms ? new SharedRooms(scenario.tasks, time, openOf) : undefined,
      plan,
      time,
      chance,
      state,
      queue,
      gateway,
      auditor,
      place,
      mutant,
      calmAt,
      lacks: (worker, slice) =>
        time.now < startedAt + chance.whole(0, 200_000, 'supplied', slice) &&
        chance.happens(scenario.lacking, 'lacks', worker, slice),
      isDone: () => isDone(),
      onKilled: () => {
        kills += 1;
        time.after(chance.whole(100, 10_000, 'comes', kills), () => begin());
      },
    };
    const isRefused = (): boolean => place.highest > state.counted && mutant !== 'trusts-copies';
    const begin = (): void => {
      if (isOver || isRefused()) return;
      const worker = new SimWorker(`worker ${workers.length + 1}`, world);
      workers.push(worker);
      own.push(worker);
    };
    for (let n = 0; n < scenario.workers; n++) time.after(n * 10, begin);
    const fed = new Set<string>();
    const feed = (): void => {
      for (const { slice, name } of state.heardDoubts()) {
        // Whoever holds it may have read it before.
        if (fed.has(name) || !queue.isOver(slice)) continue;
        queue.feed(slice);
        fed.add(name);
      }
      if (!isOver) time.after(2000, feed);
    };
    if (scenario.feedsDoubts) feed();
    let copy: (() => void) | undefined;
    const comeBack = (): void => {
      if (copy === undefined) return;
      newest = state.copy();
      auditor.comesBack();
      copy();
      const uncounted = own.reduce((sum, worker) => sum + worker.uncounted, 0);
      if (!isRefused()) auditor.goesOnWith(0, false, uncounted);
    };
    if (restore !== undefined) {
      time.after(restore.copiedMs, () => {
        const [ofState, ofQueue] = [state.copy(), queue.copy()];
        if (!isOver)
          copy = () => {
            ofState();
            ofQueue();
          };
      });
      if (restore.atMs !== undefined) time.after(restore.atMs, () => (isOver ? undefined : comeBack()));
    }
    const isDone = (): boolean =>
      queue.isDone &&
      (scenario.cuts === 0 ||
        (state.heardDoubts().every(({ name }) => fed.has(name)) &&
          own.every((one) => one.isDead || one.hasEnded || time.now > one.cutUntil + maxCommitMs)));
    const endsAt = endsAfterMs === undefined ? Number.POSITIVE_INFINITY : startedAt + endsAfterMs;
    const hasEnded = (): boolean => own.length > 0 && own.every((one) => one.isDead || one.hasEnded);
    let isEndless = false;
    const mayGoOn = (): boolean => !hasEnded() || !(queue.isDone || isRefused());
    while (!isEndless && time.now < endsAt && mayGoOn() && time.next())
      isEndless = time.now > startedAt + longestMs || time.count > maxEvents;
    if (isEndless) auditor.breaks('nothing', `The run does not end (invocation ${invocation}).`);
    else if (time.now < endsAt && !queue.isDone && !isRefused())
      auditor.breaks('nothing', 'The run stands still.');
    isOver = true;
    for (const worker of own) worker.kill();
    if (restore !== undefined && restore.atMs === undefined) comeBack();
    if (queue.isDone) {
      state.redos.close();
      auditor.closesOrders();
    }
    return !isEndless;
  };

  /** Searches the tasks of jobs in doubt; of what is being submitted too, where nobody may hear of that. */
  const find = (isAlone: boolean): void => {
    const listed = gateway.taskList(time.now);
    const lateFacts = [...state.rows.values()].flatMap(({ record }): LateFact[] => {
      const { key, status } = record;
      if (!isTask(record) && status !== 'in-doubt') return [];
      if (status !== 'in-doubt' && !(status === 'submitting' && isAlone)) return [];
      const submission = submissionOf(record);
      const [task] = listed.ok ? ownTasks(record, state.attempts(key), listed.value) : [];
      return task === undefined || submission === undefined ? [] : [{ ...submission, taskId: task.id }];
    });
    state.commit({ turn: { records: [], attempts: [], lateFacts }, number: 0 });
    auditor.finds(lateFacts);
  };

  /** The flags of a run name jobs that are to be made anew, or drop them. */
  let lastOrder: RedoRequest | undefined;
  const order = (run: number, what: Order): void => {
    if (what === 'cancel') {
      state.redos.cancel();
      return auditor.orders('cancel');
    }
    const keys = (share: number): readonly string[] =>
      [...state.rows].flatMap(([key, { record }]) =>
        record.status === 'done' && chance.happens(share, 'redo', run, key) ? [key] : [],
      );
    lastOrder = what === 'same' ? lastOrder : { keys: keys(what.share), again: what.again };
    if (lastOrder === undefined || lastOrder.keys.length === 0) return;
    state.redos.add(lastOrder);
    auditor.orders(lastOrder);
  };

  let goesOn = true;
  for (const [n, run] of scenario.runs.entries()) {
    if (!goesOn) break;
    const { finds, inDoubt, order: what } = run;
    if (n > 0) {
      const name = n === 1 ? [] : [n];
      const isAlone = chance.happens(0.5, 'alone', ...name);
      const until = time.now + (isAlone ? 60_000 : chance.whole(0, 20_000, 'gap', ...name));
      while (time.now < until && time.next());
      if (finds) find(isAlone);
    }
    const missing = place.highest - state.counted;
    const { way } = scenario.runs[n - 1]?.restore ?? {};
    if (missing > 0 && way !== undefined && mutant !== 'trusts-copies') {
      auditor.refused += 1;
      if (way === 'put back') newest?.();
      else {
        auditor.goesOnWith(missing, way === 'find');
        if (way === 'find') find(true);
        state.counted += missing;
      }
    }
    if (what !== undefined) order(n, what);
    auditor.mayRetry = inDoubt === 'retry';
    goesOn = play(n + 1, run);
  }
  if (goesOn) auditor.checkEnd(plan, cells);
  const { submits, inDoubt, neverSent, cuts, longCuts, twice, ordered, restores, refused, broken } = auditor;
  return { submits, inDoubt, neverSent, kills, cuts, longCuts, twice, ordered, restores, refused, broken };
}

const isOpen = ({ status }: JobRecord): boolean => !isSettled(status);

/** True for a job that takes up room on the service. */
const isTask = ({ status, request }: JobRecord): boolean =>
  !isTextRequest(request) && (status === 'submitting' || status === 'running' || status === 'modal');

export interface WorkersSearched {
  readonly seeds: number;
  readonly submits: number;
  readonly inDoubt: number;
  readonly neverSent: number;
  readonly kills: number;
  readonly cuts: number;
  readonly longCuts: number;
  readonly twice: number;
  readonly ordered: number;
  readonly restores: number;
  readonly refused: number;
  /** How many promises were broken in the seed that was found, by what that costs. */
  readonly found?: { readonly seed: number; readonly first: string } & Readonly<Record<Cost, number>>;
}

/**
 * Plays seeds until one breaks a promise; with a mutant, until that costs something: what is paid twice or lost.
 *
 * @param workers how many; absent: 2 to 4, by the seed
 */
export async function searchWorkers(
  from: number,
  count: number,
  {
    workers,
    mutant,
    draw = drawWorkers,
  }: {
    readonly workers?: number;
    readonly mutant?: WorkersMutant;
    readonly draw?: (seed: number, workers?: number) => WorkersScenario;
  } = {},
): Promise<WorkersSearched> {
  const sums = {
    submits: 0,
    inDoubt: 0,
    neverSent: 0,
    kills: 0,
    cuts: 0,
    longCuts: 0,
    twice: 0,
    ordered: 0,
    restores: 0,
    refused: 0,
  };
  for (let seed = from; seed < from + count; seed++) {
    const { broken, ...outcome } = await simulateWorkers(draw(seed, workers), mutant);
    for (const what of Object.keys(sums) as (keyof typeof sums)[]) sums[what] += outcome[what];
    const first = broken.find(({ cost }) => mutant === undefined || cost !== 'nothing');
    if (first === undefined) continue;
    const times = { duplicated: 0, lost: 0, nothing: 0 };
    for (const { cost } of broken) times[cost] += 1;
    return { seeds: seed - from + 1, ...sums, found: { seed, first: first.what, ...times } };
  }
  return { seeds: count, ...sums };
}
