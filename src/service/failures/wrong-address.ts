import type { Reply } from '../http/reply.ts';
import type { ServiceFailure } from '../result.ts';
import { readReplyWords } from './error-words.ts';
import { lostClass, markedOpen, type RequestFacts } from './request-context.ts';
import { withRequestId } from './request-id.ts';

/**
 * A redirect, which these services send for paths that they do not have. It stops the run, unless the endpoint has answered
 * well before.
 */
export function redirected(reply: Reply, facts: RequestFacts): ServiceFailure {
  const target = redirectTarget(reply.header('location'), facts.baseUrl);
  if (facts.isAddressRight?.() === true) {
    // 303 is what follows work that was done (RFC 9110 15.4.4).
    const kind = reply.status === 303 ? lostClass(facts) : 'retry';
    const what = `redirects to ${facts.clean(target)}`;
    return passing('service.redirect', kind, what, reply, facts);
  }
  const base = new URL(facts.baseUrl);
  const toHttps = base.protocol === 'http:' && target === `https://${base.hostname}`;
  const advice = toHttps ? `Write the base address with https: ${target}.` : addressAdvice(facts);
  return {
    code: 'service.redirect',
    class: 'stop',
    about: 'address',
    wrongAddress: true,
    ...markedOpen(facts, reply.status === 303),
    message:
      `${facts.label}: the service redirects to ${facts.clean(target)} (HTTP ${reply.status}), which it does for paths ` +
      `it does not have. Redirects are not followed, so that the key goes nowhere else. ${advice}`,
    status: reply.status,
    ...withRequestId(undefined, reply, facts),
  };
}

/** Only the origin: a location may carry a token, and its path may be anything. */
function redirectTarget(location: string | null, baseUrl: string): string {
  if (location === null) return 'another address';
  if (!URL.canParse(location, baseUrl)) return 'another address';
  const { protocol, origin } = new URL(location, baseUrl);
  return protocol === 'http:' || protocol === 'https:' ? origin : 'another address';
}

/** A page or a text where JSON belongs. It stops the run, unless the endpoint has answered well before. */
export function notJson(reply: Reply, facts: RequestFacts): ServiceFailure {
  const { body } = reply;
  const isPage = body.kind === 'html';
  const words = readReplyWords(reply, facts.clean).message;
  const shown = words === '' ? '' : ` ("${words.slice(0, 100)}")`;
  const what = `${isPage ? 'a web page' : 'text'}${shown} instead of JSON`;
  if (facts.isAddressRight?.() === true) {
    // With a 2xx it may have been carried out, as where the JSON is broken; a 404 says that it was not.
    const kind = reply.status === 404 ? 'retry' : lostClass(facts);
    return passing('service.not-json', kind, `answers with ${what}`, reply, facts);
  }
  return {
    code: 'service.not-json',
    class: 'stop',
    about: 'address',
    wrongAddress: true,
    ...markedOpen(facts, reply.status !== 404),
    message: `${facts.label}: HTTP ${reply.status} with ${what}. ${addressAdvice(facts)}`,
    status: reply.status,
    ...withRequestId(undefined, reply, facts),
  };
}

/** Of an endpoint that has answered well before: the address is right, and the response is not of the service itself. */
function passing(
  code: string,
  kind: ServiceFailure['class'],
  what: string,
  reply: Reply,
  facts: RequestFacts,
): ServiceFailure {
  return {
    code,
    class: kind,
    wrongAddress: true,
    message:
      `${facts.label}: the service ${what} (HTTP ${reply.status}), and has answered well before: ` +
      'something between here and the service may have said this.',
    status: reply.status,
    ...withRequestId(undefined, reply, facts),
  };
}

/** What to check when the address seems wrong (gateway 8.3). */
export function addressAdvice(facts: RequestFacts): string {
  // Part of an address may be a secret: a path that a variable holds.
  const baseUrl = facts.mask(facts.baseUrl);
  const withoutVersion = /^(.*)\/v1(?:beta)?$/.exec(baseUrl)?.[1];
  return withoutVersion === undefined
    ? `Check the base address (${baseUrl}) and service.names: the one or the other is wrong.`
    : `The base address (${baseUrl}) ends in a version, which belongs to the paths: try ${withoutVersion}.`;
}
