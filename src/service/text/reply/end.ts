import { members } from '../../http/json.ts';
import type { ReplyBody } from '../../http/reply.ts';
import type { JsonObject, TextReply } from '../../text-service.ts';
import { objectsIn } from './native.ts';

/** How a whole reply of one text endpoint is recognised and read. */
export interface ReplyForm {
  /** Returns the reply with the member names of the contract, where gateways use others. */
  readonly named: (given: JsonObject | undefined) => JsonObject | undefined;
  /** The member that lists the model's answers. */
  readonly list: 'candidates' | 'choices';
  /** Members by which a reply without that list is recognised. */
  readonly besides: readonly string[];
  readonly read: (whole: JsonObject) => TextReply;
}

/** How the bytes of a reply ended. */
export type StreamEnd =
  /** One whole object; `streamed` if it came as events. */
  | { readonly kind: 'answer'; readonly whole: JsonObject; readonly streamed?: true }
  /** In chat: `[DONE]` came without a finish reason. Some services never give one, others send it after a cut (gateway 7.1). */
  | { readonly kind: 'unfinished'; readonly whole: JsonObject }
  /** An error object, alone or after good events, with `data:` or without it (gateway 6.7). */
  | { readonly kind: 'error'; readonly body: JsonObject }
  /** The stream ended before the model gave a finish reason. */
  | { readonly kind: 'truncated' }
  /** An unreadable event. `what`: a clause for the message. */
  | {
      readonly kind: 'unusable';
      readonly what: string;
      /** The body that came in place of an event, for the message. */
      readonly body?: ReplyBody;
      readonly cause?: unknown;
    }
  | { readonly kind: 'too-large'; readonly what: string }
  /** A body that is not an answer in any form: a page, text, cut JSON, nothing. */
  | { readonly kind: 'other'; readonly body: ReplyBody };

export type ErrorEnd = StreamEnd & { readonly kind: 'error' };

export const tooLargeEnd = (what: string): StreamEnd => ({ kind: 'too-large', what });

/** Returns the error end of an event, or of a whole body, that is an error. */
export function errorIn(event: JsonObject | undefined): ErrorEnd | undefined {
  const error = event?.['error'];
  const isError = typeof error === 'string' ? error !== '' : members(error) !== undefined;
  return event !== undefined && (isError || isBareError(event)) ? { kind: 'error', body: event } : undefined;
}

/**
 * Whether an event is an error without an envelope: `{code: 429, message, status}` of gateways that convert, `{object: "error", …}` of
 * vLLM, a code other than 0 in `base_resp` (gateway 6.7, 8.4).
 */
function isBareError(event: JsonObject): boolean {
  if (Array.isArray(event['choices']) || Array.isArray(event['candidates'])) return false;
  const code = members(event['base_resp'])?.['status_code'] ?? 0;
  return (
    event['object'] === 'error' ||
    event['type'] === 'error' ||
    code !== 0 ||
    statedStatus(event) !== undefined
  );
}

/** HTTP status by google.rpc.Code (gateway 8.4) and by the words of OpenAI-like errors. */
const statuses: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  invalid_request_error: 400,
  invalid_request: 400,
  BadRequestError: 400,
  UNAUTHENTICATED: 401,
  authentication_error: 401,
  invalid_api_key: 401,
  PERMISSION_DENIED: 403,
  permission_error: 403,
  access_denied: 403,
  NOT_FOUND: 404,
  not_found_error: 404,
  RESOURCE_EXHAUSTED: 429,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  token_concurrency_limit_reached: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  overloaded_error: 503,
  DEADLINE_EXCEEDED: 504,
};

/** Returns the status that an error states itself, as a number or a known word. */
function statedStatus(error: JsonObject): number | undefined {
  const stated = [error['code'], error['status_code'], error['http_status']].map(Number);
  const status = stated.find((value) => Number.isInteger(value) && value >= 400 && value < 600);
  if (status !== undefined) return status;
  const words = [error['status'], error['code'], error['type']].filter((word) => typeof word === 'string');
  const known = words.find((word) => Object.hasOwn(statuses, word));
  return known === undefined ? undefined : statuses[known];
}

/** Returns the status that an error inside a 2xx would have had on its own; 500 if the error gives none. */
export const statusOf = (body: JsonObject): number =>
  statedStatus(members(body['error']) ?? {}) ?? statedStatus(body) ?? 500;

/** Finish reasons of a failed provider, with the status of such a failure (gateway 7.1). */
const failedReasons: ReadonlyMap<string, number> = new Map([
  ['error', 502],
  ['insufficient_system_resource', 503],
  ['network_error', 502],
]);

/** Returns the error in a choice of a chat reply, unless the step accepts its finish reason and the choice has content. */
export function errorInChoice(whole: JsonObject, accept: readonly string[]): ErrorEnd | undefined {
  for (const choice of objectsIn(whole['choices'])) {
    const { finish_reason: given } = choice;
    const reason = typeof given === 'string' ? given : '';
    const error = members(choice['error']);
    const status = failedReasons.get(reason.toLowerCase());
    if (error === undefined && status === undefined) continue;
    const { content } = members(choice['message']) ?? {};
    const isAccepted = accept.some((name) => name.toUpperCase() === reason.toUpperCase());
    if (isAccepted && typeof content === 'string' && content.trim() !== '') continue;
    const message = `the model's answer ended with finish_reason "${reason}"`;
    return { kind: 'error', body: { error: { ...(status && { code: status }), message, ...error } } };
  }
  return undefined;
}

export const noReply: StreamEnd & { readonly kind: 'unusable' } = {
  kind: 'unusable',
  what: 'but its JSON is not an answer of a model',
};

/** Returns the end for one object: a whole reply, an error, or neither. */
export function readWhole(
  { named, list, besides }: ReplyForm,
  given: JsonObject | undefined,
  maxCandidates: number,
): StreamEnd {
  const value = named(given);
  const error = errorIn(value);
  if (error !== undefined) return error;
  const candidates = value?.[list];
  const isReply = Array.isArray(candidates) || besides.some((name) => members(value?.[name]) !== undefined);
  if (value === undefined || !isReply) return { ...noReply, body: { kind: 'json', value: value ?? null } };
  return Array.isArray(candidates) && candidates.length > maxCandidates
    ? tooLargeEnd(`it has more than ${maxCandidates} candidates`)
    : { kind: 'answer', whole: value };
}
