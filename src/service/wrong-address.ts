import type { ServiceFailure } from './answer.ts';
import { readReplyWords } from './error-words.ts';
import type { Reply } from './reply.ts';
import type { RequestFacts } from './request-facts.ts';
import { withRequestId } from './request-id.ts';

/** A redirect, which these services send for paths that they do not have. It stops the run. */
export function redirected(reply: Reply, facts: RequestFacts): ServiceFailure {
  const target = redirectTarget(reply.header('location'), facts.baseUrl);
  const base = new URL(facts.baseUrl);
  const toHttps = base.protocol === 'http:' && target === `https://${base.hostname}`;
  const advice = toHttps ? `Write the base address with https: ${target}.` : addressAdvice(facts);
  return {
    code: 'service.redirect',
    class: 'stop',
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

/** A page or a text where JSON belongs. It stops the run. */
export function notJson(reply: Reply, facts: RequestFacts): ServiceFailure {
  const { body } = reply;
  const isPage = body.kind === 'html';
  const words = readReplyWords(reply, facts.clean).message;
  const shown = words === '' ? '' : ` ("${words.slice(0, 100)}")`;
  return {
    code: 'service.not-json',
    class: 'stop',
    message: `${facts.label}: HTTP ${reply.status} with ${isPage ? 'a web page' : 'text'}${shown} instead of JSON. ${addressAdvice(facts)}`,
    status: reply.status,
    ...withRequestId(undefined, reply, facts),
  };
}

/** What to look at when the address seems wrong (service.md 7.3). */
export function addressAdvice(facts: RequestFacts): string {
  // Part of an address may be a secret: a path that a variable holds.
  const baseUrl = facts.mask(facts.baseUrl);
  const withoutVersion = /^(.*)\/v1(?:beta)?$/.exec(baseUrl)?.[1];
  return withoutVersion === undefined
    ? `Check the base address (${baseUrl}) and service.names: the one or the other is wrong.`
    : `The base address (${baseUrl}) ends in a version, which belongs to the paths: try ${withoutVersion}.`;
}
