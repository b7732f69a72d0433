import type { TokenUsage } from '../plan/job.ts';

const members = [
  'prompt',
  'cached',
  'candidates',
  'thoughts',
  'tool',
] as const satisfies readonly (keyof TokenUsage)[];

/** All tokens of an answer: what the service says, else the sum of what it does say (protocol.md 5.2). */
export const tokensOf = ({ total, prompt = 0, candidates = 0, thoughts = 0, tool = 0 }: TokenUsage): number =>
  total ?? prompt + candidates + thoughts + tool;

/** The tokens of two answers together. What neither says stays unknown; the total is always known. */
export function sumUsage(sum: TokenUsage | undefined, more: TokenUsage | undefined): TokenUsage | undefined {
  if (sum === undefined && more === undefined) return undefined;
  const [a, b] = [sum ?? {}, more ?? {}];
  const parts = members.flatMap((name) => {
    const [one, other] = [a[name], b[name]];
    return one === undefined && other === undefined ? [] : [[name, (one ?? 0) + (other ?? 0)] as const];
  });
  return { ...Object.fromEntries(parts), total: tokensOf(a) + tokensOf(b) };
}
