import type { RetrySettings } from '../../pipeline/pipeline.ts';
import type { About } from '../../service/result.ts';
import type { Route } from '../events.ts';
import type { FoundPace } from './gate.ts';
import { Pace } from './pace.ts';

/** After this many failures in a row a route that serves nobody may end the run. */
const troubleInARow = 5;

/** The rest after the second unclear answer in a row, and the longest, ms. */
const firstUnclearMs = 15_000;
const longestUnclearMs = 900_000;

/** Failed submissions are probed again after this part of the time for which they have failed. */
const restPart = 1 / 3;

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
      readonly reason: string;
      readonly retryAfterMs?: number | undefined;
      readonly about?: About | undefined;
    }
  /** Its queue is full of tasks of this run: the window of tasks holds the next submission until one of them ends. */
  | { readonly kind: 'full' }
  /** Nothing was reached: refused connection, failed look-up. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** A status that the service advises to retry, or no status at all. */
  | {
      readonly kind: 'trouble';
      readonly reason: string;
      readonly about?: About | undefined;
      /** The service does not know itself what became of it (400 with code 5): each one leaves a job in doubt. */
      readonly isUnclear?: boolean;
      /** It was broken off while it was worked on. */
      readonly isCut?: boolean;
    }
  /** No money is left for it. */
  | { readonly kind: 'quota'; readonly reason: string }
  /**
   * 400, 403, 413: `words` are compared with those of the refusal before of its kind. Absent where the same job met the same refusal
   * in an earlier run: that says nothing new.
   */
  | { readonly kind: 'refused'; readonly words?: string; readonly about?: About | undefined };

/** Why a route ends the run. */
export interface RouteStop {
  readonly code: string;
  readonly message: string;
}

/** What a service was found to accept of one kind of request: pace, pauses and patience. */
export class RouteTraffic {
  readonly name: Route;
  readonly pace: Pace;
  readonly #retry: RetrySettings;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #isProbed = false;
  /** Since when the route has only refused; undefined while it serves. */
  #refusingSince: number | undefined;
  #refusals = 0;
  /** Unclear answers in a row. */
  #unclear = 0;
  /** When the route last served a request, Unix ms; undefined: not in this run. */
  #servedAt: number | undefined;

  /** @param found what an earlier run found */
  constructor(name: Route, retry: RetrySettings, found?: FoundPace) {
    this.name = name;
    this.#retry = retry;
    this.pace = new Pace(retry, found);
  }

  /** Unix ms from when on a request may leave. */
  nextAt(now: number): number {
    return Math.max(this.pausedUntil, this.pace.nextAt(now));
  }

  get pausedUntil(): number {
    return Math.max(this.#pausedUntil, this.pace.restsUntil);
  }

  /** It has served a request in this run. */
  get hasServed(): boolean {
    return this.#servedAt !== undefined;
  }

  /** True while only single requests may be under way. */
  get isProbed(): boolean {
    return this.#isProbed;
  }

  /** True while single requests probe whether the route serves again. */
  get isProbing(): boolean {
    return this.#isProbed || this.pace.isProbing;
  }

  /** True while the route serves others: a refusal is then about the pace, not an outage. */
  isServing(now: number): boolean {
    if (this.#servedAt === undefined) return false;
    return this.#refusals < troubleInARow || now - this.#servedAt < servingMs;
  }

  /**
   * Notes a result.
   *
   * @param key of the job whose request it was
   * @returns why the run must stop; undefined: it goes on
   */
  note(signal: RouteSignal, now: number, key: string): RouteStop | undefined {
    const { pace } = this;
    switch (signal.kind) {
      case 'served':
      case 'refused':
        pace.served(key, now, this.name === 'submit' && signal.kind === 'served');
        this.#serves(now);
        return undefined;
      case 'full':
        pace.refused(key, now);
        return undefined;
      case 'quota':
        pace.withdraw(key, now);
        return undefined;
      case 'throttled': {
        const { retryAfterMs } = signal;
        pace.refused(key, now, {
          waitMs:
            retryAfterMs === undefined
              ? undefined
              : Math.min(longestPauseMs, this.#retry.patienceMs, retryAfterMs),
        });
        break;
      }
      case 'unreachable':
        pace.refused(key, now);
        break;
      case 'trouble':
        // What may be paid is no trial of the pace.
        if (this.name === 'submit') pace.withdraw(key, now);
        else pace.refused(key, now, { isCut: signal.isCut === true });
        break;
    }
    this.#refusingSince ??= now;
    this.#refusals += 1;
    if (signal.kind === 'trouble' && this.name === 'submit')
      this.#probePaid(now, now - this.#refusingSince, signal.isUnclear);
    // Two failures with a night of sleep between them are no night of failures.
    return this.#refusals < troubleInARow && signal.kind !== 'throttled'
      ? undefined
      : this.#outOfPatience(signal.reason, now);
  }

  /** Each failed submission may be paid: single ones probe the route, ever later, and still later where each leaves a job in doubt. */
  #probePaid(now: number, outageMs: number, isUnclear = false): void {
    const { baseMs, capMs } = this.#retry;
    this.#unclear += Number(isUnclear);
    const doubling = Math.min(longestUnclearMs, firstUnclearMs * 2 ** Math.min(this.#unclear - 2, 30));
    const unclearMs = isUnclear && this.#unclear > 1 ? doubling : 0;
    this.probeAt(now + Math.max(unclearMs, Math.min(capMs, Math.max(baseMs, outageMs * restPart))));
  }

  /** From this moment on, Unix ms, one request at a time probes the route. */
  probeAt(at: number): void {
    this.#isProbed = true;
    this.#pausedUntil = Math.max(this.#pausedUntil, at);
  }

  /** No request leaves before this moment, Unix ms. */
  restUntil(at: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, at);
  }

  #serves(now: number): void {
    this.#unclear = 0;
    this.#isProbed = false;
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
}
