import { isTextKind } from '../../src/pipeline/kinds.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Gateway } from '../rig/gateway/gateway.ts';
import type { MemoryStore } from '../rig/memory-store.ts';
import { rateWindowMs, type Scenario } from './scenario.ts';
import { BrokenPromise } from './violation.ts';

const onService: ReadonlySet<string> = new Set(['running', 'modal', 'submitting']);

/** Watches that a simulated run stays within what it was limited to: requests, tasks, memory, rates and budgets. */
export class LimitsAuditor {
  readonly #scenario: Scenario;
  readonly #store: MemoryStore;
  readonly #gateway: Pick<Gateway, 'healed'>;
  #requests = 0;
  /** When each submission of this run left, ms. */
  readonly #submitTimes: number[] = [];
  /** Tasks that the run found on the service when it began: what was in doubt may have been found beyond the limit. */
  #found = 0;
  /** Of the searches for jobs in doubt: when the last one left in this run, whether its list is still to come, and what they found. */
  #doubts = { searchedAt: Number.NEGATIVE_INFINITY, isUnderWay: false, found: 0 };

  constructor(scenario: Scenario, store: MemoryStore, gateway: Pick<Gateway, 'healed'>) {
    this.#scenario = scenario;
    this.#store = store;
    this.#gateway = gateway;
  }

  begin(records: readonly JobRecord[]): void {
    this.#requests = 0;
    this.#submitTimes.length = 0;
    this.#doubts = { searchedAt: Number.NEGATIVE_INFINITY, isUnderWay: false, found: 0 };
    this.#found = records.filter(({ status, kind }) => onService.has(status) && !isTextKind(kind)).length;
  }

  /** A request of any kind leaves. */
  sends(): void {
    this.#requests += 1;
    if (this.#requests > this.#scenario.limits.requests)
      throw new BrokenPromise(`${this.#requests} requests at once, limit ${this.#scenario.limits.requests}`);
  }

  /** A request of any kind has come to its end. */
  receives(): void {
    this.#requests -= 1;
  }

  /** A search for the tasks of jobs in doubt leaves. */
  searches(now: number): void {
    const { searchedAt, isUnderWay, found } = this.#doubts;
    const { commitMs, lateCommitMs = commitMs } = this.#scenario;
    // It leaves when the decision is durable.
    if (isUnderWay || now - searchedAt < 30_000 - 2 * lateCommitMs)
      throw new BrokenPromise(`jobs in doubt are searched for ${now - searchedAt} ms after the last search`);
    this.#doubts = { searchedAt: now, isUnderWay: true, found };
  }

  /** It has found so many tasks, which were in flight already. */
  searched(count: number): void {
    this.#doubts = { ...this.#doubts, isUnderWay: false, found: this.#doubts.found + count };
  }

  /** What leaves is a submission, or the answer to a modal. */
  submits(now: number): void {
    this.#checkRate(now);
    this.#checkBudget();
  }

  holds(held: { readonly taskSlots: number; readonly jobs: number; readonly cells: number }): void {
    const { limits, ends, fetch, listing } = this.#scenario;
    const { tasks, requests } = limits;
    // Where the service seems to have forgotten all tasks, one new task at a time, five at most, find out whether it still makes any.
    const unknown = fetch.unknown ?? fetch['204'] ?? fetch['404'] ?? fetch.null;
    // A task that gave its place back takes it again when the service, or its list, shows it after all.
    const trials = ends.lost > 0 || unknown !== undefined || listing === 'odd' ? 5 : 0;
    if (held.taskSlots > Math.max(tasks, this.#found) + this.#doubts.found + trials)
      throw new BrokenPromise(`${held.taskSlots} tasks in flight, limit ${tasks}`);
    // Room for tasks, as many jobs again that are being saved, and what those cells have ready.
    const bound = 16 * (tasks + 2 * (tasks + requests));
    if (held.jobs > bound || held.cells > bound)
      throw new BrokenPromise(`${held.jobs} jobs and ${held.cells} cells are held, bound ${bound}`);
  }

  #checkRate(now: number): void {
    const { submitPerMinute } = this.#scenario.limits;
    if (submitPerMinute === undefined) return;
    this.#submitTimes.push(now);
    const windowMs = rateWindowMs(this.#scenario);
    const lately = this.#submitTimes.filter((at) => at > now - windowMs);
    if (lately.length > submitPerMinute)
      throw new BrokenPromise(
        `${lately.length} submissions within ${windowMs} ms, limit ${submitPerMinute} a minute`,
      );
  }

  #checkBudget(): void {
    const { budget, costBudget } = this.#scenario;
    const { attempts, cost, possibleCost } = this.#store.totals();
    // The healing runs at the end have no budget.
    if (budget !== undefined && !this.#gateway.healed && attempts > budget)
      throw new BrokenPromise(`${attempts} attempts, budget ${budget}`);
    const underWay = this.#store
      .unfinished()
      .filter(({ status, modal }) => status === 'submitting' && modal === undefined);
    const most = cost + possibleCost + underWay.length;
    if (costBudget !== undefined && !this.#gateway.healed && most > costBudget)
      throw new BrokenPromise(`Up to ${most} may be paid, budget ${costBudget}`);
  }
}
