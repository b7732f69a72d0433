/** What the queue says to a submission: when it may start and how many wait before it, or that it is full. */
export type Reservation =
  | { readonly kind: 'place'; readonly startAt: number; readonly ahead: number }
  | { readonly kind: 'full' };

interface Booking {
  readonly startAt: number;
  readonly endAt: number;
}

/**
 * The working places and the queue before them (gateway 9.2). Because every task's end is fixed when it is
 * submitted, the start of the next one is known at once, and the whole queue can be rebuilt from the stored tasks.
 */
export class WorkerSlots {
  readonly #places: number;
  readonly #queue: number;
  #bookings: Booking[] = [];

  constructor(places: number, queue: number) {
    this.#places = places;
    this.#queue = queue;
  }

  /** Asks for a place; nothing is taken before {@link book}. */
  reserve(now: number): Reservation {
    this.#bookings = this.#bookings.filter((booking) => booking.endAt > now);
    const ahead = this.#bookings.filter((booking) => booking.startAt > now).length;
    const busy = this.#bookings.length;
    if (busy < this.#places) return { kind: 'place', startAt: now, ahead: 0 };
    if (ahead >= this.#queue) return { kind: 'full' };
    const ends = this.#bookings.map((booking) => booking.endAt).sort((a, b) => a - b);
    return { kind: 'place', startAt: ends[busy - this.#places] ?? now, ahead };
  }

  /** Takes the place. */
  book(startAt: number, endAt: number): void {
    this.#bookings.push({ startAt, endAt });
  }
}
