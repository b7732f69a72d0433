import { readInteger } from '../http/json.ts';
import type { ConnectionFailure, Reply } from '../http/reply.ts';
import { readRetryAfter } from '../http/retry-after.ts';
import type { FailureClass, ServiceFailure } from '../result.ts';
import { readReplyWords } from './error-words.ts';
import { lostClass, mayBePaid, type RequestFacts } from './request-context.ts';
import { withRequestId } from './request-id.ts';
import { verdictOn } from './verdict.ts';
import { isMissing, missingPath, notJson, redirected } from './wrong-address.ts';

/** Returns the failure of a request that got no status: nothing left this machine, or nothing came back. */
export function connectionFailure(
  failure: ConnectionFailure,
  sent: boolean,
  facts: RequestFacts,
): ServiceFailure {
  const { origin } = new URL(facts.baseUrl);
  const nothing = failure.code === 'connection.protocol' ? '' : 'Nothing was sent.';
  const after = !sent
    ? nothing
    : facts.safe
      ? ''
      : 'The request was sent: the service may have carried it out.';
  const message = `${facts.label} to ${origin}: ${facts.clean(failure.what)}. ${after}`.trim();
  const kind = classOf(failure, sent, facts);
  return {
    code: failure.code,
    class: kind,
    message,
    ...(kind === 'stop' && failure.code === 'connection.protocol' && { about: 'address' as const }),
    ...(kind === 'stop' && sent && mayBePaid(facts) && { mayBeDone: true as const }),
    ...(failure.cause !== undefined && { cause: failure.cause }),
  };
}

function classOf({ code, lasting }: ConnectionFailure, sent: boolean, facts: RequestFacts): FailureClass {
  // A port that has spoken HTTP before will speak it again: the failure passes.
  if (lasting && !(code === 'connection.protocol' && facts.hasSpokenHttp?.() === true)) return 'stop';
  return sent ? lostClass(facts) : 'unsent';
}

/** Returns the failure of an unusable response. The service answered and may have done its work; its words are shown. */
export function unusableResponse(
  reply: Reply,
  what: string,
  facts: RequestFacts,
  cause?: unknown,
): ServiceFailure {
  const { message: said, requestId } = readReplyWords(reply, facts.clean);
  const shown = said === '' ? '' : ` ("${said}")`;
  return {
    code: 'service.malformed',
    class: lostClass(facts),
    message: `${facts.label}: HTTP ${reply.status}, ${what}${shown}.${facts.safe ? '' : ' The service may have carried the request out.'}`,
    ...(said !== '' && { serviceMessage: said }),
    status: reply.status,
    ...withRequestId(requestId, reply, facts),
    ...(cause !== undefined && { cause }),
  };
}

/** Answers of nginx, Go, Apache and Tomcat to a plain HTTP request at a TLS port. */
const wantsTls =
  /plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server|speaking plain HTTP to an SSL|combination of host and port requires TLS/i;

const speaksTls = 'this port speaks TLS: write https:// in place of http://';

/** Judges a response (gateway 8.2, 8.3, 3.3). Returns undefined for a 2xx with a JSON value, which the caller reads. */
export function classify(reply: Reply, facts: RequestFacts): ServiceFailure | undefined {
  const { status, body } = reply;
  if (status >= 300 && status < 400) return redirected(reply, facts);
  // A fetch that hides redirects reports them as status 0.
  if (status === 0) return redirected(reply, facts);
  if (status === 400 && wantsTls.test(readReplyWords(reply, facts.clean).message)) {
    const failure = { code: 'connection.protocol', what: speaksTls, lasting: true } as const;
    return { ...connectionFailure(failure, false, facts), status };
  }
  const isSuccess = status >= 200 && status < 300;
  if (isMissing(status)) {
    if (body.kind === 'html' || body.kind === 'text') return notJson(reply, facts);
    const missing = missingPath(reply, readReplyWords(reply, facts.clean), facts);
    if (missing !== undefined) return missing;
  }
  if (!isSuccess) return rejection(reply, facts);
  switch (body.kind) {
    case 'json':
      return undefined;
    case 'unread': {
      const failure = connectionFailure(body.failure, true, facts);
      return { ...failure, status, ...withRequestId(undefined, reply, facts) };
    }
    case 'broken':
      return unusableResponse(reply, 'but its JSON is broken', facts, body.cause);
    case 'empty':
      return unusableResponse(reply, 'but its body is empty', facts);
    case 'html':
    case 'text':
      return notJson(reply, facts);
  }
}

/** Returns the failure of an error response, from its status and its words. */
export function rejection(reply: Reply, facts: RequestFacts): ServiceFailure {
  const words = readReplyWords(reply, facts.clean);
  const { advice: toDo, ...verdict } = verdictOn(reply, words, facts);
  const retryAfterMs = readRetryAfter((name) => reply.header(name), facts.now) ?? words.retryDelayMs;
  const said = words.message === '' ? '' : `: ${words.message}`;
  const end = /[.!?…。]$/.test(said) ? '' : '.';
  const advice = toDo === undefined ? '' : ` ${toDo}`;
  const cause = reply.body.kind === 'unread' ? reply.body.failure.cause : undefined;
  return {
    ...verdict,
    message: `${facts.label}: HTTP ${reply.status}${said}${end}${advice}`,
    ...(words.message !== '' && { serviceMessage: words.message }),
    status: reply.status,
    ...withRequestId(words.requestId, reply, facts),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(cause !== undefined && { cause }),
  };
}

/** Returns the failure of an error envelope inside a 2xx; its own status is used where it has one. */
export function rejectionInside(
  envelope: Readonly<Record<string, unknown>>,
  reply: Reply,
  facts: RequestFacts,
): ServiceFailure {
  const { code } = envelope;
  return rejection(isHttpError(code) ? { ...reply, status: Number(code) } : reply, facts);
}

/** Whether an envelope's code is an HTTP error status. */
export function isHttpError(code: unknown): boolean {
  const status = readInteger(code);
  return status !== undefined && status >= 400 && status < 600;
}
