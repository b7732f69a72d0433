import { seededRandom, virtualSettings } from '../../rig/virtual-run.ts';
import { grid, world } from '../../rig/world.ts';
import type { Bench } from '../comparison.ts';
import { bimodal, chance, doubledFrom, spread, stuck, type Workload } from './workloads.ts';

/** The upper bound of the polling interval is out of the way: what is compared is the pace. */
const freely = { minMs: 1000, maxMs: 120_000 };

/** Polls of a task and ms from its end to the poll that shows it, on average. */
interface PollCost {
  readonly polls: number;
  readonly lateMs: number;
}

interface Order {
  readonly pipeline: string;
  readonly workload: Workload;
  readonly tasks: number;
  /** Tasks that only teach: those before this one do not count. */
  readonly countedFrom?: number;
}

/** One run is a sample of a few hundred tasks: the figures are means over some of them. */
const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
const latencyMs = 100;

/** Requests and lateness of a task of runs in virtual time, on average. */
async function measured(order: Order): Promise<PollCost> {
  let [polls, lateMs] = [0, 0];
  for (const seed of seeds) {
    const run = await measuredRun(order, seed);
    polls += run.polls / seeds.length;
    lateMs += run.lateMs / seeds.length;
  }
  return { polls, lateMs };
}

async function measuredRun(
  { pipeline, workload, tasks, countedFrom = 1 }: Order,
  seed: number,
): Promise<PollCost> {
  const numbers = new Map<string, number>();
  const ended = new Map<string, number>();
  let polls = 0;
  const numberOf = (taskId: string): number => {
    if (!numbers.has(taskId))
      for (const [at, id] of [...service.tasks.keys()].entries()) numbers.set(id, at + 1);
    return numbers.get(taskId) ?? 0;
  };
  const { run, service } = await world(pipeline, {
    duration: ({ number }) => workload.durationMs(number, chance(seed, number)),
    onFetch: (taskId, _, at) => {
      const task = service.tasks.get(taskId);
      // A parent is read for its buttons after its end was noticed: that is no poll.
      if (task === undefined || ended.has(taskId) || numberOf(taskId) < countedFrom) return undefined;
      polls += 1;
      if (at >= task.endsAt) ended.set(taskId, at - task.endsAt);
      return undefined;
    },
  });
  const settings = virtualSettings({ poll: freely, timeouts: { taskMs: 3_600_000 } });
  run({ settings, random: seededRandom(seed), latency: () => latencyMs });
  const counted = tasks - countedFrom + 1;
  if (ended.size !== counted) throw new Error(`${ended.size} ends instead of ${counted}.`);
  const lateMs = [...ended.values()].reduce((sum, late) => sum + late, 0);
  return { polls: polls / counted, lateMs: lateMs / counted };
}

/** Polls at a fixed interval from the submission on that notices the ends of the same tasks equally late on average. */
function fixed({ workload, tasks, countedFrom = 1 }: Order, lateMs: number): PollCost {
  const durations = seeds.flatMap((seed) =>
    Array.from({ length: tasks - countedFrom + 1 }, (_, at) =>
      workload.durationMs(countedFrom + at, chance(seed, countedFrom + at)),
    ),
  );
  const at = (intervalMs: number): PollCost => {
    let [polls, late] = [0, 0];
    for (const duration of durations) {
      const count = Math.ceil(duration / intervalMs);
      polls += count;
      late += count * intervalMs - duration;
    }
    return { polls: polls / durations.length, lateMs: late / durations.length };
  };
  let [low, high] = [lateMs / 2, lateMs * 4];
  for (let step = 0; step < 40; step++) {
    const half = Math.sqrt(low * high);
    if (at(half).lateMs < lateMs) low = half;
    else high = half;
  }
  return at(low);
}

const against = (asks: string, most: number, order: Order): Bench => ({
  asks: `${asks}: polls of a task, against a fixed interval that notices the end equally late`,
  allowed: { ratioAtMost: most },
  rounds: 1,
  warmUp: false,
  prepare: () => {
    let ours: PollCost | undefined;
    const learned = async (): Promise<PollCost> => (ours ??= await measured(order));
    return {
      unit: 'polls per task',
      left: { name: 'learned', measure: async () => (await learned()).polls },
      right: {
        name: 'fixed',
        measure: async () => fixed(order, (await learned()).lateMs).polls,
      },
    };
  },
});

const known = (sigma: number, most: number): Bench =>
  against(`after 20 ends, sigma ${sigma}`, most, {
    pipeline: grid(332),
    workload: spread(sigma),
    tasks: 332,
    // Of the tasks that are in flight when the 20th ends, some polls were made before.
    countedFrom: 33,
  });

/** Three kinds of tasks: a grid, an upscale, a variation. */
const threeKinds = (sigma: number): Order => ({
  pipeline: grid(100, 'U1 → Vary (Strong)'),
  workload: spread(sigma),
  tasks: 300,
});
const one = (workload: Workload): Order => ({ pipeline: grid(300), workload, tasks: 300 });

/** In virtual time: the same figures on every machine. */
export const polls: Readonly<Record<string, Bench>> = {
  'poll-known-02': known(0.2, 0.42),
  'poll-known-035': known(0.35, 0.66),
  'poll-known-05': known(0.5, 0.9),
  'poll-cold-02': against('300 tasks of three kinds, begun cold, sigma 0.2', 0.4725, threeKinds(0.2)),
  'poll-cold-035': against('300 tasks of three kinds, begun cold, sigma 0.35', 0.7425, threeKinds(0.35)),
  'poll-cold-05': against('300 tasks of three kinds, begun cold, sigma 0.5', 0.972, threeKinds(0.5)),
  'poll-bimodal': against('half a minute or a minute and a half, begun cold', 1, one(bimodal)),
  'poll-doubled': against(
    'durations doubled in mid-run, sigma 0.35, begun cold',
    1,
    one(doubledFrom(151, 0.35)),
  ),
  'poll-stuck': against('5 % stuck for ten minutes, sigma 0.35, begun cold', 1.5, one(stuck(0.35))),
};
