import { members } from '../../http/json.ts';
import type { ReplyBody } from '../../http/reply.ts';
import type { JsonObject } from '../../text-service.ts';

/** What the bytes of an answer came to. */
export type StreamEnd =
  /** `whole`: one object, whether it came as one or as a stream's events. */
  | { readonly kind: 'answer'; readonly whole: JsonObject }
  /** An error object, alone or after good events, with `data:` or without it (gateway 6.7). */
  | { readonly kind: 'error'; readonly body: JsonObject }
  /** The stream ended before the model had told why it ended. */
  | { readonly kind: 'truncated' }
  /** An event that cannot be read. `what`: a clause for the message. */
  | { readonly kind: 'unusable'; readonly what: string; readonly cause?: unknown }
  | { readonly kind: 'too-large'; readonly what: string }
  /** No answer in any of its forms: a page, text, cut JSON, nothing. */
  | { readonly kind: 'other'; readonly body: ReplyBody };

type ErrorEnd = StreamEnd & { readonly kind: 'error' };

export const tooLarge = (what: string): StreamEnd => ({ kind: 'too-large', what });

/** The end that an event brings which is an error. */
export function errorIn(event: JsonObject | undefined): ErrorEnd | undefined {
  const error = event?.['error'];
  const isError = typeof error === 'string' ? error !== '' : members(error) !== undefined;
  return isError && event !== undefined ? { kind: 'error', body: event } : undefined;
}

export const noAnswer: StreamEnd = { kind: 'unusable', what: 'but its JSON is no answer of a model' };

/** What one object comes to that is a whole answer, an error, or neither. */
export function readWhole(
  kind: 'generate' | 'chat',
  value: JsonObject | undefined,
  maxCandidates: number,
): StreamEnd {
  const error = errorIn(value);
  if (error !== undefined) return error;
  if (value === undefined || !isAnswerOf(kind, value)) return noAnswer;
  const candidates = kind === 'chat' ? value['choices'] : value['candidates'];
  return Array.isArray(candidates) && candidates.length > maxCandidates
    ? tooLarge(`it has more than ${maxCandidates} candidates`)
    : { kind: 'answer', whole: value };
}

const isAnswerOf = (kind: 'generate' | 'chat', value: JsonObject): boolean =>
  kind === 'chat'
    ? Array.isArray(value['choices'])
    : Array.isArray(value['candidates']) ||
      members(value['promptFeedback']) !== undefined ||
      members(value['usageMetadata']) !== undefined;
