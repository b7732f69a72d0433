import { isSettled, type JobRecord } from '../../src/plan/job.ts';
import { isTextRequest } from '../../src/plan/job-request.ts';
import { totalTokens } from '../../src/plan/usage.ts';
import { roundsIn } from '../../src/run/effects/function-calls.ts';
import { isUnmade } from '../../src/run/machine/retry/service-failure.ts';
import { usageOf } from '../../src/run/machine/text-call.ts';
import type { RunInput } from '../../src/run/scheduler/commit.ts';
import type { MemoryStore } from '../rig/memory-store.ts';
import { type Invocation, rateWindowMs, type Scenario } from './scenario.ts';
import { BrokenPromise } from './violation.ts';

/** How often each text job may be called: counted from the results that the run received alone. */
interface Licence {
  calls: number;
  tries: number;
  invalid: number;
  rounds: number;
}

const roundsAllowed = 3;

/**
 * Watches the text calls of a simulated history: how often each job is asked, that no reported token is lost or
 * counted twice, and that rates and budgets hold.
 */
export class TextAuditor {
  readonly #scenario: Scenario;
  readonly #store: MemoryStore;
  #licences = new Map<string, Licence>();
  /** Tokens by job: of replies that the run received, of those that are part of a turn, and of those whose turn is durable. */
  #received = new Map<string, number>();
  #taken = new Map<string, number>();
  readonly #durable = new Map<string, number>();
  #sentAt: number[] = [];
  #answered: { readonly at: number; readonly tokens: number }[] = [];

  constructor(scenario: Scenario, store: MemoryStore) {
    this.#scenario = scenario;
    this.#store = store;
  }

  begin({ retryFailed }: Invocation, records: Iterable<JobRecord>, redo: readonly string[]): void {
    this.#received = new Map();
    this.#taken = new Map();
    this.#sentAt = [];
    this.#answered = [];
    this.#licences = new Map();
    for (const { key, request, status, tries, invalid = 0, turns } of records) {
      if (!isTextRequest(request)) continue;
      const fresh = (status === 'failed' && retryFailed) || (isSettled(status) && redo.includes(key));
      const open = status === 'pending' || status === 'submitting';
      this.#licences.set(
        key,
        fresh
          ? { calls: 1, tries: 0, invalid: 0, rounds: 0 }
          : { calls: open ? 1 : 0, tries, invalid, rounds: roundsIn(turns) },
      );
    }
  }

  /** What it came from was made again, and so is it. */
  redone(key: string): void {
    if (this.#licences.has(key)) this.#licences.set(key, { calls: 1, tries: 0, invalid: 0, rounds: 0 });
  }

  sends(record: JobRecord, now: number, healed: boolean): void {
    const { key } = record;
    const durable = this.#store.get(key);
    if (durable?.status !== 'submitting' || durable.attempts !== record.attempts)
      throw new BrokenPromise(`${key} is asked while its record says ${durable?.status ?? 'nothing'}`);
    const licence = this.#licenceOf(key);
    if (licence.calls < 1) throw new BrokenPromise(`${key} is asked more often than it may be`);
    licence.calls -= 1;
    this.#checkRates(now);
    const { budget, tokenBudget } = this.#scenario;
    const { attempts, tokens } = this.#store.totals();
    if (!healed && budget !== undefined && attempts > budget)
      throw new BrokenPromise(`${attempts} attempts, budget ${budget}`);
    if (!healed && tokenBudget !== undefined && tokens >= tokenBudget)
      throw new BrokenPromise(`A text call leaves after ${tokens} tokens, budget ${tokenBudget}`);
  }

  receives({ key, result }: Extract<RunInput, { type: 'asked' }>, now: number): void {
    const usage = usageOf(result);
    if (usage !== undefined) {
      this.#received.set(key, (this.#received.get(key) ?? 0) + totalTokens(usage));
      this.#answered.push({ at: now, tokens: totalTokens(usage) });
    }
    const licence = this.#licenceOf(key);
    const { retry } = this.#scenario;
    const tryAgain = (): void => {
      licence.tries += 1;
      if (licence.tries < retry.attempts) licence.calls += 1;
    };
    switch (result.kind) {
      case 'answered': {
        licence.tries = 0;
        const { verdict } = result.asked;
        if (verdict.kind === 'calls') {
          licence.rounds += 1;
          if (licence.rounds <= roundsAllowed) licence.calls += 1;
          else throw new BrokenPromise(`${key} goes round more often than it may`);
        }
        if (verdict.kind === 'invalid') {
          licence.invalid += 1;
          if (licence.invalid <= retry.invalid) licence.calls += 1;
        }
        return;
      }
      case 'refused':
        // What made nothing is no try while its kind of request rests.
        if (result.error.class === 'retry' && isUnmade(result.error)) licence.calls += 1;
        else if (result.error.class === 'retry' || result.error.class === 'lost') tryAgain();
        else if (result.error.class !== 'permanent') licence.calls += 1;
        return;
      case 'unwritten':
        // Only its files are tried again, by whoever writes them.
        if (result.error.class === 'stop') licence.calls += 1;
        return;
      case 'unread':
        if (result.error.class === 'stop') licence.calls += 1;
        else if (result.error.class !== 'permanent') tryAgain();
    }
  }

  /** A turn is taken: every result received before is part of it, and none that comes while a late store makes it durable. */
  takesTurn(): void {
    for (const [key, tokens] of this.#received) this.#taken.set(key, (this.#taken.get(key) ?? 0) + tokens);
    this.#received = new Map();
  }

  /** A turn is durable, and with it every result received before it was taken. */
  committed(): void {
    for (const [key, tokens] of this.#taken) this.#durable.set(key, (this.#durable.get(key) ?? 0) + tokens);
    this.#taken = new Map();
  }

  /** The state's own sums are what the service said, to the token. */
  checkTokens(): void {
    let sum = 0;
    for (const [key, tokens] of this.#durable) {
      sum += tokens;
      const counted = this.#store.get(key)?.usage?.total ?? 0;
      if (counted !== tokens)
        throw new BrokenPromise(`${key} has ${counted} tokens, and its answers reported ${tokens}`);
    }
    const { tokens } = this.#store.totals();
    if (tokens !== sum)
      throw new BrokenPromise(`The state sums ${tokens} tokens, and the answers reported ${sum}`);
  }

  #licenceOf(key: string): Licence {
    const known = this.#licences.get(key) ?? { calls: 1, tries: 0, invalid: 0, rounds: 0 };
    this.#licences.set(key, known);
    return known;
  }

  #checkRates(now: number): void {
    const { textPerMinute, tokensPerMinute } = this.#scenario.limits;
    this.#sentAt.push(now);
    const windowMs = rateWindowMs(this.#scenario);
    const lately = this.#sentAt.filter((at) => at > now - windowMs).length;
    if (textPerMinute !== undefined && lately > textPerMinute)
      throw new BrokenPromise(`${lately} text calls within ${windowMs} ms, limit ${textPerMinute} a minute`);
    if (tokensPerMinute === undefined) return;
    const counted = this.#answered
      .filter(({ at }) => at > now - 60_000 && at <= now - (60_000 - windowMs))
      .reduce((sum, { tokens }) => sum + tokens, 0);
    if (counted >= tokensPerMinute)
      throw new BrokenPromise(
        `A text call leaves while ${counted} tokens of the last minute are known, limit ${tokensPerMinute}`,
      );
  }
}
