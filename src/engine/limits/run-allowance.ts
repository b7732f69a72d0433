import type { Budget } from '../../pipeline/pipeline.ts';
import type { JobRecord } from '../../plan/job.ts';
import type { Clock } from '../../run/clock.ts';
import type { RunEnd } from '../../run/events.ts';
import { unpriced } from '../../run/limits/budget.ts';
import { totalTokens } from '../../run/machine/text-call.ts';
import type { Allowance, Reserve } from '../../run/ports.ts';
import { type Away, type Database, Inquiry } from './inquiry.ts';

/** How often a worker shows that it is there, and how soon it asks again for what others have, ms. */
const everyMs = 3000;
const againMs = 500;
const leastMs = 40;
/** What was given counts for so long without an answer, ms: after 10 s it may be another's. */
const validMs = 5000;
/** A worker that has spent nothing for so long gives back what it has, ms. */
const idleMs = 2000;
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

interface AllowanceAnswer {
  readonly kind: Kind;
  readonly given: number;
  readonly unclaimed: number;
  readonly elsewhere: number;
  readonly is_new: boolean;
}

/** What this worker has of one kind. */
interface Part {
  readonly most: number;
  /** All that it was ever given, and all that it has used. */
  given: number;
  used: number;
  /** The largest need since it asked last. */
  need: number;
  /** The need that was asked for last, and what was left of the whole then. */
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

/** Begins an invocation of a run: sets what all of its workers together may spend. Workers that are at work hear of it as they ask. */
export async function openAllowance(database: Database, run: number, bounds: Bounds): Promise<void> {
  const text = "SELECT promptpress.purse_open($1, $2, ARRAY['invocation'])";
  await database.query(text, [run, JSON.stringify(bounds)]);
}

/**
 * What this worker may spend of what all workers of a run may. It has a part in hand, and asks for another before that is used up. What a
 * request may use at most is used from its intent on, as the commit of the intent counts it (`chargeOf`).
 */
export class RunAllowance implements Allowance {
  readonly #run: number;
  readonly #worker: string;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #onMore: () => void;
  readonly #inquiry: Inquiry;
  readonly #parts: ReadonlyMap<Kind, Part>;
  /** What is reserved for requests under way, by job. */
  readonly #reserves = new Map<string, Reserve>();
  #asked = 0;
  #spentAt = Number.NEGATIVE_INFINITY;
  /** Something was refused for want of an answer that still counts. */
  #isAwaited = false;

  /** @param onMore called when more was given, or it is known that there is no more */
  constructor(
    { run, worker, bounds }: { readonly run: number; readonly worker: string; readonly bounds: Bounds },
    ports: { readonly database: Database; readonly clock: Clock },
    onMore: () => void,
  ) {
    this.#run = run;
    this.#worker = worker;
    this.#database = ports.database;
    this.#clock = ports.clock;
    this.#onMore = onMore;
    this.#parts = new Map(
      kinds.flatMap((kind) => {
        const most = bounds[kind];
        const none = { given: 0, used: 0, need: 0, asked: 0, left: Number.POSITIVE_INFINITY, lastGrant: 0 };
        return most === undefined ? [] : [[kind, { most, ...none }] as const];
      }),
    );
    this.#inquiry = new Inquiry(ports.clock, () => this.#ask(), leastMs);
  }

  get away(): Away | undefined {
    return this.#inquiry.away;
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
      if (!isStale && part.given - part.used + tolerance >= need) continue;
      isShort = true;
      const isDry = !isStale && part.asked >= need && part.left + part.given - part.used + tolerance < need;
      if (isDry) return { kind: 'budget', ...this.#end(kind, part) };
    }
    if (!isShort) return undefined;
    this.#isAwaited ||= isStale;
    this.#inquiry.wake();
    return 'wait';
  }

  /** The last answer is too old: what was given may be another's. */
  get #isStale(): boolean {
    return this.#clock.now() - this.#inquiry.answeredAt > validMs;
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
    if (isLow) this.#inquiry.wake();
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

  /** Gives back what is not used. */
  async stop(): Promise<void> {
    await this.#inquiry.stop();
    if (this.#parts.size === 0 || this.#asked === 0) return;
    for (const part of this.#parts.values()) {
      part.given = Math.min(part.given, part.used);
      part.need = 0;
    }
    // A database that is away frees what was given once this worker is known to be over.
    await this.#query().catch(() => undefined);
  }

  async #ask(): Promise<number> {
    const isIdle = this.#clock.now() - this.#spentAt > idleMs;
    for (const part of this.#parts.values()) {
      // What is too little for the next request may be enough for another worker's.
      const isShort = part.need > 0 && part.given - part.used + tolerance < part.need;
      if (isShort || (isIdle && part.need === 0)) part.given = Math.min(part.given, Math.max(0, part.used));
    }
    const before = [...this.#parts.values()].map(({ given }) => given);
    await this.#query();
    const after = [...this.#parts.values()];
    const counts = this.#isAwaited && !this.#isStale;
    if (counts) this.#isAwaited = false;
    if (
      counts ||
      after.some(({ given }, i) => given > (before[i] ?? 0)) ||
      after.some((part) => isOver(part))
    )
      this.#onMore();
    return after.some((part) => part.asked > 0 && part.given - part.used + tolerance < part.asked)
      ? againMs
      : everyMs;
  }

  async #query(): Promise<void> {
    this.#asked += 1;
    const asks = [...this.#parts].map(([kind, part]) => {
      part.asked = part.need;
      part.need = 0;
      const isLow = part.given - part.used < Math.max(part.asked, part.lastGrant / 4);
      return { kind, asked: this.#asked, holds: part.given, need: isLow ? part.asked : 0 };
    });
    const values = [this.#run, this.#worker, JSON.stringify(asks)];
    const { rows } = await this.#database.query('SELECT * FROM promptpress.purse_ask($1, $2, $3)', values);
    this.#inquiry.onAnswered();
    for (const { kind, given, unclaimed, elsewhere, is_new: isNew } of rows as AllowanceAnswer[]) {
      const part = this.#parts.get(kind);
      if (part === undefined) continue;
      // The database took this worker for dead: it had nothing under way.
      if (isNew && this.#asked > 1) part.used = 0;
      if (given > part.given) part.lastGrant = given - part.given;
      part.given = given;
      part.left = unclaimed + elsewhere;
      // Whoever waits for it asks no more until it is told: the need lasts while another may give back what is missing.
      if (part.given - part.used + tolerance < part.asked && !isOver(part))
        part.need = Math.max(part.need, part.asked);
    }
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

/** True where what is left of the whole is not enough for what was asked. */
const isOver = ({ asked, left, given, used }: Part): boolean =>
  asked > 0 && left + given - used + tolerance < asked;
