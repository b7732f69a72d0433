import { members } from '../../http/json.ts';
import type { ReplyUsage } from '../../result.ts';

/** `usageMetadata` of the native endpoint (gateway 6.5). Undefined: it counts nothing. */
export function readNativeUsage(value: unknown): ReplyUsage | undefined {
  const usage = members(value);
  if (usage === undefined) return undefined;
  return usageOf({
    prompt: count(usage['promptTokenCount']),
    cached: count(usage['cachedContentTokenCount']),
    candidates: count(usage['candidatesTokenCount']),
    thoughts: count(usage['thoughtsTokenCount']),
    tool: count(usage['toolUsePromptTokenCount']),
    total: count(usage['totalTokenCount']),
  });
}

/**
 * `usage` of chat (gateway 7.1). `completion_tokens` contains the reasoning, so that what is seen of the answer is the
 * rest; some gateways count reasoning beside it, which their total gives away.
 */
export function readChatUsage(value: unknown): ReplyUsage | undefined {
  const usage = members(value);
  if (usage === undefined) return undefined;
  const prompt = count(usage['prompt_tokens']);
  const completion = count(usage['completion_tokens']);
  const thoughts = count(members(usage['completion_tokens_details'])?.['reasoning_tokens']);
  const total = count(usage['total_tokens']);
  const isBeside =
    completion !== undefined &&
    thoughts !== undefined &&
    (thoughts > completion || total === (prompt ?? 0) + completion + thoughts);
  return usageOf({
    prompt,
    cached: count(members(usage['prompt_tokens_details'])?.['cached_tokens']),
    candidates: completion === undefined || isBeside ? completion : completion - (thoughts ?? 0),
    thoughts,
    total,
  });
}

type Counts = { readonly [K in keyof ReplyUsage]: number | undefined };

/** A total that is not told is the sum of what is: counts that are left out are 0 (gateway 6.5). */
function usageOf(counts: Counts): ReplyUsage | undefined {
  const told = [counts.prompt, counts.candidates, counts.thoughts, counts.tool].filter(
    (value) => value !== undefined,
  );
  const sum = told.length === 0 ? undefined : told.reduce((a, b) => a + b, 0);
  // Whatever is asked and answered takes some: a service that counts 0 of everything does not count.
  const total = Math.max(counts.total ?? 0, sum ?? 0);
  if (total === 0) return undefined;
  const usage = { ...counts, total };
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined));
}

/** No answer takes a billion tokens: the largest contexts are of some ten millions. */
const mostTokens = 1e9;

/** No count is a fraction, negative, or more than any answer can take. */
const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= mostTokens
    ? (value as number)
    : undefined;
