import type { TokenUsage } from '../../plan/job.ts';
import { addUsage, usageSince } from '../../plan/usage.ts';
import type { RunEvent } from '../../run/events.ts';

type JobChange = Extract<RunEvent, { type: 'job:status' }>;

/** Sums of what was spent. */
export interface Spent {
  /** 0: nothing, or there are no prices. */
  readonly cost: number;
  readonly tokens: number;
}

/** The spending of one invocation, from what events report. */
export class Spending {
  #cost: number | undefined;
  #tokens: TokenUsage | undefined;
  /** What each job that is not settled had cost and used at its last event, in whichever run. */
  readonly #before = new Map<string, { readonly cost: number; readonly usage: TokenUsage }>();

  get cost(): number | undefined {
    return this.#cost;
  }

  get tokens(): TokenUsage | undefined {
    return this.#tokens;
  }

  take({ key, to, cost, usage = {} }: JobChange): void {
    const before = this.#before.get(key);
    if (to === 'done' || to === 'failed' || to === 'in-doubt') this.#before.delete(key);
    else this.#before.set(key, { cost: cost ?? 0, usage });
    // As it is when it is taken up, earlier runs paid for it.
    if (before === undefined) return;
    const more = (cost ?? 0) - before.cost;
    // A submission that was not accepted gives its price back.
    if (cost !== undefined || more !== 0) this.#cost = Math.max(0, (this.#cost ?? 0) + more);
    const added = usageSince(before.usage, usage);
    if (Object.keys(added).length > 0) this.#tokens = addUsage(this.#tokens, added);
  }
}
