/** What happened from one refusal that followed accepted requests to the next such. */
export interface Interval {
  /** When the refused request left, and when the next one that was accepted. */
  beganAt: number;
  endedAt: number;
  /** Refusals between these two. */
  refusals: number;
  accepted: number;
  /** Time in which nobody had anything to send. */
  idleMs: number;
  /** True: the pace was raised in it, so that the service may accept more than was sent. */
  isRaised: boolean;
}

/** Begins with what is accepted already. */
export const intervalFrom = (at: number, accepted = 0): Interval => ({
  beganAt: at,
  endedAt: at,
  refusals: 0,
  accepted,
  idleMs: 0,
  isRaised: false,
});

/** Accepted requests per ms. */
export const rateBetween = ({ accepted, idleMs }: Interval, from: number, to: number): number =>
  accepted / Math.max(1, to - from - idleMs);
