/** Virtual time: what happens when, in one order for all. */
export class Timeline {
  #now: number;
  #order = 0;
  #events: { readonly at: number; readonly order: number; readonly call: () => void }[] = [];
  /** Events so far. */
  count = 0;

  constructor(startAt: number) {
    this.#now = startAt;
  }

  get now(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): void {
    this.#order += 1;
    const event = { at: this.#now + Math.max(0, ms), order: this.#order, call };
    // Most events are late ones: the place is looked for from the end.
    let place = this.#events.length;
    while (place > 0 && (this.#events[place - 1]?.at ?? 0) > event.at) place -= 1;
    this.#events.splice(place, 0, event);
  }

  /** Lets happen what comes next. @returns false: nothing does */
  next(): boolean {
    const event = this.#events.shift();
    if (event === undefined) return false;
    this.#now = event.at;
    this.count += 1;
    event.call();
    return true;
  }
}
