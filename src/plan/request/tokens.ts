import { canonicalJson, isMapping, type Value, WrittenNumber } from '../../pipeline/values/value.ts';
import type { TextRequest } from '../job-request.ts';

/** About how many tokens one text call takes. */
export interface TokenEstimate {
  /** What is sent. */
  readonly input: number;
  /** What is answered, thinking included. */
  readonly output: number;
}

/** Of Latin script, one token is about four characters, each of them one byte; other scripts take more of both. */
const bytesPerToken = 4;
/** A tile of 768 × 768 pixels is 258 tokens to native models; pictures have one to nine tiles, and five is a guess. */
const tokensPerImage = 5 * 258;
/** Of a reply whose length nothing bounds; a guess. */
const usualReplyTokens = 1024;
/** Bytes of a member of a reply, of an address, of an id; a guess. */
const usualMember = 64;
/** Results that are whole replies. */
const replySettings: readonly string[] = ['text', 'json', 'parts', 'prompts'];
/** Thinking by level, and for as much as the model likes; guesses. */
const thinkingTokens: Readonly<Record<string, number>> = {
  minimal: 128,
  low: 1024,
  medium: 4096,
  high: 8192,
};

/** Fields of which the model reads only the texts in them, and those that it reads as JSON. */
const spokenFields = ['prompt', 'system', 'contents', 'systemInstruction', 'messages'];
const schemaFields = ['responseSchema', 'tools', 'functions', 'response_format'];

/** About how many bytes a template writes for this member of a step that has not run yet; a guess. */
export const usualResult = (path: readonly string[]): number =>
  path.length === 1 && replySettings.includes(path[0] ?? '') ? usualReplyTokens * bytesPerToken : usualMember;

/**
 * Estimates the tokens of a call before it is made, from the length of its texts, its images and its largest reply. Earlier
 * turns that it continues, cached content and rounds of function calls are not counted.
 *
 * @param images how many it shows beside those that stand in its fields
 */
export function estimateTokens({ fields }: Pick<TextRequest, 'fields'>, images: number): TokenEstimate {
  const config = mappingOf(fields.generationConfig);
  let bytes = 0;
  let shown = images;
  for (const name of spokenFields) {
    const value = fields[name];
    if (value === undefined) continue;
    const weight = weigh(value);
    bytes += weight.bytes;
    shown += weight.images;
  }
  for (const name of schemaFields) bytes += lengthOf(fields[name]);
  bytes += lengthOf(config.responseSchema) + lengthOf(config.responseJsonSchema);
  return {
    input: Math.ceil(bytes / bytesPerToken) + shown * tokensPerImage,
    output: outputOf(fields, config),
  };
}

function outputOf(fields: TextRequest['fields'], config: TextRequest['fields']): number {
  const { thinkingLevel, thinkingBudget } = mappingOf(config.thinkingConfig);
  const modalities = config.responseModalities;
  const makesImages = Array.isArray(modalities) && modalities.includes('IMAGE');
  const usual =
    usualReplyTokens +
    thinkingOf(fields.thinking ?? thinkingLevel ?? thinkingBudget) +
    (makesImages ? tokensPerImage : 0);
  const most = config.maxOutputTokens ?? fields.max_tokens;
  const candidates = isCount(config.candidateCount) ? config.candidateCount : 1;
  return candidates * (isCount(most) ? Math.min(most, usual) : usual);
}

function thinkingOf(thinking: Value | undefined): number {
  if (typeof thinking === 'string') return thinkingTokens[thinking.toLowerCase()] ?? 0;
  if (typeof thinking !== 'number') return 0;
  // Any negative budget is as much as the model likes.
  return thinking < 0 ? (thinkingTokens.medium ?? 0) : Math.ceil(thinking);
}

const lengthOf = (schema: Value | undefined): number =>
  schema === undefined ? 0 : Buffer.byteLength(canonicalJson(schema));

const isCount = (value: Value | undefined): value is number => typeof value === 'number' && value > 0;

const nothing: TextRequest['fields'] = {};

const mappingOf = (value: Value | undefined): TextRequest['fields'] => (isMapping(value) ? value : nothing);

interface Weight {
  readonly bytes: number;
  readonly images: number;
}

/** The texts in a value, and the images that stand in it as data. */
function weigh(value: Value | undefined): Weight {
  if (typeof value === 'string')
    return value.startsWith('data:')
      ? { bytes: 0, images: 1 }
      : { bytes: Buffer.byteLength(value), images: 0 };
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber)
    return { bytes: 0, images: 0 };
  if (isMapping(value) && typeof value.data === 'string') return { bytes: 0, images: 1 };
  return Object.values<Value>(value).reduce<Weight>(
    (sum, item) => {
      const weight = weigh(item);
      return { bytes: sum.bytes + weight.bytes, images: sum.images + weight.images };
    },
    { bytes: 0, images: 0 },
  );
}
