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
 * `usage` of chat (gateway 7.1). `completion_tokens` contains the reasoning, so the visible reply is the rest. Some
 * gateways count reasoning beside it; their total shows that.
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

/** A missing total is the sum of the given counts: counts that are left out are 0 (gateway 6.5). */
function usageOf(counts: Counts): ReplyUsage | undefined {
  const stated = [counts.prompt, counts.candidates, counts.thoughts, counts.tool].filter(
    (value) => value !== undefined,
  );
  const sum = stated.length === 0 ? undefined : stated.reduce((a, b) => a + b, 0);
  // Every request and reply takes some tokens: a service that counts 0 of everything does not count.
  const total = Math.max(counts.total ?? 0, sum ?? 0);
  if (total === 0) return undefined;
  const usage: { -readonly [K in keyof ReplyUsage]: ReplyUsage[K] } = {};
  for (const name of ['prompt', 'cached', 'candidates', 'thoughts', 'tool'] as const) {
    const value = counts[name];
    if (value !== undefined) usage[name] = value;
  }
  usage.total = total;
  return usage;
}

/** No reply takes a billion tokens: the largest contexts are of some ten millions. */
const mostTokens = 1e9;

/** No count is a fraction, negative, or more than any reply can take. */
const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= mostTokens
    ? (value as number)
    : undefined;
