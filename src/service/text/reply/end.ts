import { members } from '../../http/json.ts';
import type { ReplyBody } from '../../http/reply.ts';
import type { JsonObject } from '../../text-service.ts';

/** How the bytes of a reply ended. */
export type StreamEnd =
  /** `whole`: one object, whether it came as one or as a stream's events. */
  | { readonly kind: 'answer'; readonly whole: JsonObject }
  /** An error object, alone or after good events, with `data:` or without it (gateway 6.7). */
  | { readonly kind: 'error'; readonly body: JsonObject }
  /** The stream ended before the model gave a finish reason. */
  | { readonly kind: 'truncated' }
  /** An event that cannot be read. `what`: a clause for the message. */
  | { readonly kind: 'unusable'; readonly what: string; readonly cause?: unknown }
  | { readonly kind: 'too-large'; readonly what: string }
  /** No answer in any of its forms: a page, text, cut JSON, nothing. */
  | { readonly kind: 'other'; readonly body: ReplyBody };

type ErrorEnd = StreamEnd & { readonly kind: 'error' };

export const tooLargeEnd = (what: string): StreamEnd => ({ kind: 'too-large', what });

/** The end that an event brings which is an error. */
export function errorIn(event: JsonObject | undefined): ErrorEnd | undefined {
  const error = event?.['error'];
  const isError = typeof error === 'string' ? error !== '' : members(error) !== undefined;
  return isError && event !== undefined ? { kind: 'error', body: event } : undefined;
}

export const noReply: StreamEnd = { kind: 'unusable', what: 'but its JSON is no answer of a model' };

/** The end for one object: a whole reply, an error, or neither. */
export function readWhole(
  kind: 'generate' | 'chat',
  value: JsonObject | undefined,
  maxCandidates: number,
): StreamEnd {
  const error = errorIn(value);
  if (error !== undefined) return error;
  if (value === undefined || !isReplyOf(kind, value)) return noReply;
  const candidates = kind === 'chat' ? value['choices'] : value['candidates'];
  return Array.isArray(candidates) && candidates.length > maxCandidates
    ? tooLargeEnd(`it has more than ${maxCandidates} candidates`)
    : { kind: 'answer', whole: value };
}

const isReplyOf = (kind: 'generate' | 'chat', value: JsonObject): boolean =>
  kind === 'chat'
    ? Array.isArray(value['choices'])
    : Array.isArray(value['candidates']) ||
      members(value['promptFeedback']) !== undefined ||
      members(value['usageMetadata']) !== undefined;
