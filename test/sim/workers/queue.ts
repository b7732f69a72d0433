import type { Cell } from '../../../src/plan/cell.ts';
import type { Chance } from '../chance.ts';
import type { WorkersScenario } from './scenario.ts';
import type { Timeline } from './timeline.ts';

/** Cells that a worker takes together. */
export interface SimSlice {
  readonly cells: readonly Cell[];
  /** It waits for all slices from this one on, up to itself. */
  readonly waitsFrom?: number;
}

interface Place extends SimSlice {
  isDone: boolean;
  leaseUntil: number;
  notBefore: number;
}

/** Whose turn it is, and nothing more: it loses and doubles slices, and no promise depends on it. */
export class Queue {
  readonly #places = new Map<number, Place>();
  readonly #time: Timeline;
  readonly #chance: Chance;
  readonly #scenario: WorkersScenario;
  readonly #calmAt: number;
  #takes = 0;

  /**
   * @param slices by their numbers
   * @param calmAt it makes no mistakes from then on
   */
  constructor(
    slices: ReadonlyMap<number, SimSlice>,
    scenario: WorkersScenario,
    time: Timeline,
    chance: Chance,
    calmAt: number,
  ) {
    this.#calmAt = calmAt;
    this.#time = time;
    this.#chance = chance;
    this.#scenario = scenario;
    for (const [slice, dealt] of slices)
      this.#places.set(slice, { ...dealt, isDone: false, leaseUntil: 0, notBefore: 0 });
  }

  get isDone(): boolean {
    return [...this.#places.values()].every(({ isDone }) => isDone);
  }

  /** Slices that were taken and not kept for their lease. */
  get silent(): readonly number[] {
    return [...this.#places].flatMap(([slice, { isDone, leaseUntil }]) =>
      !isDone && leaseUntil > 0 && leaseUntil <= this.#time.now ? [slice] : [],
    );
  }

  /** A slice whose turn it is; undefined: none is there now. */
  take(): { readonly slice: number; readonly cells: readonly Cell[] } | undefined {
    const { now } = this.#time;
    this.#takes += 1;
    const { doubled, forgotten, leaseMs } = this.#scenario;
    const isTroubled = now < this.#calmAt;
    const isDoubled = isTroubled && this.#chance.happens(doubled, 'doubled', this.#takes);
    for (const [slice, place] of this.#places) {
      const isFree = place.leaseUntil <= now && place.notBefore <= now;
      if (place.isDone || !(isFree || isDoubled) || this.#waits(slice, place)) continue;
      if (isTroubled && this.#chance.happens(forgotten, 'forgotten', this.#takes, slice)) {
        // Whoever feeds the queue sees that it is missing.
        place.notBefore = now + 5000;
        continue;
      }
      if (isDoubled && !isFree && this.#chance.happens(0.5, 'which', this.#takes, slice)) continue;
      place.leaseUntil = now + leaseMs;
      return { slice, cells: place.cells };
    }
    return undefined;
  }

  #waits(slice: number, { waitsFrom = slice }: SimSlice): boolean {
    return [...this.#places].some(([n, { isDone }]) => !isDone && n >= waitsFrom && n < slice);
  }

  cellsOf(slice: number): readonly Cell[] {
    return this.#places.get(slice)?.cells ?? [];
  }

  keep(slice: number): void {
    const place = this.#places.get(slice);
    if (place !== undefined) place.leaseUntil = this.#time.now + this.#scenario.leaseMs;
  }

  giveBack(slice: number, afterMs: number): void {
    const place = this.#places.get(slice);
    if (place === undefined) return;
    place.leaseUntil = 0;
    place.notBefore = this.#time.now + afterMs;
  }

  /** Notes what is done. @returns goes back to that */
  copy(): () => void {
    const done = new Map([...this.#places].map(([slice, { isDone }]) => [slice, isDone]));
    return () => {
      for (const [slice, place] of this.#places) place.isDone = done.get(slice) === true;
    };
  }

  isOver(slice: number): boolean {
    return this.#places.get(slice)?.isDone ?? true;
  }

  /** A slice is not done after all. */
  feed(slice: number): void {
    const place = this.#places.get(slice);
    if (place?.isDone === true) Object.assign(place, { isDone: false, notBefore: 0, leaseUntil: 0 });
  }

  done(slice: number): void {
    const place = this.#places.get(slice);
    if (place !== undefined) place.isDone = true;
  }
}
