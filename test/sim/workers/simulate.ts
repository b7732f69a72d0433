import { FencedState } from '../../rig/fenced/fenced-state.ts';
import { Gateway } from '../../rig/gateway/gateway.ts';
import { plainTemper, type Temper } from '../../rig/gateway/temper.ts';
import { planOf } from '../../rig/plan.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { Chance } from '../chance.ts';
import { epoch } from '../outset.ts';
import { type Broken, type Cost, WorkersAuditor } from './auditor.ts';
import { Queue } from './queue.ts';
import { drawWorkers, pipelineOf, type WorkersScenario } from './scenario.ts';
import { Timeline } from './timeline.ts';
import { SimWorker, type WorkersMutant, type World } from './worker.ts';

export interface WorkersOutcome {
  readonly broken: readonly Broken[];
  readonly submits: number;
  readonly inDoubt: number;
  /** Of these, what certainly never left. */
  readonly neverSent: number;
  readonly kills: number;
}

/** From then on nothing goes wrong any more, so that a history comes to its end. */
const troubledMs = 600_000;
const longestMs = 24 * 3_600_000;
const mostEvents = 400_000;

const plans = new Map<string, ReturnType<typeof planOf>>();

function temperOf({ unaccepted, failing, seed }: WorkersScenario): Temper {
  const chance = new Chance(seed);
  return {
    ...plainTemper,
    submitFault: (_route, _key, n) =>
      chance.happens(unaccepted, 'submit', n)
        ? chance.pick(['429', 'code-23', 'refused', '503'] as const, 'submit', 'fault', n)
        : undefined,
    latencyMs: (route, n) =>
      route === 'text' ? chance.whole(200, 20_000, 'thinking', n) : chance.whole(20, 3000, 'latency', n),
    durationMs: (_key, name) => chance.whole(1000, 60_000, 'duration', name),
    end: (key, name) => (chance.happens(failing, 'fails', key, name) ? 'transient' : 'success'),
  };
}

/** Plays one history of several workers. */
export async function simulateWorkers(
  scenario: WorkersScenario,
  mutant?: WorkersMutant,
): Promise<WorkersOutcome> {
  const text = pipelineOf(scenario);
  const { plan, cells } = await (plans.get(text) ?? plans.set(text, planOf(text)).get(text) ?? planOf(text));
  const chance = new Chance(scenario.seed);
  const time = new Timeline(epoch);
  const state = new FencedState(mutant === 'no-epoch' || mutant === 'no-claim' ? mutant : undefined);
  const gateway = new Gateway(temperOf(scenario));
  const auditor = new WorkersAuditor(state, gateway.tasks, time);
  const workers: SimWorker[] = [];
  let kills = 0;
  const world: World = {
    scenario,
    settings: virtualSettings({
      limits: { tasks: scenario.tasks, requests: 8 },
      retry: { ...virtualSettings().retry, resubmits: 20, attempts: 20 },
    }),
    plan,
    time,
    chance,
    state,
    queue: new Queue(cells, scenario, time, chance, epoch + troubledMs),
    gateway,
    auditor,
    mutant,
    calmAt: epoch + troubledMs,
    onKilled: () => {
      kills += 1;
      time.after(chance.whole(100, 10_000, 'comes', kills), () => begin());
    },
  };
  const begin = (): void => {
    workers.push(new SimWorker(`worker ${workers.length + 1}`, world));
  };
  for (let n = 0; n < scenario.workers; n++) time.after(n * 10, begin);
  const hasEnded = (): boolean => workers.length > 0 && workers.every((one) => one.isDead || one.hasEnded);
  let isEndless = false;
  while (!isEndless && !(world.queue.isDone && hasEnded()) && time.next())
    isEndless = time.now > epoch + longestMs || time.count > mostEvents;
  if (isEndless) auditor.breaks('nothing', 'The run does not end.');
  else {
    if (!world.queue.isDone) auditor.breaks('nothing', 'The run stands still.');
    auditor.checkEnd(plan, cells);
  }
  const { submits, inDoubt, neverSent, broken } = auditor;
  return { submits, inDoubt, neverSent, kills, broken };
}

export interface WorkersSearched {
  readonly seeds: number;
  readonly submits: number;
  readonly inDoubt: number;
  readonly neverSent: number;
  readonly kills: number;
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
  { workers, mutant }: { readonly workers?: number; readonly mutant?: WorkersMutant } = {},
): Promise<WorkersSearched> {
  const sums = { submits: 0, inDoubt: 0, neverSent: 0, kills: 0 };
  for (let seed = from; seed < from + count; seed++) {
    const { broken, ...outcome } = await simulateWorkers(drawWorkers(seed, workers), mutant);
    for (const what of ['submits', 'inDoubt', 'neverSent', 'kills'] as const) sums[what] += outcome[what];
    const first = broken.find(({ cost }) => mutant === undefined || cost !== 'nothing');
    if (first === undefined) continue;
    const times = { duplicated: 0, lost: 0, nothing: 0 };
    for (const { cost } of broken) times[cost] += 1;
    return { seeds: seed - from + 1, ...sums, found: { seed, first: first.what, ...times } };
  }
  return { seeds: count, ...sums };
}
