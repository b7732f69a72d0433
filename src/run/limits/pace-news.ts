import type { FoundPace } from './gate.ts';

/** A pace is news once it has held for so long, and at most once in so long a time, ms: it is sought, and found in steps. */
const steadyMs = 10_000;
const quietMs = 60_000;
/** Figures that differ by a smaller part say the same to a user. */
const leastPart = 0.25;
const leastShare = 0.07;

/** What is told of the pace of one lane. */
export class PaceNews {
  #said: FoundPace = {};
  #saidAt = Number.NEGATIVE_INFINITY;
  #found: FoundPace = {};
  #foundAt = Number.NEGATIVE_INFINITY;

  /** True where a user should hear of what was found: it is then said. */
  isNews(found: FoundPace, now: number): boolean {
    if (isOther(this.#found, found)) {
      this.#found = found;
      this.#foundAt = now;
    }
    if (now - this.#foundAt < steadyMs || now - this.#saidAt < quietMs || !isOther(this.#said, found))
      return false;
    this.#said = found;
    this.#saidAt = now;
    return true;
  }
}

const differs = (a: number | undefined, b: number | undefined): boolean =>
  a === undefined || b === undefined ? a !== b : Math.abs(a - b) > leastPart * Math.max(a, b);

/** True where another rule holds, or one with quite another figure. */
function isOther(one: FoundPace, other: FoundPace): boolean {
  return (
    differs(one.atOnce, other.atOnce) ||
    differs(one.perMinute, other.perMinute) ||
    Math.abs((one.byChance ?? 0) - (other.byChance ?? 0)) > leastShare
  );
}
