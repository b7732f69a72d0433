import { addUsage, usageCounts } from '../../../plan/estimate/usage.ts';
import type { TokenUsage } from '../../../plan/job.ts';
import type { RunEvent } from '../../../run/events.ts';

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
  /** What each active text job had spent at its last event. */
  readonly #before = new Map<string, { readonly cost: number; readonly usage: TokenUsage }>();

  get cost(): number | undefined {
    return this.#cost;
  }

  get tokens(): TokenUsage | undefined {
    return this.#tokens;
  }

  take({ key, to, cost, usage }: JobChange): void {
    // A text job pays with every answer, and what it says is the sum of all that it was ever given.
    if (usage !== undefined || this.#before.has(key)) {
      this.#takeText(key, to, cost, usage ?? {});
      return;
    }
    if (to === 'done' && cost !== undefined) this.#cost = (this.#cost ?? 0) + cost;
  }

  #takeText(key: string, to: JobChange['to'], cost = 0, usage: TokenUsage): void {
    const before = this.#before.get(key);
    if (to === 'done' || to === 'failed' || to === 'in-doubt') this.#before.delete(key);
    else this.#before.set(key, { cost, usage });
    // Nothing was answered yet in this invocation: an earlier one paid for this.
    if (before === undefined && to === 'submitting') return;
    const more = cost - (before?.cost ?? 0);
    if (more > 0) this.#cost = (this.#cost ?? 0) + more;
    const added = difference(usage, before?.usage ?? {});
    if (Object.keys(added).length > 0) this.#tokens = addUsage(this.#tokens, added);
  }
}

function difference(now: TokenUsage, before: TokenUsage): TokenUsage {
  const added: { -readonly [K in keyof TokenUsage]: TokenUsage[K] } = {};
  for (const name of usageCounts) {
    const value = now[name];
    if (value !== undefined) added[name] = value - (before[name] ?? 0);
  }
  return added;
}
