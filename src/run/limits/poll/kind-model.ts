import type { Sightings } from '../../machine/job.ts';
import { binOf, bins, DurationHistogram, edge, logMiddle, spreadOver } from './durations.ts';
import type { ProgressMap } from './progress-map.ts';

/** Mean time from the end of a task to its notice that polls are spent for, as a share of what is typical for its kind. */
const delayShare = 0.03;
/** Poll of a kind of which nothing is known: again after this share of the age. */
const unknownShare = 0.25;
/** Beyond this many times what is typical nothing is known of a task: a delay then counts by its age, so polls follow the age. */
const lateFactor = 4;
/** Ends that the two memories of a kind know about: a long one, and a short one that follows a change of the service's load. */
const remembered = { long: 80, short: 8 } as const;
/** Of several narrow groups of durations the kernel of all is too wide: the long memory is also taken with a part of its width. */
const narrowFactor = 0.25;
/** What long memory, short memory, narrow groups and broader distribution count for before ends have shown which is right. */
const priorShares: readonly number[] = [0.4, 0.2, 0.15, 0.25];
/** How much of that is mixed in again with each end, so that no one of them is out for good. */
const forgetting = 0.02;
/** How quickly durations get unlikely to both sides of the typical one in the broader distribution, by their logarithm. */
const broadScale = 0.35;
/** How much of a posterior distribution never believes in progress. */
const disbelief = 1e-4;

/** What was learned of a kind, as it is kept. */
export interface KeptKind {
  /** Ends in all. */
  readonly ends: number;
  readonly counts: readonly (readonly [bin: number, weight: number])[];
}

/** The times of polls of a kind, from what is known at one moment. */
interface Schedule {
  readonly probability: Float64Array;
  /** Polls that are due until each edge. */
  readonly polls: Float64Array;
  /** Factor from the square root of the hazard, per ms, to polls a ms. */
  readonly density: number;
  readonly lateMs: number;
}

/**
 * How long tasks of a kind take, and when to poll one. Several distributions are mixed by how well they foretold the ends so far: what
 * was seen lately, what was seen for long, the latter in narrow groups, and what tasks of a broader class do.
 *
 * A poll that comes too early costs a request, one that comes late costs the time since the end. For a probability density of ends
 * f(t) and a share of tasks S(t) that are not finished at t, the sum of both costs is least where the density of polls is
 * proportional to the square root of the hazard f(t) / S(t). The factor is set by the mean delay that is wanted.
 */
export class KindModel {
  readonly #long = new DurationHistogram(remembered.long);
  readonly #short = new DurationHistogram(remembered.short);
  /** The model of all tasks of a broader class. */
  readonly #broader: KindModel | undefined;
  #shares = priorShares;
  #ends = 0;
  /** Ends since the distribution was last computed. */
  #fresh = 0;
  #parts: readonly Float64Array[] | undefined;
  #schedule: Schedule | undefined;

  constructor(broader?: KindModel) {
    this.#broader = broader;
  }

  /** Ends that it has learned of, those of earlier runs too. */
  get ends(): number {
    return this.#ends;
  }

  get isKnown(): boolean {
    return this.#ends > 0 || this.#broader?.isKnown === true;
  }

  get kept(): KeptKind {
    return { ends: this.#ends, counts: this.#long.counts };
  }

  /** Takes over what an earlier run has learned; a good part of it is forgotten, as the load of the service may have changed. */
  restore({ ends, counts }: KeptKind): void {
    this.#long.restore(counts, Math.min(ends, remembered.long / 2));
    this.#short.restore(counts, Math.min(ends, remembered.short / 2));
    this.#ends = ends;
    this.#parts = undefined;
  }

  /** Notes the end of a task, which came between two of its ages, ms: it was polled at both. */
  learn(afterMs: number, byMs: number): void {
    if (this.#ends > 0) this.#weigh(afterMs, byMs);
    this.#long.add(afterMs, byMs);
    this.#short.add(afterMs, byMs);
    this.#ends += 1;
    this.#fresh += 1;
    this.#broader?.learn(afterMs, byMs);
  }

  /** The share of tasks that are not finished at this age. */
  survival(ageMs: number): number {
    if (!this.isKnown) return 1;
    const { probability } = this.#scheduled();
    const at = binOf(ageMs);
    let sum = 0;
    for (let bin = at + 1; bin < bins; bin++) sum += probability[bin] as number;
    const within = (ageMs - edge(at)) / (edge(at + 1) - edge(at));
    return sum + (1 - Math.max(0, Math.min(1, within))) * (probability[at] as number);
  }

  /** The age at which a task that was not finished at `ageMs` is to be polled next, ms. */
  nextAge(ageMs: number, seen: Sightings, map: ProgressMap): number {
    if (!this.isKnown) return ageMs * (1 + unknownShare);
    const schedule = this.#scheduled();
    const level = seen.at(-1);
    // A progress that has not moved yet says nothing: it may stand still to the end.
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

  /** Shifts the shares of the distributions to those that held this end for likely. */
  #weigh(afterMs: number, byMs: number): void {
    const foretold = this.#distributions().map((distribution) => {
      let likely = 1e-9;
      // An even spread over the interval, as the ends themselves are counted.
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

  /** Those that are mixed, in the order of their shares; computed again once enough ends have come. */
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

  /** Anything may happen, but less likely the farther it is from what is typical here; or what the broader class says. */
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

/** The logarithmic mean of a distribution, ms. */
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

/** The same for a task that shows progress: the distribution is narrowed by how likely that progress is for each duration. */
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
