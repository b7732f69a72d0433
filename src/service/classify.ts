import type { FailureClass, ServiceFailure } from './answer.ts';
import type { Clean } from './display.ts';
import { type ErrorWords, readErrorWords } from './error-words.ts';
import type { Loss, Reply } from './reply.ts';
import { readRetryAfter } from './retry-after.ts';
import type { Mask } from './secrets.ts';

/** What failures are told with: which request it was, and what must not be shown. */
export interface RequestFacts {
  /** A request that changes nothing can always be repeated: what would be lost is retried. */
  readonly safe: boolean;
  /** For messages: `POST /img/submit/imagine`. */
  readonly label: string;
  readonly baseUrl: string;
  /** Takes every secret out of what is said of a failure. */
  readonly mask: Mask;
  /** Finds credentials in what is kept as it is: ids, labels, links, answers. */
  readonly dataMask: Mask;
  readonly clean: Clean;
  /** Where the key came from; never the key. */
  readonly keySource?: string;
  /** Of a request with a body: what makes it large. */
  readonly largestPart?: () => string | undefined;
  /** What this endpoint's refusals mean, where that is more than the rules for all of them say. */
  readonly judge?: (reply: Reply, words: ErrorWords, facts: RequestFacts) => Verdict | undefined;
  readonly now: () => number;
}

/** What a refusal means. */
export interface Verdict {
  readonly code: string;
  readonly class: FailureClass;
  /** Sentences: what to do. */
  readonly advice?: string;
}

/** A failure before any status: nothing left this machine, or nothing came back. */
export function connectionFailure(loss: Loss, sent: boolean, facts: RequestFacts): ServiceFailure {
  const { origin } = new URL(facts.baseUrl);
  const after = !sent
    ? 'Nothing was sent.'
    : facts.safe
      ? ''
      : 'The request was sent: the service may have carried it out.';
  const message = `${facts.label} to ${origin}: ${facts.clean(loss.what)}. ${after}`.trim();
  return {
    code: loss.code,
    class: sent ? lostClass(facts) : 'unsent',
    message,
    ...(loss.cause !== undefined && { cause: loss.cause }),
  };
}

/** The service answered and may have done its work, but what it said is of no use. */
export function unusableAnswer(
  reply: Reply,
  what: string,
  facts: RequestFacts,
  cause?: unknown,
): ServiceFailure {
  return {
    code: 'service.malformed',
    class: lostClass(facts),
    message: `${facts.label}: HTTP ${reply.status}, ${what}.${facts.safe ? '' : ' The service may have carried the request out.'}`,
    status: reply.status,
    ...withRequestId(undefined, reply, facts),
    ...(cause !== undefined && { cause }),
  };
}

const lostClass = (facts: RequestFacts): FailureClass => (facts.safe ? 'retry' : 'lost');

/**
 * Judges an answer by service.md 7.2 and 7.3 and protocol.md 2.1. Undefined: it is a 2xx with a JSON value, to be read
 * by whoever asked.
 */
export function classify(reply: Reply, facts: RequestFacts): ServiceFailure | undefined {
  const { status, body } = reply;
  if (status >= 300 && status < 400) return redirected(reply, facts);
  // A fetch that hides redirects reports them as status 0.
  if (status === 0) return redirected(reply, facts);
  const isSuccess = status >= 200 && status < 300;
  if (status === 404 && (body.kind === 'html' || body.kind === 'text')) return notJson(reply, facts);
  if (!isSuccess) return refused(reply, facts);
  switch (body.kind) {
    case 'json':
      return undefined;
    case 'unread': {
      const failure = connectionFailure(body.loss, true, facts);
      return { ...failure, status, ...withRequestId(undefined, reply, facts) };
    }
    case 'broken':
      return unusableAnswer(reply, 'but its JSON is broken', facts, body.cause);
    case 'empty':
      return unusableAnswer(reply, 'but its body is empty', facts);
    case 'html':
    case 'text':
      return notJson(reply, facts);
  }
}

/** A refusal of the service: by its status and its words. */
export function refused(reply: Reply, facts: RequestFacts): ServiceFailure {
  const words = wordsOf(reply, facts);
  const verdict = outOfQuota(words) ?? facts.judge?.(reply, words, facts) ?? judge(reply, words, facts);
  const retryAfterMs =
    readRetryAfter(reply.header('retry-after'), reply.header('date'), facts.now) ?? words.retryDelayMs;
  const said = words.message === '' ? '' : `: ${words.message}`;
  const end = /[.!?…。]$/.test(said) ? '' : '.';
  const advice = verdict.advice === undefined ? '' : ` ${verdict.advice}`;
  const cause = reply.body.kind === 'unread' ? reply.body.loss.cause : undefined;
  return {
    code: verdict.code,
    class: verdict.class,
    message: `${facts.label}: HTTP ${reply.status}${said}${end}${advice}`,
    ...(words.message !== '' && { serviceMessage: words.message }),
    status: reply.status,
    ...withRequestId(words.requestId, reply, facts),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(cause !== undefined && { cause }),
  };
}

/** An error envelope inside a 2xx: its own status counts where it gives one. */
export function refusedInside(
  envelope: Readonly<Record<string, unknown>>,
  reply: Reply,
  facts: RequestFacts,
): ServiceFailure {
  const { code } = envelope;
  return refused(isHttpError(code) ? { ...reply, status: Number(code) } : reply, facts);
}

/** Whether an envelope's code is the status that the answer should have had. */
export function isHttpError(code: unknown): boolean {
  const status = readInteger(code);
  return status !== undefined && status >= 400 && status < 600;
}

/** An integer, also one that is written as a text. */
export function readInteger(value: unknown): number | undefined {
  if (typeof value === 'string' && /^-?\d{1,9}$/.test(value.trim())) return Number(value);
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

const quotaCodes = new Set(['insufficient_user_quota', 'pre_consume_token_quota_failed']);
// The Chinese ones: the user's, or the key's, quota is not enough, or used up.
const quotaWords = /\bquota_not_enough\b|用户额度不足|令牌额度(不足|已用尽)/;

/**
 * The account's or the key's money is used up (protocol.md 2.1, 5.4): whatever the status, it would be said of every row,
 * and none is to fail for it.
 */
export const isOutOfQuota = (words: ErrorWords): boolean =>
  quotaCodes.has(words.code) || quotaWords.test(words.message);

const outOfQuota = (words: ErrorWords): Verdict | undefined =>
  isOutOfQuota(words)
    ? {
        code: 'service.quota',
        class: 'stop',
        advice:
          'The quota of the account or of the key is used up. Top it up and run the same command again: it goes on from here.',
      }
    : undefined;

/** Codes of gateways that say the same again of the same request, whatever the status (protocol.md 5.4). */
export const permanentCodes: ReadonlySet<string> = new Set([
  'invalid_request',
  'sensitive_words_detected',
  'prompt_blocked',
  'access_denied',
]);

const ambiguous = (facts: RequestFacts): Verdict => ({
  code: 'service.ambiguous',
  class: lostClass(facts),
  advice: `The gateway lost its connection to the service behind it${facts.safe ? '' : ': the task may exist'}.`,
});

const throttled: Verdict = { code: 'service.throttled', class: 'throttle' };
const unavailable: Verdict = { code: 'service.unavailable', class: 'retry' };

/** The verdict on a key that is not taken: no request can succeed. */
export const keyRefused = (facts: RequestFacts): Verdict => ({
  code: 'service.unauthorized',
  class: 'stop',
  advice: `${facts.keySource === undefined ? '' : `The API key came from ${facts.keySource}. `}Check that it is right, complete and still valid.`,
});

/** service.md 7.2; protocol.md 2.1 and 5.4. */
function judge(reply: Reply, words: ErrorWords, facts: RequestFacts): Verdict {
  const { status, body } = reply;
  const ownCode = words.shape === 'gateway' || words.shape === 'submit' ? words.code : '';
  if (ownCode === '30') return throttled;
  // do_request_failed and its like hide a time-out behind a 400; one that broke off may be such a one too.
  const mayHide = status === 400 && (body.kind === 'unread' || body.kind === 'broken');
  const isHidden = ownCode === '5' || words.code === 'do_request_failed';
  if (mayHide || (isHidden && (status === 400 || status < 300))) return ambiguous(facts);
  if (status >= 500 && permanentCodes.has(words.code))
    return { code: 'service.rejected', class: 'permanent' };
  switch (status) {
    case 400:
      return { code: 'service.rejected', class: 'permanent' };
    case 401:
      return keyRefused(facts);
    case 403:
      return {
        code: 'service.forbidden',
        class: 'permanent',
        advice:
          'The key, a rule of the platform or the model does not allow this request: try a plain prompt without extra fields.',
      };
    case 404:
      // What a gateway says of a path that it does not have (protocol.md 5.4): no request to it can succeed.
      if (/^Invalid URL \(/i.test(words.message)) {
        return { code: 'service.not-found', class: 'stop', advice: addressAdvice(facts) };
      }
      return { code: 'service.not-found', class: 'permanent' };
    case 408:
      return unavailable;
    case 413: {
      const part = facts.largestPart?.();
      return {
        code: 'service.too-large',
        class: 'permanent',
        advice: `The request is too large${part === undefined ? '' : ` (${part})`}: shorten it, send smaller images, or links instead of data.`,
      };
    }
    case 429:
      return throttled;
    case 500:
    case 502:
    case 503:
    case 504:
    case 520:
    case 521:
    case 522:
    case 523:
    case 524:
      return unavailable;
    case 501:
    case 505:
      return { code: 'service.rejected', class: 'permanent' };
    default:
      // Nobody advises to repeat a submission after another server error, and nobody says that it failed.
      return status >= 500
        ? { code: 'service.unavailable', class: lostClass(facts) }
        : { code: 'service.rejected', class: 'permanent' };
  }
}

function wordsOf(reply: Reply, facts: RequestFacts): ErrorWords {
  const { body } = reply;
  if (body.kind === 'json') return readErrorWords(body.value, facts.clean);
  const text = body.kind === 'html' ? body.title : body.kind === 'text' ? body.text : '';
  return { shape: 'other', message: facts.clean(text), code: '' };
}

/** The id that the service's support asks for: from the message, else from a header. */
export function withRequestId(
  fromMessage: string | undefined,
  reply: Reply,
  facts: RequestFacts,
): { readonly requestId?: string } {
  const id = fromMessage ?? reply.header('x-oneapi-request-id') ?? reply.header('x-request-id');
  return id === null || id === '' ? {} : { requestId: facts.clean(id) };
}

function redirected(reply: Reply, facts: RequestFacts): ServiceFailure {
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

function notJson(reply: Reply, facts: RequestFacts): ServiceFailure {
  const { body } = reply;
  const isPage = body.kind === 'html';
  const words = wordsOf(reply, facts).message;
  const shown = words === '' ? '' : ` ("${words.slice(0, 100)}")`;
  return {
    code: 'service.not-json',
    class: 'stop',
    message: `${facts.label}: HTTP ${reply.status} with ${isPage ? 'a web page' : 'text'}${shown} instead of JSON. ${addressAdvice(facts)}`,
    status: reply.status,
    ...withRequestId(undefined, reply, facts),
  };
}

/** service.md 7.3. */
function addressAdvice(facts: RequestFacts): string {
  // Part of an address may be a secret: a path that a variable holds.
  const baseUrl = facts.mask(facts.baseUrl);
  const withoutVersion = /^(.*)\/v1(?:beta)?$/.exec(baseUrl)?.[1];
  return withoutVersion === undefined
    ? `Check the base address (${baseUrl}) and service.names: the one or the other is wrong.`
    : `The base address (${baseUrl}) ends in a version, which belongs to the paths: try ${withoutVersion}.`;
}
