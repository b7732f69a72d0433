import { tokenCounts } from '../pipeline/kinds.ts';
import type { TokenUsage } from './job.ts';

/** The counts that add up to `total`: `cached` is part of `prompt`. */
export const tokenParts = ['prompt', 'candidates', 'thoughts', 'tool', 'other'] as const;

/** All tokens of a reply: the service's total, else the sum of its parts (gateway 6.5). */
export const totalTokens = (usage: TokenUsage): number =>
  usage.total ?? tokenParts.reduce((sum, name) => sum + (usage[name] ?? 0), 0);

/** Tokens by the side that they are priced at; what nobody knows the side of is `other`. Undefined: no part was counted. */
export function tokenSides(
  usage: TokenUsage,
): { readonly sent: number; readonly made: number; readonly other: number } | undefined {
  if (tokenParts.every((name) => usage[name] === undefined)) return undefined;
  const { prompt = 0, tool = 0, candidates = 0, thoughts = 0, other = 0 } = usage;
  return { sent: prompt + tool, made: candidates + thoughts, other };
}

/** Counts that grow. */
type GrowingUsage = { -readonly [K in keyof TokenUsage]: TokenUsage[K] };

/** Two counts together. What neither knows stays unknown. */
export function addUsage(sum: TokenUsage | undefined, more: TokenUsage): TokenUsage {
  const added: GrowingUsage = { ...sum };
  addTo(added, more);
  return added;
}

function addTo(sum: GrowingUsage, more: TokenUsage): void {
  for (const name of tokenCounts) {
    const value = more[name];
    if (value !== undefined) sum[name] = (sum[name] ?? 0) + value;
  }
}

/** What a count has grown by since an earlier one of the same job. What it does not know stays unknown. */
export function usageSince(before: TokenUsage, now: TokenUsage): TokenUsage {
  const grown: GrowingUsage = {};
  for (const name of tokenCounts) {
    const value = now[name];
    if (value !== undefined) grown[name] = value - (before[name] ?? 0);
  }
  return grown;
}

/** The sum of many counts, added one at a time. */
export class UsageSum {
  #sum: GrowingUsage | undefined;

  add(more: TokenUsage): void {
    this.#sum ??= {};
    addTo(this.#sum, more);
  }

  /** In the order of `tokenCounts`; undefined: nothing was added. */
  get value(): TokenUsage | undefined {
    return this.#sum && addUsage(undefined, this.#sum);
  }
}
