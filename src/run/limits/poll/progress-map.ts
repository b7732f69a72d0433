import type { Sightings } from '../../machine/job.ts';
import { levels } from '../../machine/poll/watch.ts';

/** Number of ratios, from 1 to e⁴: whole duration ÷ age at a sighting, in steps of two duration bins. */
export const ratios = 40;
const ratioWidth = 0.1;
/** Number of sightings that the initial assumption counts as. It says that progress is the elapsed share of the time. */
const assumedSightings = 8;
/** Share of that assumption in which every progress is equally likely. */
const evenShare = 0.3;
/** Number of recent tasks that the map effectively covers. */
const remembered = 200;

/** Number of sightings of a progress level at a ratio. */
export type ProgressCount = readonly [ratio: number, level: number, count: number];

/** Assumed likelihood of each level, by ratio, before anything is learned. */
const assumed = Array.from({ length: ratios }, (_, ratio) => {
  const share = Math.exp(-ratioWidth * (ratio + 0.5));
  const likely = Float64Array.from(
    { length: levels },
    (__, level) => Math.exp(-0.5 * ((level / (levels - 1) - share + 0.05) / 0.15) ** 2) + 1e-3,
  );
  const sum = likely.reduce((all, one) => all + one, 0);
  return likely.map((one) => ((1 - evenShare) * one) / sum + evenShare / levels);
});

/**
 * Predicts the remaining duration of a task from its progress. It counts how often finished tasks showed each level at each share of their
 * duration, so it also learns of services whose progress stands still.
 */
export class ProgressMap {
  /** Counts by ratio, then by level. */
  readonly #counts = Array.from({ length: ratios }, () => new Float64Array(levels));
  readonly #likely = assumed.map((row) => Float64Array.from(row));
  #isStale = false;

  /** Adds the sightings of a finished task with its duration. */
  learn(seen: Sightings, durationMs: number): void {
    if (seen.length === 0) return;
    for (const row of this.#counts)
      for (let level = 0; level < levels; level++) row[level] = (row[level] as number) * (1 - 1 / remembered);
    for (const [level, firstMs, lastMs] of seen) {
      this.#count(level, durationMs / Math.max(1, firstMs));
      if (lastMs > firstMs) this.#count(level, durationMs / lastMs);
    }
    this.#isStale = true;
  }

  #count(level: number, ratio: number): void {
    const row = this.#counts[ratioBin(ratio)];
    if (row !== undefined) row[level] = (row[level] as number) + 1;
  }

  /** Returns how likely a level is at an age of a task with a given duration; both times are duration bins. */
  likelihood(level: number, ageBin: number, durationBin: number): number {
    if (this.#isStale) this.#refresh();
    const ratio = Math.max(0, Math.min(ratios - 1, (durationBin - ageBin) >> 1));
    return (this.#likely[ratio] as Float64Array)[level] as number;
  }

  #refresh(): void {
    this.#isStale = false;
    for (let ratio = 0; ratio < ratios; ratio++) {
      const [own, below, above] = [this.#counts[ratio], this.#counts[ratio - 1], this.#counts[ratio + 1]];
      const row = this.#likely[ratio] as Float64Array;
      let sum = assumedSightings;
      for (let level = 0; level < levels; level++) {
        const seen = (own?.[level] ?? 0) + 0.4 * ((below?.[level] ?? 0) + (above?.[level] ?? 0));
        row[level] = seen + assumedSightings * ((assumed[ratio] as Float64Array)[level] as number);
        sum += seen;
      }
      for (let level = 0; level < levels; level++) row[level] = (row[level] as number) / sum;
    }
  }

  /** The counts above 0, to save. */
  get counts(): readonly ProgressCount[] {
    return this.#counts.flatMap((row, ratio) =>
      [...row].flatMap((count, level) => (count >= 0.05 ? [[ratio, level, count] as const] : [])),
    );
  }

  restore(counts: readonly ProgressCount[]): void {
    for (const [ratio, level, count] of counts) {
      const row = this.#counts[ratio];
      if (row !== undefined && level < levels) row[level] = count;
    }
    this.#isStale = true;
  }
}

const ratioBin = (ratio: number): number =>
  Math.max(0, Math.min(ratios - 1, Math.floor(Math.log(Math.max(1, ratio)) / ratioWidth)));
