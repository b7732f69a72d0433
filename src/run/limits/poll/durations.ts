/**
 * The time axis of everything that is learned about durations: bins whose width is 5 % of where they lie, from 50 ms to 5 h. What is
 * shorter is in the first bin, what is longer in the last one.
 */
export const bins = 256;
const width = 0.05;
const shortestMs = 50;
const logShortest = Math.log(shortestMs);

/** Where bin `i` begins, ms; the last entry is where the last bin ends. The first bin begins at 0. */
const edges = Float64Array.from({ length: bins + 1 }, (_, i) =>
  i === 0 ? 0 : shortestMs * Math.exp(width * i),
);

export const edge = (bin: number): number => edges[bin] as number;

/** The bin of a duration in ms. */
export function binOf(ms: number): number {
  if (ms <= shortestMs) return 0;
  return Math.min(bins - 1, Math.floor((Math.log(ms) - logShortest) / width));
}

const logMiddles = Float64Array.from({ length: bins }, (_, bin) =>
  Math.log(shortestMs * Math.exp(width * (bin + 0.5))),
);

/** The logarithm of a duration in the middle of a bin, in ms. */
export const logMiddle = (bin: number): number => logMiddles[bin] as number;

/** How much of an end that came between two durations, ms, falls into each bin; the parts of one call sum to 1. */
export function spreadOver(afterMs: number, byMs: number, each: (bin: number, part: number) => void): void {
  const first = binOf(afterMs);
  const last = binOf(byMs);
  const ms = byMs - afterMs;
  if (first === last || ms <= 0) return each(last, 1);
  let left = 1;
  for (let bin = first; bin < last; bin++) {
    const part = (edge(bin + 1) - Math.max(afterMs, edge(bin))) / ms;
    each(bin, part);
    left -= part;
  }
  each(last, Math.max(0, left));
}

/** How far a smoothed end lies from where it was seen, as long as little is known: a task may take a third more or less. */
const assumedSpread = 0.35;
/** Ends that the assumed spread counts for. */
const assumedEnds = 1.5;
/** The narrowest smoothing, as a share of a duration. */
const narrowest = 0.03;

/** Ends of tasks by how long the tasks took, the older the less they count. Its size does not grow with the ends. */
export class DurationHistogram {
  /** Factor on all earlier ends when one more comes. */
  readonly #keep: number;
  readonly #counts = new Float64Array(bins);
  #sum = 0;
  /** Sum of the squares of the weights of single ends. */
  #squares = 0;

  /** @param remembered of how many ends it knows, about */
  constructor(remembered: number) {
    this.#keep = 1 - 1 / remembered;
  }

  /** Takes over what was kept of an earlier one, counted as this many ends. */
  restore(counts: readonly (readonly [bin: number, weight: number])[], ends: number): void {
    const sum = counts.reduce((all, [, weight]) => all + weight, 0);
    if (sum <= 0) return;
    for (const [bin, weight] of counts)
      this.#counts[bin] = ((this.#counts[bin] as number) + weight * ends) / sum;
    this.#sum = ends;
    this.#squares = ends;
  }

  /** Notes an end that came between two durations, ms. */
  add(afterMs: number, byMs: number): void {
    const counts = this.#counts;
    for (let bin = 0; bin < bins; bin++) counts[bin] = (counts[bin] as number) * this.#keep;
    this.#sum = this.#sum * this.#keep + 1;
    this.#squares = this.#squares * this.#keep * this.#keep + 1;
    spreadOver(afterMs, byMs, (bin, part) => {
      counts[bin] = (counts[bin] as number) + part;
    });
  }

  get isEmpty(): boolean {
    return this.#sum === 0;
  }

  /** The weights of bins that have any. */
  get counts(): readonly (readonly [bin: number, weight: number])[] {
    return [...this.#counts].flatMap((weight, bin) => (weight > 0 ? [[bin, weight] as const] : []));
  }

  /** The duration that this share of the tasks did not outlast, ms. */
  quantile(share: number): number {
    let left = share * this.#sum;
    for (let bin = 0; bin < bins; bin++) {
      const weight = this.#counts[bin] as number;
      if (weight >= left && weight > 0) return edge(bin) + (left / weight) * (edge(bin + 1) - edge(bin));
      left -= weight;
    }
    return edge(bins);
  }

  /** Mean of the logarithms of the durations, as a duration in ms: what is typical, whatever a few stuck tasks do. */
  get typicalMs(): number {
    let sum = 0;
    for (let bin = 0; bin < bins; bin++) sum += (this.#counts[bin] as number) * (bin + 0.5);
    return shortestMs * Math.exp((width * sum) / this.#sum);
  }

  /**
   * The probability of each bin: the ends, each spread the wider the fewer they are (a Gaussian kernel by Silverman's rule).
   *
   * @param factor on the width of the kernel
   */
  smoothed(factor = 1): Float64Array {
    const smooth = new Float64Array(bins);
    if (this.isEmpty) return smooth;
    const ends = this.#sum ** 2 / this.#squares;
    const spread = this.#spread();
    const known = Math.sqrt((spread ** 2 * ends + assumedSpread ** 2 * assumedEnds) / (ends + assumedEnds));
    const kernel = gaussian(Math.max(narrowest, factor * 1.06 * known * ends ** -0.2) / width);
    const reach = (kernel.length - 1) / 2;
    for (let bin = 0; bin < bins; bin++) {
      const weight = (this.#counts[bin] as number) / this.#sum;
      if (weight < 1e-6) continue;
      for (let away = -reach; away <= reach; away++) {
        const to = Math.max(0, Math.min(bins - 1, bin + away));
        smooth[to] = (smooth[to] as number) + weight * (kernel[away + reach] as number);
      }
    }
    return smooth;
  }

  /** Standard deviation of the logarithms, or that of the middle half where a few are far off. */
  #spread(): number {
    const mean = Math.log(this.typicalMs);
    let squares = 0;
    for (let bin = 0; bin < bins; bin++) {
      const off = logShortest + width * (bin + 0.5) - mean;
      squares += (this.#counts[bin] as number) * off * off;
    }
    const half = Math.log(this.quantile(0.75) / Math.max(1, this.quantile(0.25))) / 1.349;
    return Math.min(Math.sqrt(squares / this.#sum), half);
  }
}

/** Weights of a Gaussian with this standard deviation in bins; they sum to 1. */
function gaussian(deviation: number): Float64Array {
  const reach = Math.ceil(3 * deviation);
  const weights = new Float64Array(2 * reach + 1);
  let sum = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = Math.exp(-0.5 * ((i - reach) / deviation) ** 2);
    weights[i] = weight;
    sum += weight;
  }
  for (let i = 0; i < weights.length; i++) weights[i] = (weights[i] as number) / sum;
  return weights;
}
