import { classify, connectionFailure, rejection, unusableResponse } from '../../failures/classify.ts';
import { readErrorWords } from '../../failures/error-words.ts';
import type { RequestFacts } from '../../failures/request-context.ts';
import { withRequestId } from '../../failures/request-id.ts';
import { members } from '../../http/json.ts';
import type { ConnectionFailure, Reply, ReplyBody } from '../../http/reply.ts';
import type { Mask } from '../../http/secrets.ts';
import type { ReplyUsage, ServiceFailure, ServiceResult } from '../../result.ts';
import type { JsonObject, TextReply } from '../../text-service.ts';
import { errorInChoice, type ReplyForm, type StreamEnd, statusOf } from './end.ts';
import { noCandidates } from './native.ts';
import { chatUsageIn } from './usage.ts';

/** The outcome of a text call that got a status. */
export type Received =
  /** A refusal: any status but 2xx. */
  | { readonly kind: 'refusal'; readonly reply: Reply }
  | {
      readonly kind: 'read';
      /** Status and headers; the body has been read. */
      readonly reply: Reply;
      /** How the reply ended; `lost`: it broke off. */
      readonly end: StreamEnd | { readonly kind: 'lost'; readonly failure: ConnectionFailure };
      readonly usage?: ReplyUsage;
    };

/** The properties of a text call by which its reply is judged. */
export interface Call {
  readonly read: ReplyForm['read'];
  readonly stream: boolean;
  /** Finish reasons that the step accepts. */
  readonly accept: readonly string[];
}

/** Judges the outcome of a text call. */
export function readReply(received: Received, call: Call, facts: RequestFacts): ServiceResult<TextReply> {
  if (received.kind === 'refusal') {
    const { reply } = received;
    const blocked = blockedIn(reply.body, facts);
    if (blocked !== undefined)
      return { ok: true, value: { ...blocked, ...withRequestId(undefined, reply, facts) } };
    return failed(classify(reply, facts) ?? unusableResponse(reply, 'but not an answer', facts));
  }
  const { reply, usage } = received;
  const end = withoutErrors(received.end, call);
  if (end.kind === 'answer') {
    const whole = masked(end.whole, facts.dataMask) as JsonObject;
    return { ok: true, value: { ...call.read(whole), ...withRequestId(undefined, reply, facts) } };
  }
  const counted = usage ?? (received.end.kind === 'answer' ? chatUsageIn(received.end.whole) : undefined);
  const blocked = end.kind === 'error' ? blockedIn(json(end.body), facts) : undefined;
  if (blocked !== undefined)
    return {
      ok: true,
      value: { ...blocked, ...(counted && { usage: counted }), ...withRequestId(undefined, reply, facts) },
    };
  const failure = failureOf(reply, end, call.stream, facts);
  return failed(counted === undefined ? failure : { ...failure, usage: counted });
}

/** Turns an answer with an error in one of its choices into that error. */
const withoutErrors = (
  end: (Received & { readonly kind: 'read' })['end'],
  { accept }: Call,
): (Received & { readonly kind: 'read' })['end'] =>
  (end.kind === 'answer' || end.kind === 'unfinished' ? errorInChoice(end.whole, accept) : undefined) ?? end;

/**
 * Returns the reply that an error of a converting gateway stands for: it answers `no candidates`, with a 500, to a prompt that the
 * model's own service has blocked (gateway 6.6).
 */
function blockedIn(body: ReplyBody, { clean, dataMask }: RequestFacts): TextReply | undefined {
  if (body.kind !== 'json') return undefined;
  const { code, message } = readErrorWords(body.value, clean);
  if (code !== 'no_candidates' && !/^no[ _]candidates\b/i.test(message)) return undefined;
  const whole = masked(members(body.value) ?? {}, dataMask) as JsonObject;
  return { candidates: [], ...noCandidates, whole };
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
      const { unmade: _, ...failure } = rejection(inside, {
        ...facts,
        label: `${facts.label}, inside its answer`,
      });
      // Part of the answer was made.
      return failure.class === 'permanent' ? { ...failure, mayBeDone: true } : failure;
    }
    case 'unfinished':
      return { ...truncated(reply, facts), unstreamed: true };
    case 'truncated':
      return truncated(reply, facts);
    case 'unusable':
      return unusableResponse({ ...reply, ...(end.body && { body: end.body }) }, end.what, facts, end.cause);
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
        classify({ ...reply, body: end.body }, facts) ?? unusableResponse(reply, 'but not an answer', facts)
      );
  }
}

const truncated = (reply: Reply, facts: RequestFacts): ServiceFailure => ({
  code: 'stream.truncated',
  class: 'retry',
  message: `${facts.label}: the stream ended without a finish reason: the answer is not complete.`,
  status: reply.status,
  ...withRequestId(undefined, reply, facts),
});

const json = (value: JsonObject): ReplyBody => ({ kind: 'json', value });

/**
 * Removes secrets from every text of a reply, because the reply is kept. Image data is left unchanged: a short secret is found in it by
 * chance, and a long one never.
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
