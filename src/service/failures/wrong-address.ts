import type { Reply } from '../http/reply.ts';
import type { FailureClass, ServiceCode, ServiceFailure } from '../result.ts';
import { type ErrorWords, readReplyWords } from './error-words.ts';
import { askingOf, lostClass, markedOpen, type RequestFacts } from './request-context.ts';
import { withRequestId } from './request-id.ts';

/** An answer that the endpoint itself would not give (gateway 8.3). */
interface Strange {
  readonly code: ServiceCode;
  /** What the service did, as a clause after its name. */
  readonly does: string;
  /** The same as a whole sentence, where that says more. */
  readonly message?: string;
  /** Class of the failure where the endpoint has answered well. */
  readonly passes: FailureClass;
  /** Whether the answer may follow finished work. */
  readonly followsWork: boolean;
  readonly advice?: string;
  /** The service's own words. */
  readonly words?: Pick<ErrorWords, 'message' | 'requestId'>;
}

/** Returns the failure of a redirect, which these services send for unknown paths. */
export function redirected(reply: Reply, facts: RequestFacts): ServiceFailure {
  const target = redirectTarget(reply.header('location'), facts.baseUrl);
  const base = new URL(facts.baseUrl);
  const toHttps = base.protocol === 'http:' && target === `https://${base.hostname}`;
  // 303 follows finished work (RFC 9110 15.4.4).
  const followsWork = reply.status === 303;
  return strange(reply, facts, {
    code: 'service.redirect',
    does: `redirects to ${facts.clean(target)}`,
    message:
      `the service redirects to ${facts.clean(target)} (HTTP ${reply.status}), which it does for paths ` +
      'it does not have. Redirects are not followed, so that the key goes nowhere else.',
    passes: followsWork ? lostClass(facts) : 'retry',
    followsWork,
    ...(toHttps && { advice: `Write the base address with https: ${target}.` }),
  });
}

/** Returns only the origin: a location may carry a token, and its path may be anything. */
function redirectTarget(location: string | null, baseUrl: string): string {
  if (location === null) return 'another address';
  if (!URL.canParse(location, baseUrl)) return 'another address';
  const { protocol, origin } = new URL(location, baseUrl);
  return protocol === 'http:' || protocol === 'https:' ? origin : 'another address';
}

/** Returns the failure of a page or a text in place of JSON. */
export function notJson(reply: Reply, facts: RequestFacts): ServiceFailure {
  const words = readReplyWords(reply, facts.clean).message;
  const shown = words === '' ? '' : ` ("${words.slice(0, 100)}")`;
  const what = `${reply.body.kind === 'html' ? 'a web page' : 'text'}${shown} instead of JSON`;
  // With a 2xx the request may have been processed, as with broken JSON; a missing path says that it was not.
  const followsWork = !isMissing(reply.status);
  return strange(reply, facts, {
    code: 'service.not-json',
    does: `answers with ${what}`,
    message: `HTTP ${reply.status} with ${what}.`,
    passes: followsWork ? lostClass(facts) : 'retry',
    followsWork,
  });
}

/** Whether a status means a missing path, or a missing method of a path. */
export const isMissing = (status: number): boolean => status === 404 || status === 405;

/** Things that a 404 may name: then the path is right, and the thing is missing. */
const things = /\b(models?|tasks?|entity|cached ?content|file)\b|模型|任务/i;

/**
 * Returns the failure of a missing path whose body is JSON or empty. Returns undefined if the words are about the requested thing, or
 * if the endpoint has answered well and this may be its own answer.
 */
export function missingPath(
  reply: Reply,
  words: ErrorWords,
  facts: RequestFacts,
): ServiceFailure | undefined {
  const { message, shape, code } = words;
  const hasSubmitCode = (shape === 'submit' || shape === 'gateway') && code !== String(reply.status);
  const { model } = facts;
  if (
    hasSubmitCode ||
    things.test(message.replace(/\/\S*/g, '')) ||
    (model !== undefined && message.includes(model))
  )
    return undefined;
  const isPath = /^Invalid URL \(/i.test(message);
  const standing = facts.standing?.() ?? 'unknown';
  // For a fetch, a missing task is likelier.
  const isOwn =
    standing === 'right' || standing === 'lost' || (askingOf(facts) === 'read' && standing !== 'unknown');
  if (isOwn && !isPath) return undefined;
  const said = message === '' ? 'nothing' : message;
  return strange(reply, facts, {
    code: 'service.not-found',
    does: `does not have this path: ${said}`,
    message: `HTTP ${reply.status}${message === '' ? '' : `: ${message}`}${/[.!?…。]$/.test(message) ? '' : '.'}`,
    passes: 'retry',
    followsWork: false,
    words,
  });
}

/** Returns the failure of an unexpected answer, from what is known of the endpoint and its address. */
function strange(reply: Reply, facts: RequestFacts, what: Strange): ServiceFailure {
  const { code, does, message = `the service ${does}.`, passes, followsWork } = what;
  const standing = facts.standing?.() ?? 'unknown';
  const own = what.words?.message ?? '';
  const said = {
    ...(own !== '' && { serviceMessage: own }),
    status: reply.status,
    ...withRequestId(what.words?.requestId, reply, facts),
  };
  const wrongAddress = true;
  if (standing === 'right' || standing === 'untried')
    return {
      code,
      class: passes,
      wrongAddress,
      ...(!followsWork && { unmade: true as const }),
      message:
        `${facts.label}: the service ${does} (HTTP ${reply.status}), and has answered well before: ` +
        'something between here and the service may have said this.',
      ...said,
    };
  if (standing === 'elsewhere' && askingOf(facts) !== 'read')
    return {
      code: 'service.not-offered',
      class: 'permanent',
      about: 'not-offered',
      message: `${facts.label}: ${message} Other endpoints of this address answer: this gateway does not offer ${facts.offer ?? 'this'}, or has it elsewhere (service.names).`,
      ...said,
    };
  return {
    code,
    class: 'stop',
    about: 'address',
    wrongAddress,
    ...markedOpen(facts, followsWork),
    message: `${facts.label}: ${message} ${what.advice ?? `${standing === 'before' ? 'This address has served an earlier run: a proxy in front of the service may have said this, for the moment. Otherwise: ' : ''}${addressAdvice(facts)}`}`,
    ...said,
  };
}

/** The end of an address that belongs to the paths: a version, or a word of chat, of images or of an endpoint. */
const ofPaths = /\/(?:v1(?:beta)?|api|chat|completions|models|submit|imagine|mj|img)$/;

/** Returns what to check when the address seems wrong (gateway 8.3). */
export function addressAdvice(facts: RequestFacts): string {
  // Part of an address may be a secret: a path that a variable holds.
  const baseUrl = facts.mask(facts.baseUrl);
  let shorter = baseUrl;
  while (ofPaths.test(shorter)) shorter = shorter.replace(ofPaths, '');
  return shorter === baseUrl
    ? `Check the base address (${baseUrl}) and service.names: one of them is wrong.`
    : `The base address (${baseUrl}) ends in ${baseUrl.slice(shorter.length)}, which belongs to the paths: drop it, and try ${shorter}.`;
}
