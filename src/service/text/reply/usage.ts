import { members } from '../../http/json.ts';
import type { ReplyUsage } from '../../result.ts';
import type { JsonObject } from '../../text-service.ts';

/** Reads `usageMetadata` of the native endpoint (gateway 6.5), in camel or snake case. Undefined: it has no counts. */
export function readNativeUsage(value: unknown): ReplyUsage | undefined {
  const usage = members(value);
  if (usage === undefined) return undefined;
  return usageOf({
    prompt: count(usage['promptTokenCount'] ?? usage['prompt_token_count']),
    cached: count(usage['cachedContentTokenCount'] ?? usage['cached_content_token_count']),
    candidates: count(usage['candidatesTokenCount'] ?? usage['candidates_token_count']),
    thoughts: count(usage['thoughtsTokenCount'] ?? usage['thoughts_token_count']),
    tool: count(usage['toolUsePromptTokenCount'] ?? usage['tool_use_prompt_token_count']),
    total: count(usage['totalTokenCount'] ?? usage['total_token_count']),
  });
}

/**
 * Reads `usage` of chat (gateway 7.1). `completion_tokens` includes the reasoning, so that the visible reply is the rest. Some gateways
 * count reasoning separately: their total shows that, and so does more reasoning than completion, unless the total says that it is
 * included.
 */
export function readChatUsage(value: unknown): ReplyUsage | undefined {
  const usage = members(value);
  if (usage === undefined) return undefined;
  const prompt = count(usage['prompt_tokens'] ?? usage['input_tokens']);
  const completion = count(usage['completion_tokens'] ?? usage['output_tokens']);
  const thoughts = count(detailsOf(usage, 'completion', 'output')['reasoning_tokens']);
  const total = count(usage['total_tokens']);
  const isBeside =
    completion !== undefined &&
    thoughts !== undefined &&
    standsBeside(completion, thoughts, (total ?? 0) - (prompt ?? 0));
  return usageOf({
    prompt,
    cached: count(detailsOf(usage, 'prompt', 'input')['cached_tokens']),
    candidates: completion === undefined || isBeside ? completion : Math.max(0, completion - (thoughts ?? 0)),
    thoughts,
    total,
  });
}

/** @param made the total without the prompt */
const standsBeside = (completion: number, thoughts: number, made: number): boolean =>
  made >= completion + thoughts || (thoughts > completion && made < thoughts);

const detailsOf = (usage: JsonObject, ...sides: readonly string[]): JsonObject =>
  sides.map((side) => members(usage[`${side}_tokens_details`])).find((details) => details !== undefined) ??
  {};

/** Reads the counts of a whole chat reply: some gateways put them into a choice, or into a member of their own (gateway 7.1). */
export function chatUsageIn(whole: JsonObject): ReplyUsage | undefined {
  const { usage, x_groq: own, choices } = whole;
  const inChoices = Array.isArray(choices) ? choices.map((choice) => members(choice)?.['usage']) : [];
  return readChatUsage([usage, members(own)?.['usage'], ...inChoices].reduce(mergedCounts, undefined));
}

/**
 * Merges earlier and later counts. Each count is the largest so far, because streams count up, and some report one side first and the
 * other last. Invalid counts change nothing.
 */
export function mergedCounts(earlier: unknown, later: unknown): unknown {
  const [before, after] = [members(earlier), members(later)];
  if (before === undefined || after === undefined) return after === undefined ? (earlier ?? later) : later;
  const merged = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(after)) {
    const known = merged.get(name);
    if (members(known) !== undefined) merged.set(name, mergedCounts(known, value));
    else if (count(known) === undefined || (count(value) ?? -1) > (known as number))
      merged.set(name, value ?? known);
  }
  return Object.fromEntries(merged);
}

type Counts = { readonly [K in keyof ReplyUsage]: number | undefined };

/** Builds the usage: a missing total is the sum of the counts, and the surplus of a total is `other`. */
function usageOf({ total: told = 0, ...parts }: Counts): ReplyUsage | undefined {
  const { prompt = 0, candidates = 0, thoughts = 0, tool = 0 } = parts;
  const sum = prompt + candidates + thoughts + tool;
  const total = Math.max(told, sum);
  // Every request and reply takes some tokens: a service that reports 0 for everything does not count.
  if (total === 0) return undefined;
  const usage: { -readonly [K in keyof ReplyUsage]: ReplyUsage[K] } = {};
  for (const name of ['prompt', 'cached', 'candidates', 'thoughts', 'tool'] as const) {
    const value = parts[name];
    if (value !== undefined) usage[name] = value;
  }
  if (total > sum) usage.other = total - sum;
  usage.total = total;
  return usage;
}

/** Largest plausible count of tokens: the largest contexts are of some ten millions. */
const maxTokens = 1e9;

/** Returns a count, or undefined if it is a fraction, negative or implausibly large. */
const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= maxTokens
    ? (value as number)
    : undefined;
