/** A token bucket of `perMinute` submissions a minute, and as many at once as fit in ten seconds. */
export class Throttle {
  readonly #perMinute: number;
  readonly #size: number;
  #tokens: number;
  #at: number;

  constructor(perMinute: number, now: number) {
    this.#perMinute = perMinute;
    this.#size = Math.max(1, perMinute / 6);
    this.#tokens = this.#size;
    this.#at = now;
  }

  /** 0 where the request may pass, else the seconds until one may (at least 1). */
  take(now: number): number {
    if (this.#perMinute <= 0) return 0;
    const gained = (Math.max(0, now - this.#at) / 60_000) * this.#perMinute;
    this.#tokens = Math.min(this.#size, this.#tokens + gained);
    this.#at = now;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil(((1 - this.#tokens) / this.#perMinute) * 60));
  }
}
