import { canonicalJson, isMapping, type Value, WrittenNumber } from '../../pipeline/values/value.ts';
import type { TextRequest } from '../job-request.ts';

/** Estimated tokens of a text call. */
export interface TokenEstimate {
  /** Tokens sent. */
  readonly input: number;
  /** Tokens received, including thinking. */
  readonly output: number;
}

/** In Latin script, a token is about four characters of one byte each; in other scripts it has fewer characters with more bytes. */
const bytesPerToken = 4;
/** A tile of 768 × 768 pixels is 258 tokens for native models; an image has one to nine tiles, and five is a guess. */
const tokensPerImage = 5 * 258;
/** Tokens of a reply without a length limit; a guess. */
const usualReplyTokens = 1024;
/** Bytes of a reply's member, an address or an id; a guess. */
const usualMember = 64;
/** Results that are whole replies. */
const replySettings: readonly string[] = ['text', 'json', 'parts', 'prompts'];
/** Tokens of thinking by level, and without a limit; guesses. */
const thinkingTokens: Readonly<Record<string, number>> = {
  minimal: 128,
  low: 1024,
  medium: 4096,
  high: 8192,
};

/** Fields of which the model reads only the contained texts; it reads others as JSON. */
const spokenFields = ['prompt', 'system', 'contents', 'systemInstruction', 'messages'];
const schemaFields = ['responseSchema', 'tools', 'functions', 'response_format'];

/** Estimates how many bytes a template writes for this member of a step that has not run yet; a guess. */
export const usualResult = (path: readonly string[]): number =>
  path.length === 1 && replySettings.includes(path[0] ?? '') ? usualReplyTokens * bytesPerToken : usualMember;

/**
 * Estimates the tokens of a call before it is made, from the length of its texts, its images and its largest reply. Earlier turns, cached
 * content and rounds of function calls are not counted.
 *
 * @param images number of images besides those in its fields
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
  // Any negative budget lets the model decide.
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

/** Adds up the texts in a value, and the images that it contains as data. */
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
