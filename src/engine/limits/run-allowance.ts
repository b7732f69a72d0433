import type { EndCode } from '../../pipeline/diagnostics/run-codes.ts';
import type { Budget } from '../../pipeline/pipeline.ts';
import type { JobRecord } from '../../plan/job.ts';
import { totalTokens } from '../../plan/usage.ts';
import type { Clock } from '../../run/clock.ts';
import type { RunEnd } from '../../run/events.ts';
import { unpriced } from '../../run/limits/budget.ts';
import type { Allowance, Reserve } from '../../run/ports.ts';
import type { Connection } from '../postgres/pool.ts';

/** How long a grant counts without an answer, ms: after 10 s it may be granted to another worker. */
const validMs = 5000;
/** Time without spending after which a worker gives its grant back, ms. */
const idleMs = 10_000;
/** Largest rounding error in sums of money. */
const tolerance = 1e-9;

const kinds = ['cost', 'invocation', 'submits', 'tokens'] as const;
type Kind = (typeof kinds)[number];

/** Spending limits of a run, by kind; an absent kind is unlimited. */
export type Bounds = Readonly<Partial<Record<Kind, number>>>;

/** Spending of a job, and the reserve of its request in flight, besides its attempts. */
export interface Charge {
  readonly cost: number;
  readonly tokens: number;
}

/** What a worker asks for, by kind: `holds`, its total use until the answer, and `need`, the least that it needs in addition. */
export type Needs = Readonly<Record<string, { readonly holds: number; readonly need: number }>>;

/** What a worker was granted, by kind: its total ever granted, the rest that nobody has, and what others were granted and have not used. */
export type Grants = Readonly<
  Record<string, { readonly given: number; readonly unclaimed: number; readonly elsewhere: number }>
>;

/** The grant of this worker of one kind. */
interface Part {
  readonly most: number;
  /** Total ever granted, and total used. */
  given: number;
  used: number;
  /** Largest need that was not met yet. */
  need: number;
  /** The need in the last heartbeat, and the rest of the whole when one had a need. */
  asked: number;
  left: number;
  lastGrant: number;
}

/** Returns the spending limits of a budget. @param maxSubmits `--max-submits`: for this invocation */
export const boundsOf = ({ submits, cost, tokens }: Budget, maxSubmits?: number): Bounds => ({
  ...(submits === undefined ? {} : { submits }),
  ...(cost === undefined ? {} : { cost }),
  ...(tokens === undefined ? {} : { tokens }),
  ...(maxSubmits === undefined ? {} : { invocation: maxSubmits }),
});

/** Begins an invocation of a run: sets the spending limits of all its workers together. */
export async function openAllowance(
  database: Pick<Connection, 'query'>,
  run: number,
  bounds: Bounds,
): Promise<void> {
  await database.query('SELECT promptpress.purse_open($1, $2)', [run, JSON.stringify(bounds)]);
}

/**
 * This worker's part of the spending that all workers of a run may do. It asks for another part before the current one is used up. The most
 * that a request may use counts as used from its intent on, as the commit of the intent counts it (`chargeOf`).
 */
export class RunAllowance implements Allowance {
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #parts: ReadonlyMap<Kind, Part>;
  /** Reserves of the requests in flight, by job key. */
  readonly #reserves = new Map<string, Reserve>();
  #mustAsk = true;
  #isLeaving = false;
  /** When the last answered heartbeat was sent. */
  #heardAt = Number.NEGATIVE_INFINITY;
  #spentAt = Number.NEGATIVE_INFINITY;
  /** True where a request was refused because there is no recent answer. */
  #isAwaited = false;

  /** @param wake makes the next heartbeat come soon */
  constructor(bounds: Bounds, clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
    this.#parts = new Map(
      kinds.flatMap((kind) => {
        const most = bounds[kind];
        const none = { given: 0, used: 0, need: 0, asked: 0, left: Number.POSITIVE_INFINITY, lastGrant: 0 };
        return most === undefined ? [] : [[kind, { most, ...none }] as const];
      }),
    );
  }

  refusal(record: JobRecord, reserve: Reserve): Extract<RunEnd, { kind: 'budget' }> | 'wait' | undefined {
    // The first confirm of a modal belongs to its click, which is counted.
    if (this.#parts.size === 0 || record.modal?.sent === 0) return undefined;
    const { cost, tokens } = reserve;
    if (cost === undefined && this.#parts.has('cost')) return unpriced(record);
    const needs = { submits: 1, invocation: 1, cost: cost ?? 0, tokens };
    const isStale = this.#isStale;
    let isShort = false;
    for (const [kind, part] of this.#parts) {
      const need = needs[kind];
      if (need === 0) continue;
      part.need = Math.max(part.need, need);
      if (!isStale && isEnough(part, need)) continue;
      isShort = true;
      const isDry = !isStale && part.asked >= need && !isEnough(part, need, part.left);
      if (isDry) return { kind: 'budget', ...this.#end(kind, part) };
    }
    if (!isShort) return undefined;
    this.#isAwaited ||= isStale;
    this.#wake();
    return 'wait';
  }

  /** Whether the last answer is too old: the grant may belong to another worker now. */
  get #isStale(): boolean {
    return this.#clock.now() - this.#heardAt > validMs;
  }

  /** Updates spending and reserves after an event changed a record. */
  note(before: JobRecord, after: JobRecord, reserve?: Reserve): void {
    const was = this.chargeOf(before);
    if (after.status === 'submitting' && reserve !== undefined) this.#reserves.set(after.key, reserve);
    if (after.status !== 'submitting') this.#reserves.delete(after.key);
    const is = this.chargeOf(after);
    const submits = after.attempts - before.attempts;
    const [cost, tokens] = [is.cost - was.cost, is.tokens - was.tokens];
    const used = { submits, invocation: submits, cost, tokens };
    let isLow = false;
    for (const [kind, part] of this.#parts) {
      part.used += used[kind];
      if (used[kind] > 0 && part.left > 0 && part.given - part.used < part.lastGrant / 4) isLow = true;
    }
    if (submits > 0) this.#spentAt = this.#clock.now();
    if (isLow) this.#wake();
  }

  /** Returns the spending that the commit of a record counts for it. The database adds the difference to what it had counted before. */
  chargeOf({ key, cost, doubtful, assumed, usage, status }: JobRecord): Charge {
    const reserve = status === 'submitting' ? this.#reserves.get(key) : undefined;
    return {
      cost: (cost ?? 0) + (doubtful?.cost ?? 0) + (assumed?.cost ?? 0) + (reserve?.cost ?? 0),
      tokens:
        (usage === undefined ? 0 : totalTokens(usage)) +
        (doubtful?.tokens ?? 0) +
        (assumed?.tokens ?? 0) +
        (reserve?.tokens ?? 0),
    };
  }

  /** Takes over another worker's request, with what the database has counted for it. */
  takeOver(record: JobRecord, charged: Charge): void {
    if (record.status !== 'submitting' || this.#reserves.has(record.key)) return;
    const { cost, tokens } = this.chargeOf(record);
    this.#reserves.set(record.key, {
      cost: Math.max(0, charged.cost - cost),
      tokens: Math.max(0, charged.tokens - tokens),
    });
  }

  /** Stops asking for more. */
  leave(): void {
    this.#isLeaving = true;
    for (const part of this.#parts.values()) part.need = 0;
  }

  /** Returns what the next heartbeat asks for; undefined: nothing, and the grant stays. */
  ask(): Needs | undefined {
    if (this.#parts.size === 0) return undefined;
    const isIdle = this.#isLeaving || this.#clock.now() - this.#spentAt > idleMs;
    this.#mustAsk ||= this.#isStale;
    for (const part of this.#parts.values()) {
      const { need, used } = part;
      // An amount too small for the next request may be enough for another worker's.
      const isOfNoUse = need > 0 ? !isEnough(part, need) : isIdle;
      if (isOfNoUse && part.given > Math.max(0, used)) {
        part.given = Math.max(0, used);
        this.#mustAsk = true;
      }
      if (part.given - used >= Math.max(need, part.lastGrant / 4)) part.need = 0;
      part.asked = part.need;
      if (part.asked === 0) continue;
      this.#mustAsk = true;
      part.left = Number.POSITIVE_INFINITY;
    }
    if (!this.#mustAsk) return undefined;
    return Object.fromEntries(
      [...this.#parts].map(([kind, { given, asked }]) => [kind, { holds: given, need: asked }]),
    );
  }

  /**
   * Applies the answer to a heartbeat.
   *
   * @param at when the heartbeat was sent
   * @param grants null where it asked for nothing
   * @returns whether more was granted, or it is known that there is no more
   */
  onAnswer(at: number, grants: Grants | null): boolean {
    // Old grants may have been granted to others since.
    if (grants === null && this.#isStale) return false;
    this.#heardAt = at;
    if (grants === null) return false;
    this.#mustAsk = false;
    let isMore = false;
    for (const [kind, part] of this.#parts) {
      const grant = grants[kind];
      if (grant === undefined) continue;
      const { given, unclaimed, elsewhere } = grant;
      if (given > part.given) part.lastGrant = given - part.given;
      isMore ||= given > part.given;
      part.given = given;
      part.left = unclaimed + elsewhere;
      const isOver = part.asked > 0 && !isEnough(part, part.asked, part.left);
      isMore ||= isOver;
      // A waiting job does not ask again until it is notified: the need lasts while another worker may give back what is missing.
      const isSettled = isOver || isEnough(part, part.asked);
      if (isSettled && part.need <= part.asked) part.need = 0;
    }
    if (this.#isStale || !this.#isAwaited) return isMore;
    this.#isAwaited = false;
    return true;
  }

  #end(kind: Kind, { most }: Part): { readonly code: EndCode; readonly message: string } {
    switch (kind) {
      case 'invocation':
        return {
          code: 'budget.max-submits',
          message: `This run may make ${most} submissions (--max-submits), and its workers have made them.`,
        };
      case 'submits':
        return {
          code: 'budget.submits',
          message: `The budget of ${most} submissions (budget.submits) is used up by all workers.`,
        };
      case 'cost':
        return {
          code: 'budget.cost',
          message: `The next submission would exceed the budget of ${most} (budget.cost), of which all workers have spent the rest.`,
        };
      case 'tokens':
        return {
          code: 'budget.tokens',
          message: `The next text call would exceed the budget of ${most} tokens (budget.tokens), of which all workers have spent the rest.`,
        };
    }
  }
}

const isEnough = ({ given, used }: Part, need: number, more = 0): boolean =>
  more + given - used + tolerance >= need;
