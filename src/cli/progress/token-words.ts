import type { TokenUsage } from '../../plan/job.ts';
import { count } from './amounts.ts';

/**
 * Tokens for people: `tokens 1,200 in, 340 out, 2,000 thoughts`. What a tool brought into the prompt is in; what was not
 * counted is left out. Undefined where nothing was.
 */
export function tokenWords(usage: TokenUsage | undefined): string | undefined {
  if (usage === undefined) return undefined;
  const { prompt, tool, candidates, thoughts, total } = usage;
  const into = prompt === undefined && tool === undefined ? undefined : (prompt ?? 0) + (tool ?? 0);
  const parts = [
    ...(into === undefined ? [] : [`${count(into)} in`]),
    ...(candidates === undefined ? [] : [`${count(candidates)} out`]),
    ...(thoughts === undefined ? [] : [`${count(thoughts)} thoughts`]),
  ];
  if (parts.length > 0) return `tokens ${parts.join(', ')}`;
  return total === undefined ? undefined : `tokens ${count(total)}`;
}
