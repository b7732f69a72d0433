import type { TokenUsage } from '../plan/job.ts';
import type { AskAnswer } from './job.ts';

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

/** The tokens that an answer says it took. */
export function usageOf(answer: AskAnswer): TokenUsage | undefined {
  switch (answer.kind) {
    case 'answered':
      return answer.asked.usage;
    case 'refused':
      return answer.error.usage;
    case 'unwritten':
      return answer.usage;
    case 'unread':
      return undefined;
  }
}

/** What an answer takes from the rate of tokens; undefined where the service may have worked and nobody knows how much. */
export function tokensTaken(answer: AskAnswer): number | undefined {
  const usage = usageOf(answer);
  if (usage !== undefined) return tokensOf(usage);
  return mayHaveWorked(answer) ? undefined : 0;
}

/** True unless it is certain that the service did nothing for a call without a usable answer. */
const mayHaveWorked = (answer: AskAnswer): boolean =>
  answer.kind !== 'unread' &&
  !(answer.kind === 'refused' && answer.error.class !== 'retry' && answer.error.class !== 'lost');
