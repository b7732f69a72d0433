import type { Budget } from '../../pipeline/pipeline.ts';
import type { JobRecord } from '../../plan/job.ts';
import { totalTokens } from '../../plan/usage.ts';
import type { Clock } from '../../run/clock.ts';
import type { RunEnd } from '../../run/events.ts';
import { unpriced } from '../../run/limits/budget.ts';
import type { Allowance, Reserve } from '../../run/ports.ts';
import type { Connection } from '../postgres/pool.ts';

/** What was given counts for so long without an answer, ms: after 10 s it may be another's. */
const validMs = 5000;
/** A worker that has spent nothing for so long gives back what it has, ms. */
const idleMs = 10_000;
/** Money is counted in fractions: sums leave errors of this size. */
const tolerance = 1e-9;

const kinds = ['cost', 'invocation', 'submits', 'tokens'] as const;
type Kind = (typeof kinds)[number];

/** What a run may spend, by kind; a kind that is absent has no bound. */
export type Bounds = Readonly<Partial<Record<Kind, number>>>;

/** What a job has used, and what is reserved for its request under way, beside its attempts. */
export interface Charge {
  readonly cost: number;
  readonly tokens: number;
}

/** What a worker wants, by kind: what it uses of all it was given until it has the answer, and what it needs beside that, at least. */
export type Needs = Readonly<Record<string, { readonly holds: number; readonly need: number }>>;

/** What a worker was given, by kind: all that it ever was, what nobody has, and what others have and have not used. */
export type Grants = Readonly<
  Record<string, { readonly given: number; readonly unclaimed: number; readonly elsewhere: number }>
>;

/** What this worker has of one kind. */
interface Part {
  readonly most: number;
  /** All that it was ever given, and all that it has used. */
  given: number;
  used: number;
  /** The largest need that was not met yet. */
  need: number;
  /** The need that the last heartbeat asked for, and what was left of the whole when one did. */
  asked: number;
  left: number;
  lastGrant: number;
}

/** @param maxSubmits `--max-submits`: of this invocation */
export const boundsOf = ({ submits, cost, tokens }: Budget, maxSubmits?: number): Bounds => ({
  ...(submits === undefined ? {} : { submits }),
  ...(cost === undefined ? {} : { cost }),
  ...(tokens === undefined ? {} : { tokens }),
  ...(maxSubmits === undefined ? {} : { invocation: maxSubmits }),
});

/** Begins an invocation of a run: sets what all of its workers together may spend. */
export async function openAllowance(
  database: Pick<Connection, 'query'>,
  run: number,
  bounds: Bounds,
): Promise<void> {
  await database.query('SELECT promptpress.purse_open($1, $2)', [run, JSON.stringify(bounds)]);
}

/**
 * What this worker may spend of what all workers of a run may. It has a part in hand, and asks for another before that is used up. What a
 * request may use at most is used from its intent on, as the commit of the intent counts it (`chargeOf`).
 */
export class RunAllowance implements Allowance {
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #parts: ReadonlyMap<Kind, Part>;
  /** What is reserved for requests under way, by job. */
  readonly #reserves = new Map<string, Reserve>();
  #mustAsk = true;
  #isLeaving = false;
  /** When the question left that was answered last. */
  #heardAt = Number.NEGATIVE_INFINITY;
  #spentAt = Number.NEGATIVE_INFINITY;
  /** Something was refused for want of an answer that still counts. */
  #isAwaited = false;

  /** @param wake has the next heartbeat ask soon */
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
    // The first answer to a modal belongs to its click, which is counted.
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

  /** The last answer is too old: what was given may be another's. */
  get #isStale(): boolean {
    return this.#clock.now() - this.#heardAt > validMs;
  }

  /** Notes the changes that an event made to a record. */
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

  /** What the commit of a record counts for it, of which the database takes the difference to what it had counted before. */
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

  /** A request that another worker has begun was taken over, with what the database has counted for it. */
  takeOver(record: JobRecord, charged: Charge): void {
    if (record.status !== 'submitting' || this.#reserves.has(record.key)) return;
    const { cost, tokens } = this.chargeOf(record);
    this.#reserves.set(record.key, {
      cost: Math.max(0, charged.cost - cost),
      tokens: Math.max(0, charged.tokens - tokens),
    });
  }

  /** Nothing more is wanted. */
  leave(): void {
    this.#isLeaving = true;
    for (const part of this.#parts.values()) part.need = 0;
  }

  /** What is asked for with the next heartbeat; undefined: nothing is, and what was given stays. */
  ask(): Needs | undefined {
    if (this.#parts.size === 0) return undefined;
    const isIdle = this.#isLeaving || this.#clock.now() - this.#spentAt > idleMs;
    this.#mustAsk ||= this.#isStale;
    for (const part of this.#parts.values()) {
      const { need, used } = part;
      // What is too little for the next request may be enough for another worker's.
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
   * A heartbeat was answered.
   *
   * @param at when it left
   * @param grants null: it asked for nothing
   * @returns whether more was given, or it is known that there is no more
   */
  onAnswer(at: number, grants: Grants | null): boolean {
    // What was given long ago others may have been given since.
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
      // Whoever waits for it asks no more until it is told: the need lasts while another may give back what is missing.
      const isSettled = isOver || isEnough(part, part.asked);
      if (isSettled && part.need <= part.asked) part.need = 0;
    }
    if (this.#isStale || !this.#isAwaited) return isMore;
    this.#isAwaited = false;
    return true;
  }

  #end(kind: Kind, { most }: Part): { readonly code: string; readonly message: string } {
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

/** Whether what it has, and so much beside, is enough for this. */
const isEnough = ({ given, used }: Part, need: number, more = 0): boolean =>
  more + given - used + tolerance >= need;
