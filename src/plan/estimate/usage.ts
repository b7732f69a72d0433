import type { TokenUsage } from '../job.ts';

/** The counts of tokens, in the order in which they are shown. */
export const usageCounts = [
  'prompt',
  'cached',
  'candidates',
  'thoughts',
  'tool',
  'total',
] as const satisfies readonly (keyof TokenUsage)[];

/** Two counts together. What neither knows stays unknown. */
export function addUsage(sum: TokenUsage | undefined, more: TokenUsage): TokenUsage {
  const added: { -readonly [K in keyof TokenUsage]: TokenUsage[K] } = { ...sum };
  for (const name of usageCounts) {
    const value = more[name];
    if (value !== undefined) added[name] = (added[name] ?? 0) + value;
  }
  return added;
}
