/** Spans of time in which services count requests, ms. */
const windowsMs = [60_000, 10_000, 1000] as const;

/** A request that left, and what became of it. Moments are Unix ms. */
export interface Trace {
  readonly at: number;
  /** Undefined while no answer has come. */
  isRefused?: boolean;
  /** It was broken off while it was worked on. */
  isCut?: boolean;
  /** When it was refused, or its work ended; infinite while it is under way. */
  endedAt: number;
}

/** What tells the refused requests from those that are served. `share`: of those that it does not explain, so many are refused. */
export type Explanation =
  /** So many at once are served. */
  | { readonly by: 'beside'; readonly most: number; readonly share: number }
  /** So many within a span of time are served. */
  | { readonly by: 'rate'; readonly count: number; readonly perMs: number; readonly share: number };

/** With such odds, as logarithms, an explanation is believed; a window costs little to try, but not for one refusal. */
const firstGain = { beside: 2, rate: 7 } as const;

/** So many refusals that nothing explains come by chance. */
export const fewestByChance = 4;
/** Of what fits at once, so much is refused at most. */
const oddShare = 0.06;

interface Split {
  /** Values from this one on are refused more. */
  readonly from: number;
  /** Logarithm of the odds against chance. */
  readonly gain: number;
  /** The refused part below; and the same, 0 where it is of few. */
  readonly below: number;
  readonly share: number;
}

/**
 * Finds the number that tells refused requests from served ones best: how many others were being worked on, or how many had left
 * within a span of time. Refusals by chance are told by none.
 *
 * @param traces in the order in which they left, up to the last one
 * @param times when all that were not refused left, in order
 * @param presumedMs a request without an answer for so long is not refused
 * @returns undefined: nothing tells them
 */
export function explain(
  traces: readonly Trace[],
  times: readonly number[],
  now: number,
  presumedMs: number,
  leastGain: { readonly beside: number; readonly rate: number } = firstGain,
): Explanation | undefined {
  /** How many that were not refused had left before each. */
  const places = new Map<Trace, number>();
  let place = times.length;
  for (const one of traces.toReversed()) {
    if (one.isRefused !== true) place -= 1;
    places.set(one, place);
  }
  // A refusal is known sooner than that a request is served.
  const known = traces.filter(({ at }) => now - at >= presumedMs);
  const isLone = known.filter(({ isRefused }) => isRefused === true).length < 2;
  const split = (numberOf: (one: Trace) => number): Split | undefined => {
    const best = bestSplit(known.map((one) => [numberOf(one), one.isRefused === true]));
    return best !== undefined && best.from >= 1 ? best : undefined;
  };
  const beside = split((one) => besideOf(one, known));
  const least = isLone ? leastGain.rate : leastGain.beside;
  const isWindow = beside !== undefined && beside.gain >= least && beside.below <= oddShare;
  let found: Explanation | undefined = isWindow
    ? { by: 'beside', most: beside.from, share: beside.share }
    : undefined;
  let gain = isWindow ? beside.gain : 0;
  // Where spans tell equally well, it is the longest: a run that has just begun has seen no more.
  for (const perMs of windowsMs) {
    const rate = split((one) => (places.get(one) ?? 0) - leftUpTo(times, one.at - perMs));
    if (rate === undefined || rate.gain < Math.max(leastGain.rate, gain + 1e-9)) continue;
    gain = rate.gain;
    found = { by: 'rate', count: rate.from, perMs, share: rate.share };
  }
  return found;
}

/** How many of these moments, in order, are not after this one. */
export function leftUpTo(times: readonly number[], at: number): number {
  let [from, to] = [0, times.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((times[middle] as number) > at) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** How many were worked on beside this one: of those that were not refused, when it left; of all, when it was broken off. */
function besideOf(one: Trace, known: readonly Trace[]): number {
  const moment = one.isCut === true ? one.endedAt : one.at;
  let count = 0;
  let isBefore = true;
  for (const other of known) {
    if (other === one) isBefore = false;
    else if ((other.isRefused !== true || one.isCut === true) && other.endedAt > moment)
      if (other.at < moment || (other.at === moment && (isBefore || one.isRefused === true))) count += 1;
  }
  return count;
}

function bestSplit(values: readonly (readonly [value: number, isRefused: boolean])[]): Split | undefined {
  const sorted = values.toSorted(([a], [b]) => a - b);
  const all = sorted.length;
  const refused = sorted.filter(([, isRefused]) => isRefused).length;
  const whole = likelihood(refused, all);
  let best: Split | undefined;
  let below = 0;
  for (let at = 1; at < all; at += 1) {
    below += Number(sorted[at - 1]?.[1]);
    const value = sorted[at]?.[0] ?? 0;
    if (value === sorted[at - 1]?.[0] || below / at >= (refused - below) / (all - at)) continue;
    const gain = likelihood(below, at) + likelihood(refused - below, all - at) - whole;
    if (gain > (best?.gain ?? 0))
      best = { from: value, gain, below: below / at, share: below < fewestByChance ? 0 : below / at };
  }
  return best;
}

/** Logarithm of the likelihood of so many refusals, at the share that fits them best. */
function likelihood(refused: number, all: number): number {
  const of = (part: number): number => (part === 0 ? 0 : part * Math.log(part / all));
  return of(refused) + of(all - refused);
}
