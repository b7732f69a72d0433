import { members } from '../../http/json.ts';
import type { FunctionCall, InlineImage, JsonObject, ReplyCandidate, TextReply } from '../../text-service.ts';
import { readNativeUsage } from './usage.ts';

/** Reads a whole reply of the native endpoint (gateway 6.5). Never fails: malformed members are left out. */
export function readTextReply(whole: JsonObject): TextReply {
  const feedback = members(whole['promptFeedback']);
  const usage = readNativeUsage(whole['usageMetadata']);
  return {
    candidates: inOrder(whole['candidates']).map(readCandidate),
    ...textMember('blockReason', feedback?.['blockReason']),
    ...textMember('blockMessage', feedback?.['blockReasonMessage']),
    ...(usage !== undefined && { usage }),
    ...textMember('model', whole['modelVersion']),
    ...textMember('responseId', whole['responseId']),
    whole,
  };
}

/** Members of replies that some gateways write in snake case, as the vendor's own libraries do (gateway 6.5). */
const snakeNames: ReadonlyMap<string, string> = new Map(
  [
    'promptFeedback',
    'blockReason',
    'blockReasonMessage',
    'usageMetadata',
    'modelVersion',
    'responseId',
    'finishReason',
    'finishMessage',
    'inlineData',
    'mimeType',
    'functionCall',
    'thoughtSignature',
  ].map((name) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name]),
);

/** Members that may contain such names; the arguments of a function are the model's own. */
const holders = new Set(['promptFeedback', 'candidates', 'content', 'parts', 'inlineData']);

/** Reasons by their numbers. Only the first ones: the vendor's two interfaces count the others differently. */
const numbered: Readonly<Record<string, readonly (string | undefined)[]>> = {
  finishReason: [undefined, 'STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'OTHER'],
  blockReason: [undefined, 'SAFETY', 'OTHER', 'BLOCKLIST', 'PROHIBITED_CONTENT'],
};

/** Returns a native reply, or an event of one, with the contract's member names and with reasons as words; unchanged if it has them. */
export function withNativeNames<T>(value: T): T {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => withNativeNames(item));
    return items.every((item, at) => item === value[at]) ? value : (items as T);
  }
  const object = members(value);
  if (object === undefined) return value;
  let isChanged = false;
  const entries = Object.entries(object).map(([given, inner]): readonly [string, unknown] => {
    const name = snakeNames.get(given) ?? given;
    const reasons = numbered[name];
    const named = holders.has(name)
      ? withNativeNames(inner)
      : reasons !== undefined && typeof inner === 'number'
        ? inner === 0
          ? undefined
          : (reasons[inner] ?? `${name === 'finishReason' ? 'FINISH' : 'BLOCK'}_REASON_${inner}`)
        : inner;
    isChanged ||= name !== given || named !== inner;
    return [name, named];
  });
  return isChanged ? (Object.fromEntries(entries.filter(([, inner]) => inner !== undefined)) as T) : value;
}

/** The block reason of a reply without candidates, where a converting gateway gives no other reason. */
export const noCandidates = {
  unexplained: true,
  blockReason: 'NO_CANDIDATES',
  blockMessage: 'neither answer nor reason came, which is how converting gateways report a blocked prompt',
} as const;

function readCandidate(candidate: JsonObject): ReplyCandidate {
  // A reply that was spent on thinking has content without parts, or none at all (gateway 6.6).
  const parts = objectsIn(members(candidate['content'])?.['parts']);
  return {
    ...readParts(parts),
    ...textMember('finishReason', candidate['finishReason']),
    ...textMember('finishMessage', candidate['finishMessage']),
  };
}

/** Reads the result of native parts. A thought is never a result. */
export function readParts(
  parts: readonly JsonObject[],
): Pick<ReplyCandidate, 'parts' | 'text' | 'images' | 'functionCalls'> {
  const visible = parts.filter((part) => part['thought'] !== true);
  return {
    parts,
    text: visible.map(({ text }) => (typeof text === 'string' ? text : '')).join(''),
    images: visible.flatMap(readImage),
    functionCalls: visible.flatMap(readCall),
  };
}

function readImage(part: JsonObject): readonly InlineImage[] {
  const { mimeType, data } = members(part['inlineData']) ?? {};
  const isImage = typeof mimeType === 'string' && /^image\//i.test(mimeType);
  return isImage && typeof data === 'string' && data !== '' ? [{ mimeType, data }] : [];
}

function readCall(part: JsonObject): readonly FunctionCall[] {
  const { id, name, args } = members(part['functionCall']) ?? {};
  if (typeof name !== 'string' || name === '') return [];
  return [{ ...textMember('id', id), name, args: members(args) ?? {} }];
}

/** Returns candidates by their index; one without an index keeps its place. */
export function inOrder(candidates: unknown): readonly JsonObject[] {
  return objectsIn(candidates)
    .map((candidate, place) => ({ candidate, index: indexOf(candidate) ?? place }))
    .sort((a, b) => a.index - b.index)
    .map(({ candidate }) => candidate);
}

export const indexOf = (candidate: JsonObject): number | undefined => {
  const { index } = candidate;
  return Number.isSafeInteger(index) && (index as number) >= 0 ? (index as number) : undefined;
};

export const objectsIn = (list: unknown): readonly JsonObject[] =>
  Array.isArray(list) ? list.map(members).filter((item) => item !== undefined) : [];

/** Returns `{ name: text }`, or nothing if there is no text. */
export const textMember = <K extends string>(name: K, value: unknown): { readonly [N in K]?: string } =>
  typeof value === 'string' && value !== '' ? ({ [name]: value } as { readonly [N in K]?: string }) : nothing;

const nothing = {};
