import type { ErrorWords } from '../failures/error-words.ts';
import type { RequestFacts, Verdict } from '../failures/request-context.ts';
import { isUnknownPath, keyRejected, permanentCodes } from '../failures/verdict.ts';
import { members } from '../http/json.ts';
import type { Reply } from '../http/reply.ts';
import type { JsonObject } from '../text-service.ts';
import { rejectionHint } from './refusal-hints.ts';

/** What may be the reason for which a request is not allowed (gateway 8.2), by pipeline name. */
const advanced = [
  'thinking',
  'search',
  'maps',
  'code',
  'functions',
  'tools',
  'toolConfig',
  'safetySettings',
  'generationConfig',
  'responseSchema',
  'cachedContent',
  'response_format',
];

/** What error responses of the text endpoints mean, beyond the rules for all endpoints. Undefined: those rules decide. */
export function judgeText(
  reply: Reply,
  words: ErrorWords,
  call: { readonly model: string; readonly fields: JsonObject; readonly extra?: JsonObject },
  facts: RequestFacts,
): Verdict | undefined {
  const { status } = reply;
  const body = reply.body.kind === 'json' ? reply.body.value : undefined;
  const isMissing = status === 404 && words.shape === 'envelope' && !isUnknownPath(words);
  if (words.code === 'model_not_found' || isMissing) {
    if (/cached ?content/i.test(words.message)) {
      const advice =
        'Cached content expires: name one that the service still has, or leave "cachedContent" out.';
      return { code: 'service.not-found', class: 'permanent', advice };
    }
    // Whatever else may be missing, the service's own words say.
    if (words.code !== 'model_not_found' && !isAboutModel(words.message, call.model))
      return { code: 'service.not-found', class: 'permanent' };
    return {
      code: 'service.not-found',
      class: 'permanent',
      advice: `The service has no model "${call.model}" for this key and endpoint: promptpress models lists those it has.`,
    };
  }
  // A time-out behind the gateway, which some gateways report as a rejection.
  if (words.code === 'do_request_failed') return { code: 'service.unavailable', class: 'retry' };
  if (status >= 500 && permanentCodes.has(words.code)) {
    return { code: 'service.rejected', class: 'permanent', ...rejection(body, words, call) };
  }
  switch (status) {
    case 400:
      // One vendor does not answer a wrong key with 401. Without a verdict of ours the rules for all endpoints count.
      if (isKeyRejected(body)) return keyRejected(facts);
      return words.shape === 'envelope' && words.message !== ''
        ? { code: 'service.rejected', class: 'permanent', ...rejection(body, words, call) }
        : undefined;
    case 403: {
      const used = [...advanced.filter((name) => name in call.fields), ...(call.extra ? ['extra'] : [])];
      const fields = used.length === 0 ? '' : ` without ${listed(used)}`;
      return {
        code: 'service.forbidden',
        class: 'permanent',
        advice: `The key, a rule of the platform or the model "${call.model}" does not allow this request: try a plain prompt${fields}.`,
      };
    }
    case 499:
      return { code: 'service.unavailable', class: 'retry' };
    default:
      return undefined;
  }
}

/** Chinese: model. */
const isAboutModel = (message: string, model: string): boolean =>
  /\bmodels?\b|模型/i.test(message) || message.includes(model);

function rejection(
  body: unknown,
  words: ErrorWords,
  call: { readonly model: string; readonly fields: JsonObject },
): { readonly advice?: string } {
  const advice = rejectionHint(body, words.message, call);
  return advice === undefined ? {} : { advice };
}

function isKeyRejected(body: unknown): boolean {
  const details = members(members(body)?.['error'])?.['details'];
  return (
    Array.isArray(details) && details.some((detail) => members(detail)?.['reason'] === 'API_KEY_INVALID')
  );
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
