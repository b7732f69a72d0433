import type { Reply } from '../http/reply.ts';
import type { ErrorWords } from './error-words.ts';
import { lostClass, type RequestFacts, type Verdict } from './request-context.ts';
import { addressAdvice } from './wrong-address.ts';

const quotaCodes = new Set(['insufficient_user_quota', 'pre_consume_token_quota_failed']);
// The Chinese ones: the user's, or the key's, quota is not enough, or used up.
const quotaWords = /\bquota_not_enough\b|用户额度不足|令牌额度(不足|已用尽)/;

/**
 * The account's or the key's money is used up (gateway 3.3, 8.4): with any status, every row would get this response, and
 * no row may fail for it.
 */
export const isOutOfQuota = (words: ErrorWords): boolean =>
  quotaCodes.has(words.code) || quotaWords.test(words.message);

const outOfQuota = (words: ErrorWords): Verdict | undefined =>
  isOutOfQuota(words)
    ? {
        code: 'service.quota',
        class: 'stop',
        about: 'quota',
        advice:
          'The quota of the account or of the key is used up. Top it up and run the same command again: it continues from here.',
      }
    : undefined;

/** Codes with which gateways reject the same request every time, with any status (gateway 8.4). */
export const permanentCodes: ReadonlySet<string> = new Set([
  'invalid_request',
  'sensitive_words_detected',
  'prompt_blocked',
  'access_denied',
]);

/** What a gateway says of a path that it does not have (gateway 8.3). */
export const isUnknownPath = (words: ErrorWords): boolean => /^Invalid URL \(/i.test(words.message);

const ambiguous = (facts: RequestFacts): Verdict => ({
  code: 'service.ambiguous',
  class: lostClass(facts),
  advice: `The gateway lost its connection to the service behind it${facts.safe ? '' : ': the task may exist'}.`,
});

const throttled: Verdict = { code: 'service.throttled', class: 'throttle' };
const unavailable: Verdict = { code: 'service.unavailable', class: 'retry' };

/** The verdict on a key that is not taken: no request can succeed. */
export const keyRejected = (facts: RequestFacts): Verdict => ({
  code: 'service.unauthorized',
  class: 'stop',
  about: 'key',
  advice: `${facts.keySource === undefined ? '' : `The API key came from ${facts.keySource}. `}Check that it is right, complete and still valid.`,
});

/**
 * What an error response means. An empty account means the same at every endpoint; then the endpoint's own rules decide,
 * then the rules for all endpoints.
 */
export const verdictOn = (reply: Reply, words: ErrorWords, facts: RequestFacts): Verdict =>
  outOfQuota(words) ?? facts.judge?.(reply, words, facts) ?? judge(reply, words, facts);

/** The rules for all endpoints (gateway 8.2, 3.3, 8.4). */
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
      return keyRejected(facts);
    case 403:
      return {
        code: 'service.forbidden',
        class: 'permanent',
        advice:
          'The key, a rule of the platform or the model does not allow this request: try a plain prompt without extra fields.',
      };
    case 404:
      // No request to it can succeed.
      if (isUnknownPath(words))
        return facts.isAddressRight?.() === true
          ? { code: 'service.not-found', class: 'retry', wrongAddress: true }
          : {
              code: 'service.not-found',
              class: 'stop',
              about: 'address',
              wrongAddress: true,
              advice: addressAdvice(facts),
            };
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
      // No source advises to repeat a submission after another server error, and none says that the submission failed.
      return status >= 500
        ? { code: 'service.unavailable', class: lostClass(facts) }
        : { code: 'service.rejected', class: 'permanent' };
  }
}
