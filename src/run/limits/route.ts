import type { RetrySettings } from '../../pipeline/pipeline.ts';
import type { About } from '../../service/result.ts';
import type { Route } from '../events.ts';
import type { Tally } from '../machine/job.ts';
import { backoffMs } from '../machine/retry/backoff.ts';
import { RoutePace } from './rate/route-pace.ts';

/**
 * After this many failures in a row that the service advises to retry, the whole route rests, not only the job. Then one
 * request at a time probes the route, so that an outage costs few jobs an attempt.
 */
const troubleInARow = 5;

/** The rest after the second unclear answer in a row, and the longest, ms. */
const firstUnclearMs = 15_000;
const longestUnclearMs = 900_000;

/** How long after its last served request a route counts as serving, ms: a pause of the route is shorter (`retry.cap`). */
const servingMs = 60_000;

/** A route never pauses for longer than this, whatever the service asks for: a longer pause would stall all other work. */
const longestPauseMs = 3_600_000;

/** What a result means for its route. */
export type RouteSignal =
  /** The service handled the request, whatever the result for the job. */
  | { readonly kind: 'served' }
  /** 429, or its queue is full without a task of this run. */
  | {
      readonly kind: 'throttled';
      readonly retryAfterMs?: number;
      readonly reason: string;
      readonly about?: About;
    }
  /** Its queue is full of tasks of this run: the window of tasks holds the next submission until one of them ends. */
  | { readonly kind: 'full' }
  /** Nothing was reached: refused connection, failed look-up. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** A status that the service advises to retry, or no status at all. */
  | {
      readonly kind: 'trouble';
      readonly reason: string;
      readonly about?: About;
      /** The service does not know itself what became of it (400 with code 5): each one leaves a job in doubt. */
      readonly isUnclear?: true;
    }
  /** No money is left for it. */
  | { readonly kind: 'quota'; readonly reason: string; readonly about?: About }
  /**
   * 400, 403, 413: `words` are compared with those of the refusal before of its kind. Absent where the same job met the same refusal
   * in an earlier run: that says nothing new.
   */
  | { readonly kind: 'refused'; readonly words?: string; readonly about?: About };

/** Why a route ends the run. */
export interface RouteStop {
  readonly code: string;
  readonly message: string;
}

/** What a service was found to accept of one kind of request: pace, pauses and patience. */
export class RouteTraffic {
  readonly name: Route;
  readonly #retry: RetrySettings;
  readonly #random: () => number;
  readonly #rate: RoutePace;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Since when the route has only refused; undefined while it serves. */
  #refusingSince: number | undefined;
  #refusals = 0;
  /** Unclear answers in a row. */
  #unclear = 0;
  /** When the last refusal for too many requests was known. */
  #throttledAt = Number.NEGATIVE_INFINITY;
  /** When the route last served a request, Unix ms; undefined: not in this run. */
  #servedAt: number | undefined;
  #tally: Tally = { served: 0, firsts: 0, firstsServed: 0 };

  /** @param learned the requests a minute that an earlier run found */
  constructor(name: Route, retry: RetrySettings, random: () => number, learned?: number) {
    this.name = name;
    this.#retry = retry;
    this.#random = random;
    const longestRestMs = name === 'submit' || name === 'text' ? retry.capMs : undefined;
    this.#rate = new RoutePace(longestRestMs, undefined, [], undefined, learned);
  }

  /** Unix ms from when on a request may leave. */
  nextAt(): number {
    return Math.max(this.#pausedUntil, this.#rate.nextAt());
  }

  take(now: number): void {
    this.#rate.take(now);
  }

  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  get perMinute(): number | undefined {
    return this.#rate.perMinute;
  }

  /** Polls were refused, which may use the same limit. */
  refusedElsewhere(now: number): void {
    this.#rate.refusedElsewhere(now);
  }

  /** Requests a minute that the service accepts, where it refused more. */
  get learned(): number | undefined {
    return this.#rate.learned;
  }

  /** It has served a request in this run. */
  get hasServed(): boolean {
    return this.#servedAt !== undefined;
  }

  get tally(): Tally {
    return this.#tally;
  }

  /** True while single requests probe whether the route serves again. */
  get isProbing(): boolean {
    return this.#refusals >= troubleInARow;
  }

  /** True while the route serves others: a refusal is then about the pace, not an outage. */
  isServing(now: number): boolean {
    if (this.#servedAt === undefined) return false;
    return this.#refusals < troubleInARow || now - this.#servedAt < servingMs;
  }

  /** Counts a result. @param isFirst the route had not deferred the job before */
  count({ kind }: RouteSignal, isFirst: boolean): void {
    const { served, firsts, firstsServed } = this.#tally;
    const serves = Number(kind === 'served');
    const first = Number(isFirst);
    this.#tally = {
      served: served + serves,
      firsts: firsts + first,
      firstsServed: firstsServed + serves * first,
    };
  }

  /**
   * Notes a result.
   *
   * @param sentAt when its request left
   * @returns why the run must stop; undefined: it goes on
   */
  note(signal: RouteSignal, now: number, sentAt: number = now): RouteStop | undefined {
    if (signal.kind === 'served' || signal.kind === 'refused') this.#rate.served(now, sentAt);
    switch (signal.kind) {
      case 'served':
      case 'refused':
        this.#serves(now);
        return undefined;
      case 'full':
      case 'quota':
        return undefined;
      case 'throttled':
        this.#throttle(signal.retryAfterMs, now, sentAt);
        return this.#outOfPatience(signal.reason, now);
      case 'unreachable':
        this.#refuse(now, undefined);
        break;
      case 'trouble':
        this.#refusingSince ??= now;
        this.#refusals += 1;
        if (signal.isUnclear) this.#restUnclear(now);
        else if (this.#refusals >= troubleInARow)
          this.#pause(now, undefined, this.#refusals - troubleInARow + 1);
        break;
    }
    // Two failures with a night of sleep between them are no night of failures.
    return this.#refusals < troubleInARow ? undefined : this.#outOfPatience(signal.reason, now);
  }

  /** After a second unclear answer in a row one request at a time probes the route, ever later: each may leave a job in doubt. */
  #restUnclear(now: number): void {
    this.#unclear += 1;
    if (this.#unclear < 2) return;
    const restMs = Math.min(longestUnclearMs, firstUnclearMs * 2 ** Math.min(this.#unclear - 2, 30));
    this.probeAt(now + restMs);
  }

  /** From this moment on, Unix ms, one request at a time probes the route. */
  probeAt(at: number): void {
    this.#refusals = Math.max(this.#refusals, troubleInARow);
    this.#pausedUntil = Math.max(this.#pausedUntil, at);
  }

  /** No request leaves before this moment, Unix ms. */
  restUntil(at: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, at);
  }

  #serves(now: number): void {
    this.#unclear = 0;
    this.#refusingSince = undefined;
    this.#refusals = 0;
    this.#servedAt = now;
  }

  /** The stop of a route that has only refused for `retry.patience`. */
  #outOfPatience(reason: string, now: number): RouteStop | undefined {
    const since = this.#refusingSince ?? now;
    if (now - since < this.#retry.patienceMs) return undefined;
    return {
      code: 'route.patience',
      message: `No ${this.name} request has been served for ${Math.round((now - since) / 1000)} s (retry.patience). The last one: ${reason}`,
    };
  }

  /**
   * A service that refuses one request of many has served the others: a lower pace is enough then. The route rests only where the
   * service says for how long, or after several refusals in a row. A found pace rests by itself.
   */
  #throttle(retryAfterMs: number | undefined, now: number, sentAt: number): void {
    const asked = retryAfterMs === undefined ? undefined : Math.min(longestPauseMs, retryAfterMs);
    const isTooMuch = this.#rate.refused(now, sentAt, asked);
    if (this.#rate.isFound) {
      this.#refusingSince ??= now;
      if (sentAt >= this.#throttledAt) this.#refusals += 1;
      this.#throttledAt = now;
      this.#pausedUntil = Math.max(this.#pausedUntil, now + (asked ?? 0));
      return;
    }
    if (isTooMuch || retryAfterMs !== undefined || this.#refusals + 1 >= troubleInARow) {
      this.#refuse(now, retryAfterMs);
      return;
    }
    this.#refusingSince ??= now;
    if (now >= this.#pausedUntil) this.#refusals += 1;
  }

  #refuse(now: number, retryAfterMs: number | undefined): void {
    this.#refusingSince ??= now;
    if (now < this.#pausedUntil && retryAfterMs === undefined) return;
    this.#refusals += 1;
    this.#pause(now, retryAfterMs, this.#refusals);
  }

  #pause(now: number, retryAfterMs: number | undefined, times: number): void {
    const asked = retryAfterMs === undefined ? undefined : Math.min(longestPauseMs, retryAfterMs);
    // A Retry-After of 0 does not allow another request at once.
    const rest = Math.max(this.#retry.baseMs, asked ?? backoffMs(times, this.#retry, this.#random));
    this.#pausedUntil = Math.max(this.#pausedUntil, now + rest);
  }
}
