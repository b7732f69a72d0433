import { tokenCounts } from '../pipeline/kinds.ts';
import type { TokenUsage } from './job.ts';

/** The counts that add up to `total`: `cached` is part of `prompt`. */
export const tokenParts = ['prompt', 'candidates', 'thoughts', 'tool', 'other'] as const;

/** Returns all tokens of a reply: the service's total, else the sum of its parts (gateway 6.5). */
export const totalTokens = (usage: TokenUsage): number =>
  usage.total ?? tokenParts.reduce((sum, name) => sum + (usage[name] ?? 0), 0);

/** Splits tokens by the side at which they are priced; `other` may be either. Undefined: no part was counted. */
export function tokenSides(
  usage: TokenUsage,
): { readonly sent: number; readonly made: number; readonly other: number } | undefined {
  if (tokenParts.every((name) => usage[name] === undefined)) return undefined;
  const { prompt = 0, tool = 0, candidates = 0, thoughts = 0, other = 0 } = usage;
  return { sent: prompt + tool, made: candidates + thoughts, other };
}

/** A {@link TokenUsage} that can be changed. */
type GrowingUsage = { -readonly [K in keyof TokenUsage]: TokenUsage[K] };

/** Adds two counts. A member that both lack stays unknown. */
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

/** Returns the increase of a count since an earlier one of the same job. A missing member stays unknown. */
export function usageSince(before: TokenUsage, now: TokenUsage): TokenUsage {
  const grown: GrowingUsage = {};
  for (const name of tokenCounts) {
    const value = now[name];
    if (value !== undefined) grown[name] = value - (before[name] ?? 0);
  }
  return grown;
}

/** A sum of many counts, added one at a time. */
export class UsageSum {
  #sum: GrowingUsage | undefined;

  add(more: TokenUsage): void {
    this.#sum ??= {};
    addTo(this.#sum, more);
  }

  /** The sum, in the order of `tokenCounts`; undefined if nothing was added. */
  get value(): TokenUsage | undefined {
    return this.#sum && addUsage(undefined, this.#sum);
  }
}
