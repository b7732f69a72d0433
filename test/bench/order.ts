import { Heap } from '../../src/run/scheduler/queues.ts';
import { seededRandom } from '../rig/virtual-run.ts';

/** Work that follows from other work: the seconds that it takes, and what follows from it. */
export interface Task {
  readonly seconds: number;
  /** Expected seconds of the longest way from here to a leaf, this task included. */
  readonly ahead: number;
  readonly depth: number;
  readonly cell: number;
  readonly below: readonly Task[];
}

/** A kind of pipeline: what a cell's tasks are expected to take, and what follows from each. */
export interface Shape {
  readonly seconds: number;
  readonly below: readonly Shape[];
}

const chain = (...seconds: readonly number[]): Shape => ({
  seconds: seconds[0] ?? 0,
  below: seconds.length > 1 ? [chain(...seconds.slice(1))] : [],
});
const four = (of: Shape): readonly Shape[] => [of, of, of, of];

/** The pipelines of the comparison. */
export const shapes = {
  'grid → U1 → Vary': chain(60, 60, 60),
  'grid → U1 (1 s) → Vary': chain(60, 1, 60),
  'grid → U1..U4 → Vary': { seconds: 60, below: four(chain(60, 60)) },
  'grid → U1..U4': { seconds: 60, below: four(chain(20)) },
  'grid → eight in a row': chain(60, 30, 30, 30, 30, 30, 30, 30, 30),
} satisfies Record<string, Shape>;

/** Log-normal with mean 1. */
function factor(random: () => number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.exp(sigma * normal - (sigma * sigma) / 2);
}

const expected = ({ seconds, below }: Shape): number =>
  seconds + below.reduce((most, one) => Math.max(most, expected(one)), 0);

function drawn(shape: Shape, cell: number, random: () => number, sigma: number, depth = 0): Task {
  const seconds = shape.seconds * factor(random, sigma);
  const below = shape.below.map((one) => drawn(one, cell, random, sigma, depth + 1));
  return { seconds, ahead: expected(shape), depth, cell, below };
}

/** Whose turn it is: the least rank. `isLast`: all cells of the plan are known, and each may be opened at any time. */
export interface Rule {
  readonly rank: (task: Task, arrival: number, isLast: boolean) => readonly number[];
  /** New cells are opened while a task waits that could go instead. Default: they wait for a slot that nobody wants. */
  readonly opensAhead?: boolean;
  /** The same for this many times the slots, of the last cells of a plan. */
  readonly lastAhead?: number;
}

export const rules = {
  'deeper first': { rank: ({ depth, cell }) => [-depth, cell] },
  'first come': { rank: (_, arrival) => [arrival] },
  'shallower first': { rank: ({ depth, cell }) => [depth, cell], opensAhead: true },
  'longest way first': { rank: ({ ahead, cell }) => [-ahead, cell], opensAhead: true },
  'deeper, at the end longest way': {
    rank: ({ depth, ahead, cell }, _, isLast) => (isLast ? [-ahead, cell] : [-depth, cell]),
    lastAhead: 1,
  },
  // What a run does: see `ActiveJobs.beginEnd`.
  'deeper, at the end shallower': {
    rank: ({ depth, cell }, _, isLast) => [isLast ? depth : -depth, cell],
    lastAhead: 1,
  },
} satisfies Record<string, Rule>;

const before = (a: readonly number[], b: readonly number[]): boolean => {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at !== -1 && (a[at] ?? 0) < (b[at] ?? 0);
};

export interface Outcome {
  /** Makespan as a multiple of max(work / slots, longest chain). */
  readonly ratio: number;
  /** Most cells open at a time, as a multiple of the slots. */
  readonly open: number;
  /** When half of the cells were whole, as a part of the makespan. */
  readonly half: number;
}

/** Carries out all cells on so many slots, every end seen at once. */
export function carryOut(cells: readonly Task[], slots: number, rule: Rule): Outcome {
  const running = new Heap<{ readonly at: number; readonly task: Task }>((a, b) => a.at < b.at);
  let waiting: { readonly task: Task; readonly arrival: number }[] = [];
  const left = new Map<number, number>();
  const whole: number[] = [];
  let [now, next, arrivals, most] = [0, 0, 0, 0];
  const count = (task: Task): number => task.below.reduce((sum, one) => sum + count(one), 1);
  const ahead = rule.lastAhead === undefined ? 0 : rule.lastAhead * slots;
  const isLast = (): boolean => ahead > 0 && cells.length - next <= ahead;
  const open = (): void => {
    const task = cells[next];
    if (task === undefined) return;
    next += 1;
    left.set(task.cell, count(task));
    waiting.push({ task, arrival: (arrivals += 1) });
  };
  for (;;) {
    while (running.size < slots) {
      if (rule.opensAhead === true || isLast())
        while (next < cells.length && waiting.length < 4 * slots) open();
      if (waiting.length === 0) open();
      const last = isLast();
      const [first] = waiting;
      if (first === undefined) break;
      let best = first;
      for (const one of waiting)
        if (before(rule.rank(one.task, one.arrival, last), rule.rank(best.task, best.arrival, last)))
          best = one;
      waiting = waiting.filter((one) => one !== best);
      running.push({ at: now + best.task.seconds, task: best.task });
      most = Math.max(most, left.size);
    }
    const ended = running.pop();
    if (ended === undefined) break;
    now = ended.at;
    const { cell, below } = ended.task;
    const rest = (left.get(cell) ?? 1) - 1;
    if (rest > 0) left.set(cell, rest);
    else {
      left.delete(cell);
      whole.push(now);
    }
    for (const task of below) waiting.push({ task, arrival: (arrivals += 1) });
  }
  const work = (task: Task): number => task.below.reduce((sum, one) => sum + work(one), task.seconds);
  const longest = (task: Task): number =>
    task.seconds + task.below.reduce((far, one) => Math.max(far, longest(one)), 0);
  const bound = Math.max(
    cells.reduce((sum, cell) => sum + work(cell), 0) / slots,
    cells.reduce((far, cell) => Math.max(far, longest(cell)), 0),
  );
  return { ratio: now / bound, open: most / slots, half: (whole[whole.length >> 1] ?? now) / now };
}

/** The means over several draws of one rule and one pipeline. */
export function compare(shape: Shape, count: number, slots: number, sigma: number, rule: Rule): Outcome {
  const draws = 10;
  const sums = { ratio: 0, open: 0, half: 0 };
  for (let seed = 1; seed <= draws; seed += 1) {
    const random = seededRandom(seed);
    const cells = Array.from({ length: count }, (_, cell) => drawn(shape, cell, random, sigma));
    const { ratio, open, half } = carryOut(cells, slots, rule);
    sums.ratio += ratio / draws;
    sums.open += open / draws;
    sums.half += half / draws;
  }
  return sums;
}
