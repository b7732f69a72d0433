import type { PageCharts } from '../wire.ts';

const maxPoints = 600;

/** Possible lengths of a point in seconds. Each is a multiple of the one before, so that points can be joined. */
const widths = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800, 2_419_200] as const;

interface Point {
  finished: number;
  failed: number;
  /** Started jobs minus ended jobs. */
  change: number;
  cost: number;
}

/** A timeline of events with a bounded number of points; points are joined as the run gets longer. */
export class Timeline {
  #points = new Map<number, Point>();
  #width = 0;
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #isPriced = false;

  begin(at: number): void {
    this.#at(at).change += 1;
  }

  leave(at: number): void {
    this.#at(at).change -= 1;
  }

  end(at: number, failed: boolean): void {
    const point = this.#at(at);
    point.finished += 1;
    if (failed) point.failed += 1;
  }

  spend(at: number, cost: number): void {
    this.#isPriced = true;
    this.#at(at).cost += cost;
  }

  charts(): Pick<PageCharts, 'secondsPerPoint' | 'from' | 'finished' | 'failed' | 'inFlight' | 'cost'> {
    const secondsPerPoint = this.#seconds;
    const charts = {
      finished: [] as number[],
      failed: [] as number[],
      inFlight: [] as number[],
      cost: [] as number[],
    };
    if (this.#points.size === 0) return { secondsPerPoint, ...charts };
    let inFlight = 0;
    let cost = 0;
    for (let at = this.#first; at <= this.#last; at += 1) {
      const point = this.#points.get(at);
      inFlight += point?.change ?? 0;
      cost += point?.cost ?? 0;
      charts.finished.push(point?.finished ?? 0);
      charts.failed.push(point?.failed ?? 0);
      charts.inFlight.push(inFlight);
      if (this.#isPriced) charts.cost.push(Number(cost.toPrecision(12)));
    }
    return { secondsPerPoint, from: this.#first * secondsPerPoint * 1000, ...charts };
  }

  get #seconds(): number {
    return widths[this.#width] ?? widths[widths.length - 1] ?? 1;
  }

  #at(unixMs: number): Point {
    for (;;) {
      const index = Math.floor(unixMs / 1000 / this.#seconds);
      const first = Math.min(this.#first, index);
      const last = Math.max(this.#last, index);
      if (last - first < maxPoints || this.#width === widths.length - 1) {
        this.#first = first;
        // An absurd time would need endless points.
        this.#last = Math.min(last, first + maxPoints - 1);
        return this.#point(Math.min(index, this.#last));
      }
      this.#widen();
    }
  }

  #point(index: number): Point {
    const there = this.#points.get(index);
    if (there !== undefined) return there;
    const point = { finished: 0, failed: 0, change: 0, cost: 0 };
    this.#points.set(index, point);
    return point;
  }

  #widen(): void {
    const before = this.#points;
    const narrow = this.#seconds;
    this.#width += 1;
    const joined = (index: number): number => Math.floor((index * narrow) / this.#seconds);
    this.#points = new Map();
    for (const [index, { finished, failed, change, cost }] of before) {
      const point = this.#point(joined(index));
      point.finished += finished;
      point.failed += failed;
      point.change += change;
      point.cost += cost;
    }
    if (before.size === 0) return;
    this.#first = joined(this.#first);
    this.#last = joined(this.#last);
  }
}
