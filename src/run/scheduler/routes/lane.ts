import type { RetrySettings } from '../../../pipeline/pipeline.ts';
import type { Route, RunEnd } from '../../events.ts';
import type { FoundPace } from '../../limits/found-limit.ts';
import { Pace } from '../../limits/pace.ts';
import { ToldPace } from '../../limits/told.ts';
import type { Job } from '../../machine/job.ts';
import type { PriorityQueue } from '../queues.ts';
import type { RouteSignal } from './outcome.ts';

/** After this many failures in a row a lane that serves nobody may end the run. */
const troubleInARow = 5;

/** The rest after the second unclear answer in a row, and the longest, ms. */
const firstUnclearMs = 15_000;
const longestUnclearMs = 900_000;

/** Failed submissions are probed again after this part of the time for which they have failed. */
const restPart = 1 / 3;

/** How long after its last served request a lane counts as serving, ms: a rest is shorter (`retry.cap`). */
const servingMs = 60_000;

/** No lane rests for longer than this, whatever the service asks for: a longer rest would stall all other work. */
const longestRestMs = 3_600_000;

/** What is known of a lane beforehand. */
interface KnownOfLane {
  /** What an earlier run found. */
  readonly found?: FoundPace | undefined;
  /** Estimated tokens of a text call. */
  readonly tokens?: ((job: Job) => number) | undefined;
  /** Its requests leave within a limit of rate that the user gave. */
  readonly isRateKnown?: boolean;
}

/** Requests that are refused, rest and find their pace together: the text calls of one kind, or all requests of another route. */
export class Lane {
  readonly route: Route;
  /** The kind of its text calls; empty: it is the only lane of its route. */
  readonly name: string;
  readonly queue: PriorityQueue;
  readonly pace: Pace;
  /** What the service tells of its limits. */
  readonly told = new ToldPace();
  readonly news = new PaceNews();
  inFlight = 0;
  /** Its jobs without a request under way: those that were not deferred, and those that were. */
  readonly waiting = { first: 0, deferred: 0 };
  /** When it last served a request, Unix ms; negative infinity: not in this run. */
  servedAt = Number.NEGATIVE_INFINITY;
  readonly #retry: RetrySettings;
  readonly #tokens: (job: Job) => number;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #isProbed = false;
  /** Since when it has only refused, how often, and how many answers in a row were unclear. */
  #refusingSince = 0;
  #refusals = 0;
  #unclear = 0;

  constructor(
    route: Route,
    name: string,
    queue: PriorityQueue,
    retry: RetrySettings,
    { found, tokens = () => 0, isRateKnown = false }: KnownOfLane = {},
  ) {
    this.route = route;
    this.name = name;
    this.queue = queue;
    this.#retry = retry;
    this.#tokens = tokens;
    this.pace = new Pace(retry, found, isRateKnown);
  }

  /** True where its pace allows a request now. */
  maySend(now: number): boolean {
    return this.isOpen && this.nextAt(now) <= now;
  }

  /** False while its next request waits for the result of one under way. */
  get isOpen(): boolean {
    // How many tasks are worked on is known where they are.
    return (
      (this.inFlight < 1 || !this.#isProbed) && (this.route === 'submit' || this.inFlight < this.pace.window)
    );
  }

  /** Unix ms from when on its next request may leave, as far as the service tells it, or it was found. */
  nextAt(now: number): number {
    const at = Math.max(this.restsUntil, this.pace.nextAt(now));
    return Math.max(at, this.told.isTold ? this.told.nextAt(now, this.tokensOf(this.queue.front())) : now);
  }

  /** What a request for this job takes of a limit of tokens. */
  tokensOf(job: Job | undefined): number {
    return job === undefined || this.route !== 'text' ? 0 : this.#tokens(job);
  }

  /** Until when nothing leaves, Unix ms; in the past: it does not rest. */
  get restsUntil(): number {
    return Math.max(this.#restsUntil, this.pace.restsUntil);
  }

  /** True while only single requests may be under way, each of which may be paid for nothing, or refused for its key. */
  get isProbed(): boolean {
    return this.#isProbed;
  }

  /** True while single requests ask whether it serves again. */
  get isProbing(): boolean {
    return this.#isProbed || this.pace.isProbing;
  }

  /** It has served a request in this run. */
  get hasServed(): boolean {
    return this.servedAt > Number.NEGATIVE_INFINITY;
  }

  /** True while others are served: a refusal is then about the pace, not an outage. */
  isServing(now: number): boolean {
    return this.hasServed && (this.#refusals < troubleInARow || now - this.servedAt < servingMs);
  }

  /** From this moment on, Unix ms, one request at a time probes the lane. */
  probeAt(at: number): void {
    this.#isProbed = true;
    this.restUntil(at);
  }

  /** No request leaves before this moment, Unix ms. */
  restUntil(at: number): void {
    this.#restsUntil = Math.max(this.#restsUntil, at);
  }

  /**
   * Notes a result.
   *
   * @param key of the job whose request it was
   * @returns why the run must stop: nothing was served for `retry.patience`; undefined: it goes on
   */
  note(signal: RouteSignal, now: number, key: string): Extract<RunEnd, { kind: 'stopped' }> | undefined {
    const { pace } = this;
    switch (signal.kind) {
      case 'served':
      case 'refused':
        pace.served(key, now, this.route === 'submit' && signal.kind === 'served');
        this.#unclear = 0;
        this.#isProbed = false;
        this.#refusals = 0;
        this.servedAt = now;
        return undefined;
      case 'full':
        pace.refused(key, now);
        return undefined;
      case 'quota':
        pace.withdraw(key, now);
        return undefined;
      case 'throttled':
      case 'unreachable':
      case 'trouble': {
        const { kind, reason, retryAfterMs, isCut } = signal;
        if (this.#refusals === 0) this.#refusingSince = now;
        this.#refusals += 1;
        const mayBePaid = kind === 'trouble' && this.route === 'submit' && signal.isUnmade !== true;
        if (mayBePaid) this.#probePaid(signal.isUnclear, now, key);
        else pace.refused(key, now, { waitMs: this.#waitMs(retryAfterMs), isCut: isCut === true });
        const ms = now - this.#refusingSince;
        // Two failures with a night of sleep between them are no night of failures.
        const isOver = this.#refusals >= troubleInARow || kind === 'throttled';
        if (!isOver || ms < this.#retry.patienceMs) return undefined;
        const message = `No ${this.route} request has been served for ${Math.round(ms / 1000)} s (retry.patience). The last one: ${reason}`;
        return { kind: 'stopped', code: 'route.patience', message };
      }
    }
  }

  #waitMs(asked: number | undefined): number | undefined {
    return asked === undefined ? undefined : Math.min(longestRestMs, this.#retry.patienceMs, asked);
  }

  /**
   * A submission failed that may be paid, which is no trial of the pace: single ones probe, ever later, and still later where each leaves a
   * job in doubt.
   */
  #probePaid(isUnclear = false, now: number, key: string): void {
    const { baseMs, capMs } = this.#retry;
    this.pace.withdraw(key, now);
    this.#unclear += Number(isUnclear);
    const doubling = Math.min(longestUnclearMs, firstUnclearMs * 2 ** Math.min(this.#unclear - 2, 30));
    const unclearMs = isUnclear && this.#unclear > 1 ? doubling : 0;
    const outageMs = now - this.#refusingSince;
    this.probeAt(now + Math.max(unclearMs, Math.min(capMs, Math.max(baseMs, outageMs * restPart))));
  }
}

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
    if (isOther(this.#found, found)) [this.#found, this.#foundAt] = [found, now];
    if (now - this.#foundAt < steadyMs || now - this.#saidAt < quietMs) return false;
    if (!isOther(this.#said, found)) return false;
    [this.#said, this.#saidAt] = [found, now];
    return true;
  }
}

const differs = (a: number | undefined, b: number | undefined): boolean =>
  a === undefined || b === undefined ? a !== b : Math.abs(a - b) > leastPart * Math.max(a, b);

/** True where another rule holds, or one with quite another figure. */
const isOther = (one: FoundPace, other: FoundPace): boolean =>
  differs(one.atOnce, other.atOnce) ||
  differs(one.perMinute, other.perMinute) ||
  Math.abs((one.byChance ?? 0) - (other.byChance ?? 0)) > leastShare;
