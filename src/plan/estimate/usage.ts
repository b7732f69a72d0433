import { usageMembers } from '../../pipeline/schema/step-kinds.ts';
import type { TokenUsage } from '../job.ts';

/** The counts of tokens, in the order in which they are shown. */
export const usageCounts = usageMembers satisfies readonly (keyof TokenUsage)[];

/** Counts that grow. */
type GrowingUsage = { -readonly [K in keyof TokenUsage]: TokenUsage[K] };

/** Two counts together. What neither knows stays unknown. */
export function addUsage(sum: TokenUsage | undefined, more: TokenUsage): TokenUsage {
  const added: GrowingUsage = { ...sum };
  addTo(added, more);
  return added;
}

function addTo(sum: GrowingUsage, more: TokenUsage): void {
  for (const name of usageCounts) {
    const value = more[name];
    if (value !== undefined) sum[name] = (sum[name] ?? 0) + value;
  }
}

/** The sum of many counts, added one at a time. */
export class UsageSum {
  #sum: GrowingUsage | undefined;

  add(more: TokenUsage): void {
    this.#sum ??= {};
    addTo(this.#sum, more);
  }

  /** In the order of {@link usageCounts}; undefined: nothing was added. */
  get value(): TokenUsage | undefined {
    return this.#sum && addUsage(undefined, this.#sum);
  }
}
