import type { Sightings } from '../../machine/job.ts';
import { binOf, bins, DurationHistogram, edge, logMiddle, spreadOver } from './durations.ts';
import type { ProgressMap } from './progress-map.ts';

/** Mean delay between the end of a task and the poll that shows it, as a share of the kind's typical duration. */
const delayShare = 0.03;
/** Interval between polls of an unknown kind, as a share of the task's age. */
const unknownShare = 0.25;
/** Multiple of the typical duration beyond which nothing is known of a task. Poll intervals then grow with its age. */
const lateFactor = 4;
/** Number of ends that the two histograms of a kind cover: a long one, and a short one that follows changes of the service's load. */
const remembered = { long: 80, short: 8 } as const;
/** Narrower kernel width, as a share, for a kind whose durations form several narrow groups. */
const narrowFactor = 0.25;
/** Initial weights of the distributions: long memory, short memory, narrow groups, broader class. */
const priorShares: readonly number[] = [0.4, 0.2, 0.15, 0.25];
/** Share of the initial weights that is mixed in again with each end, so that no distribution is ruled out for good. */
const forgetting = 0.02;
/** Width of the broader distribution around its typical duration, in logarithms. */
const broadScale = 0.35;
/** Share of the posterior distribution that ignores the progress. */
const disbelief = 1e-4;

/** Saved durations of a kind. */
export interface KeptKind {
  /** Total number of ends. */
  readonly ends: number;
  readonly counts: readonly (readonly [bin: number, weight: number])[];
}

/** Poll times of a kind, computed from one state of the model. */
interface Schedule {
  readonly probability: Float64Array;
  /** Cumulated number of polls up to each bin edge. */
  readonly polls: Float64Array;
  /** Factor from the square root of the hazard, per ms, to polls per ms. */
  readonly density: number;
  readonly lateMs: number;
}

/**
 * Learns how long tasks of a kind take, and decides when to poll one. It mixes several distributions, weighted by how well they predicted
 * earlier ends: recent tasks, all tasks, all tasks in narrow groups, and the tasks of a broader class.
 *
 * An early poll costs a request, a late poll costs the time since the end. For a probability density of ends f(t) and a share of unfinished
 * tasks S(t), the sum of both costs is lowest where the density of polls is proportional to the square root of the hazard f(t) / S(t). The
 * factor follows from the intended mean delay.
 */
export class KindModel {
  readonly #long = new DurationHistogram(remembered.long);
  readonly #short = new DurationHistogram(remembered.short);
  /** The model of all tasks of a broader class. */
  readonly #broader: KindModel | undefined;
  #shares = priorShares;
  #ends = 0;
  /** Number of ends since the distribution was last computed. */
  #fresh = 0;
  #parts: readonly Float64Array[] | undefined;
  #schedule: Schedule | undefined;

  constructor(broader?: KindModel) {
    this.#broader = broader;
  }

  /** Number of learned ends, including those of earlier runs. */
  get ends(): number {
    return this.#ends;
  }

  get isKnown(): boolean {
    return this.#ends > 0 || this.#broader?.isKnown === true;
  }

  get kept(): KeptKind {
    return { ends: this.#ends, counts: this.#long.counts };
  }

  /** Restores what an earlier run learned. Part of it is forgotten, because the load of the service may have changed. */
  restore({ ends, counts }: KeptKind): void {
    this.#long.restore(counts, Math.min(ends, remembered.long / 2));
    this.#short.restore(counts, Math.min(ends, remembered.short / 2));
    this.#ends = ends;
    this.#parts = undefined;
  }

  /** Notes that a task ended between two of its ages, ms, at both of which it was polled. */
  learn(afterMs: number, byMs: number): void {
    if (this.#ends > 0) this.#weigh(afterMs, byMs);
    this.#long.add(afterMs, byMs);
    this.#short.add(afterMs, byMs);
    this.#ends += 1;
    this.#fresh += 1;
    this.#broader?.learn(afterMs, byMs);
  }

  /** Returns the share of tasks that are unfinished at an age. */
  survival(ageMs: number): number {
    if (!this.isKnown) return 1;
    const { probability } = this.#scheduled();
    const at = binOf(ageMs);
    let sum = 0;
    for (let bin = at + 1; bin < bins; bin++) sum += probability[bin] as number;
    const within = (ageMs - edge(at)) / (edge(at + 1) - edge(at));
    return sum + (1 - Math.max(0, Math.min(1, within))) * (probability[at] as number);
  }

  /** Returns the age at which to poll a task next that was unfinished at `ageMs`, ms. */
  nextAge(ageMs: number, seen: Sightings, map: ProgressMap): number {
    if (!this.isKnown) return ageMs * (1 + unknownShare);
    const schedule = this.#scheduled();
    const level = seen.at(-1);
    // A progress of 0 predicts nothing: it may stay 0 to the end.
    if (level !== undefined && level[0] > 0) return afterProgress(schedule, ageMs, seen, map);
    const { polls } = schedule;
    const at = binOf(ageMs);
    const within = Math.max(0, Math.min(1, (ageMs - edge(at)) / (edge(at + 1) - edge(at))));
    const next = interpolate(polls[at] as number, polls[at + 1] as number, within) + 1;
    if ((polls[bins] as number) <= next) return ageMs * (1 + unknownShare);
    let [low, high] = [at, bins];
    while (high - low > 1) {
      const half = (low + high) >> 1;
      if ((polls[half] as number) <= next) low = half;
      else high = half;
    }
    const [before, after] = [polls[low] as number, polls[low + 1] as number];
    return interpolate(edge(low), edge(low + 1), (next - before) / (after - before));
  }

  /** Increases the weights of the distributions that predicted this end best. */
  #weigh(afterMs: number, byMs: number): void {
    const foretold = this.#distributions().map((distribution) => {
      let likely = 1e-9;
      // An even spread over the interval, as for counting the ends.
      spreadOver(afterMs, byMs, (bin, part) => {
        likely += part * (distribution[bin] as number);
      });
      return likely;
    });
    const weights = this.#shares.map((share, at) => share * (foretold[at] as number));
    const sum = weights.reduce((all, weight) => all + weight, 0);
    this.#shares = weights.map(
      (weight, at) => (1 - forgetting) * (weight / sum) + forgetting * (priorShares[at] as number),
    );
  }

  /** The mixed distributions, in the order of their weights; computed again after enough new ends. */
  #distributions(): readonly Float64Array[] {
    const isStale = this.#fresh > 0 && this.#fresh >= Math.min(this.#ends, remembered.long) / 16;
    if (this.#parts !== undefined && !isStale) return this.#parts;
    this.#fresh = 0;
    this.#schedule = undefined;
    this.#parts = [
      this.#long.smoothed(),
      this.#short.smoothed(),
      this.#long.smoothed(narrowFactor),
      this.#broad(),
    ];
    return this.#parts;
  }

  /** The broader class's distribution, or else a wide one around the typical duration. */
  #broad(): Float64Array {
    const wider = this.#broader?.isKnown === true ? this.#broader.#scheduled().probability : undefined;
    if (this.#ends === 0) return wider ?? new Float64Array(bins);
    const typical = Math.log(this.#long.typicalMs);
    const own = new Float64Array(bins);
    let sum = 0;
    for (let bin = 0; bin < bins; bin++) {
      own[bin] = Math.exp(-Math.abs(logMiddle(bin) - typical) / broadScale);
      sum += own[bin] as number;
    }
    for (let bin = 0; bin < bins; bin++) {
      const share = (own[bin] as number) / sum;
      own[bin] = wider === undefined ? share : (share + (wider[bin] as number)) / 2;
    }
    return own;
  }

  #scheduled(): Schedule {
    const parts = this.#distributions();
    if (this.#schedule !== undefined) return this.#schedule;
    const shares = this.#ends === 0 ? [0, 0, 0, 1] : this.#shares;
    const probability = new Float64Array(bins);
    for (const [at, share] of shares.entries()) {
      const part = parts[at] as Float64Array;
      for (let bin = 0; bin < bins; bin++)
        probability[bin] = (probability[bin] as number) + share * (part[bin] as number);
    }
    this.#schedule = scheduleOf(probability);
    return this.#schedule;
  }
}

const interpolate = (from: number, to: number, share: number): number => from + share * (to - from);

/** Geometric mean of a distribution, ms. */
function typicalOf(probability: Float64Array): number {
  let [sum, weight] = [0, 0];
  for (let bin = 0; bin < bins; bin++) {
    sum += (probability[bin] as number) * logMiddle(bin);
    weight += probability[bin] as number;
  }
  return Math.exp(sum / weight);
}

function scheduleOf(probability: Float64Array): Schedule {
  const typicalMs = typicalOf(probability);
  const lateMs = lateFactor * typicalMs;
  const roots = new Float64Array(bins);
  // With a density of c × √(f / S), the mean delay is ∫ √(f S) / 2c.
  let integral = 0;
  let unfinished = probability.reduce((all, one) => all + one, 0);
  for (let bin = 0; bin < bins; bin++) {
    const share = probability[bin] as number;
    const middleShare = unfinished - share / 2;
    unfinished -= share;
    if (middleShare < 1e-9) break;
    const ms = edge(bin + 1) - edge(bin);
    roots[bin] = Math.sqrt(share / ms / middleShare) * lateWeight(bin, lateMs);
    if (edge(bin) < lateMs) integral += Math.sqrt(share * middleShare * ms);
  }
  const density = integral / (2 * delayShare * typicalMs);
  const polls = new Float64Array(bins + 1);
  for (let bin = 0; bin < bins; bin++)
    polls[bin + 1] = (polls[bin] as number) + density * (roots[bin] as number) * (edge(bin + 1) - edge(bin));
  return { probability, polls, density, lateMs };
}

/** The cost of a delay falls with the age of a task that is long overdue. */
const lateWeight = (bin: number, lateMs: number): number =>
  edge(bin) <= lateMs ? 1 : Math.sqrt(lateMs / edge(bin));

/** Next poll of a task that shows progress: the distribution is multiplied by the likelihood of that progress for each duration. */
function afterProgress(
  { probability, density, lateMs }: Schedule,
  ageMs: number,
  seen: Sightings,
  map: ProgressMap,
): number {
  const [level, firstMs, lastMs] = seen.at(-1) as Sightings[number];
  const before = seen.at(-2);
  const from = binOf(ageMs);
  const [first, last] = [binOf(firstMs), binOf(lastMs)];
  const earlier = before === undefined ? 0 : binOf(before[2]);
  const posterior = new Float64Array(bins);
  let unfinished = 0;
  for (let bin = from; bin < bins; bin++) {
    const share = probability[bin] as number;
    if (share < 1e-7) continue;
    let likely = map.likelihood(level, first, bin);
    if (before !== undefined) likely *= map.likelihood(before[0], earlier, bin);
    if (last > first) likely *= map.likelihood(level, last, bin);
    const left = bin === from ? (edge(bin + 1) - ageMs) / (edge(bin + 1) - edge(bin)) : 1;
    posterior[bin] = share * Math.max(0.05, Math.min(1, left)) * (likely + disbelief);
    unfinished += posterior[bin] as number;
  }
  let due = 0;
  for (let bin = from; bin < bins; bin++) {
    const share = posterior[bin] as number;
    const begin = Math.max(ageMs, edge(bin));
    const ms = edge(bin + 1) - begin;
    const middleShare = unfinished - share / 2;
    unfinished -= share;
    if (ms <= 0 || middleShare <= 0) continue;
    const more = density * Math.sqrt(share / ms / middleShare) * lateWeight(bin, lateMs) * ms;
    if (due + more >= 1) return begin + (ms * (1 - due)) / more;
    due += more;
  }
  return ageMs * (1 + unknownShare);
}
