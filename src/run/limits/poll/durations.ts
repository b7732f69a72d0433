/**
 * The number of bins for durations. Each bin is 5 % wider than the one before, from 50 ms to 5 h. Shorter durations count in the first bin,
 * longer ones in the last.
 */
export const bins = 256;
const width = 0.05;
const shortestMs = 50;
const logShortest = Math.log(shortestMs);

/** Start of each bin, ms; the last entry is the end of the last bin. The first bin begins at 0. */
const edges = Float64Array.from({ length: bins + 1 }, (_, i) =>
  i === 0 ? 0 : shortestMs * Math.exp(width * i),
);

export const edge = (bin: number): number => edges[bin] as number;

/** Returns the bin of a duration in ms. */
export function binOf(ms: number): number {
  if (ms <= shortestMs) return 0;
  return Math.min(bins - 1, Math.floor((Math.log(ms) - logShortest) / width));
}

const logMiddles = Float64Array.from({ length: bins }, (_, bin) =>
  Math.log(shortestMs * Math.exp(width * (bin + 0.5))),
);

/** Returns the logarithm of the duration, in ms, in the middle of a bin. */
export const logMiddle = (bin: number): number => logMiddles[bin] as number;

/** Distributes a task's end, known to lie between two durations in ms, over the bins; the parts of one call sum to 1. */
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

/** Width of the smoothing while little is known: a task may take a third more or less. */
const assumedSpread = 0.35;
/** Number of ends that the assumed spread counts as. */
const assumedEnds = 1.5;
/** Smallest width of the smoothing, as a share of the duration. */
const narrowest = 0.03;

/** A histogram of task durations in which older ones count less. Its size does not grow with the number of tasks. */
export class DurationHistogram {
  /** Factor applied to all earlier ends for each new one. */
  readonly #keep: number;
  readonly #counts = new Float64Array(bins);
  #sum = 0;
  /** Sum of the squared weights of single ends. */
  #squares = 0;

  /** @param remembered number of recent ends that the histogram effectively covers */
  constructor(remembered: number) {
    this.#keep = 1 - 1 / remembered;
  }

  /** Restores saved weights, counted as the given number of ends. */
  restore(counts: readonly (readonly [bin: number, weight: number])[], ends: number): void {
    const sum = counts.reduce((all, [, weight]) => all + weight, 0);
    if (sum <= 0) return;
    for (const [bin, weight] of counts)
      this.#counts[bin] = ((this.#counts[bin] as number) + weight * ends) / sum;
    this.#sum = ends;
    this.#squares = ends;
  }

  /** Adds an end that came between two durations, ms. */
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

  /** The bins with a weight above 0, and their weights. */
  get counts(): readonly (readonly [bin: number, weight: number])[] {
    return [...this.#counts].flatMap((weight, bin) => (weight > 0 ? [[bin, weight] as const] : []));
  }

  /** Returns the duration that a share of the tasks did not exceed, ms. */
  quantile(share: number): number {
    let left = share * this.#sum;
    for (let bin = 0; bin < bins; bin++) {
      const weight = this.#counts[bin] as number;
      if (weight >= left && weight > 0) return edge(bin) + (left / weight) * (edge(bin + 1) - edge(bin));
      left -= weight;
    }
    return edge(bins);
  }

  /** Geometric mean of the durations in ms: typical, whatever a few stuck tasks took. */
  get typicalMs(): number {
    let sum = 0;
    for (let bin = 0; bin < bins; bin++) sum += (this.#counts[bin] as number) * (bin + 0.5);
    return shortestMs * Math.exp((width * sum) / this.#sum);
  }

  /**
   * Returns the probability of each bin: a Gaussian kernel by Silverman's rule, wider where there are fewer ends.
   *
   * @param factor multiplies the width of the kernel
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

  /** Standard deviation of the logarithms, or of their middle half where a few values are far away. */
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

/** Weights of a Gaussian with a standard deviation in bins; they sum to 1. */
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
