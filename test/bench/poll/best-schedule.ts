/** A distribution of durations: the share of tasks that have ended by a time in ms. */
export type Ended = (ms: number) => number;

/** Expected requests and lateness of one task. */
export interface PollCost {
  readonly polls: number;
  readonly lateMs: number;
}

/** The logarithm of the durations is normal; `mean` is the mean of the durations themselves. */
export function logNormal(meanMs: number, sigma: number): Ended {
  const mu = Math.log(meanMs) - sigma ** 2 / 2;
  return (ms) => (ms <= 0 ? 0 : normal((Math.log(ms) - mu) / sigma));
}

/** The normal distribution function, by the approximation 7.1.26 of Abramowitz and Stegun (error below 1.5e-7). */
function normal(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series =
    ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const half = (series * Math.exp(-x * x)) / 2;
  return z >= 0 ? 1 - half : half;
}

const cells = 1000;

/**
 * The best possible schedule for a known distribution: the fewest polls of all that notice the end this late on average. Found by
 * dynamic programming over moments on a grid, at the price of a millisecond that yields the wanted lateness.
 */
export function bestSchedule(ended: Ended, lateMs: number, longestMs: number): PollCost {
  let [low, high] = [1e-7, 10];
  let best = scheduleAt(ended, high, longestMs);
  for (let step = 0; step < 30; step++) {
    const price = Math.sqrt(low * high);
    best = scheduleAt(ended, price, longestMs);
    if (best.lateMs > lateMs) low = price;
    else high = price;
  }
  return best;
}

/** The cheapest schedule where a poll costs 1 and a millisecond of lateness costs `price`. */
function scheduleAt(ended: Ended, price: number, longestMs: number): PollCost {
  const step = longestMs / cells;
  const share = Float64Array.from({ length: cells + 1 }, (_, at) => (at === cells ? 1 : ended(at * step)));
  const moment = new Float64Array(cells + 1);
  for (let at = 1; at <= cells; at++)
    moment[at] = value(moment, at - 1) + (value(share, at) - value(share, at - 1)) * (at - 0.5) * step;
  /** Lateness of the tasks that end between two moments and are polled at the later one, weighted by their share. */
  const late = (from: number, to: number): number =>
    (value(share, to) - value(share, from)) * to * step - (value(moment, to) - value(moment, from));
  const cost = new Float64Array(cells + 1);
  const next = new Int32Array(cells + 1);
  for (let at = cells - 1; at >= 0; at--) {
    let least = Number.POSITIVE_INFINITY;
    for (let to = at + 1; to <= cells; to++) {
      const sum = price * late(at, to) + value(cost, to);
      if (sum < least) [least, next[at]] = [sum, to];
    }
    cost[at] = least + 1 - value(share, at);
  }
  let [polls, lateMs] = [0, 0];
  for (let at = 0; at < cells; ) {
    const to = value(next, at);
    polls += 1 - value(share, at);
    lateMs += late(at, to);
    at = to;
  }
  return { polls, lateMs };
}

const value = (array: ArrayLike<number>, at: number): number => array[at] as number;
