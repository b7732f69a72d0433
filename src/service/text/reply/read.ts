import { classify, connectionFailure, rejection, unusableResponse } from '../../failures/classify.ts';
import type { RequestFacts } from '../../failures/request-context.ts';
import { withRequestId } from '../../failures/request-id.ts';
import { members } from '../../http/json.ts';
import type { ConnectionFailure, Reply, ReplyBody } from '../../http/reply.ts';
import type { Mask } from '../../http/secrets.ts';
import type { ReplyUsage, ServiceFailure, ServiceResult } from '../../result.ts';
import type { JsonObject, TextReply } from '../../text-service.ts';
import { readChatReply } from './chat.ts';
import type { StreamEnd } from './end.ts';
import { readTextReply } from './native.ts';

/** What came of a text call that had a status. */
export type Received =
  /** Not a 2xx. */
  | { readonly kind: 'refusal'; readonly reply: Reply }
  | {
      readonly kind: 'read';
      /** Status and headers; its body is read. */
      readonly reply: Reply;
      /** A loss: the reply broke off. */
      readonly end: StreamEnd | { readonly kind: 'lost'; readonly failure: ConnectionFailure };
      readonly usage?: ReplyUsage;
    };

/** Judges what came of a text call. */
export function readReply(
  received: Received,
  call: { readonly kind: 'generate' | 'chat'; readonly stream: boolean },
  facts: RequestFacts,
): ServiceResult<TextReply> {
  if (received.kind === 'refusal') {
    const failure = classify(received.reply, facts);
    return failed(failure ?? unusableResponse(received.reply, 'which is no answer', facts));
  }
  const { reply, end, usage } = received;
  if (end.kind === 'answer') {
    const whole = masked(end.whole, facts.dataMask) as JsonObject;
    const read = call.kind === 'chat' ? readChatReply(whole) : readTextReply(whole);
    return { ok: true, value: { ...read, ...withRequestId(undefined, reply, facts) } };
  }
  const failure = failureOf(reply, end, call.stream, facts);
  return failed(usage === undefined ? failure : { ...failure, usage });
}

const failed = (error: ServiceFailure): ServiceResult<TextReply> => ({ ok: false, error });

function failureOf(
  reply: Reply,
  end: Exclude<Extract<Received, { kind: 'read' }>['end'], { kind: 'answer' }>,
  stream: boolean,
  facts: RequestFacts,
): ServiceFailure {
  switch (end.kind) {
    case 'lost': {
      const failure = connectionFailure(end.failure, true, facts);
      return { ...failure, status: reply.status, ...withRequestId(undefined, reply, facts) };
    }
    case 'error': {
      const inside: Reply = { ...reply, status: statusOf(end.body), body: json(end.body) };
      return rejection(inside, { ...facts, label: `${facts.label}, inside its answer` });
    }
    case 'truncated':
      return truncated(reply, facts);
    case 'unusable':
      return unusableResponse(reply, end.what, facts, end.cause);
    case 'too-large':
      return {
        code: 'response.too-large',
        class: 'retry',
        message: `${facts.label}: the answer is too large, ${end.what}.`,
        status: reply.status,
        ...withRequestId(undefined, reply, facts),
      };
    case 'other':
      if (stream && end.body.kind === 'empty') return truncated(reply, facts);
      return (
        classify({ ...reply, body: end.body }, facts) ?? unusableResponse(reply, 'which is no answer', facts)
      );
  }
}

const truncated = (reply: Reply, facts: RequestFacts): ServiceFailure => ({
  code: 'stream.truncated',
  class: 'retry',
  message: `${facts.label}: the stream ended before the model had said why it ended: the answer is not whole.`,
  status: reply.status,
  ...withRequestId(undefined, reply, facts),
});

const json = (value: JsonObject): ReplyBody => ({ kind: 'json', value });

/** google.rpc.Code by HTTP status (gateway 8.4), and the words of OpenAI-like errors. */
const statuses: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  invalid_request_error: 400,
  invalid_request: 400,
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

/** The status that an error inside a 2xx would have had by itself; 500 where the error gives none. */
function statusOf(body: JsonObject): number {
  const error = members(body['error']) ?? {};
  const stated = [error['code'], error['status_code'], error['http_status']].map(Number);
  const status = stated.find((value) => Number.isInteger(value) && value >= 400 && value < 600);
  if (status !== undefined) return status;
  const words = [error['status'], error['code'], error['type']].filter((word) => typeof word === 'string');
  const known = words.find((word) => Object.hasOwn(statuses, word));
  return known === undefined ? 500 : (statuses[known] ?? 500);
}

/**
 * Removes secrets from every text of a reply, because the reply is kept. Image data is kept unchanged: a short secret is
 * found in it by chance, and a long one never.
 */
function masked(value: unknown, mask: Mask, name = ''): unknown {
  if (typeof value === 'string') return name === 'data' && isBase64(value) ? value : mask(value);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => masked(item, mask));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const object = members(value);
  if (object === undefined) return value;
  let isChanged = false;
  const entries = Object.keys(object).map((key) => {
    const [name, inner] = [mask(key), masked(object[key], mask, key)];
    isChanged ||= name !== key || inner !== object[key];
    return [name, inner] as const;
  });
  // Few replies hold a secret: the others are kept as they came.
  return isChanged ? Object.fromEntries(entries) : value;
}

const isBase64 = (text: string): boolean => text.length > 1024 && /^[\w+/-]+={0,2}$/.test(text);
