import type { ErrorWords } from '../failures/error-words.ts';
import type { Meant } from '../failures/table.ts';
import type { Reply } from '../http/reply.ts';
import type { JsonObject } from '../text-service.ts';
import { rejectionHint } from './refusal-hints.ts';

/** Fields that a key, a rule or a model may not allow (gateway 8.2), by pipeline name. */
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

/** Returns advice on an error response of a text endpoint, where the general rules have none. */
export function adviseText(
  meant: Meant,
  reply: Reply,
  words: ErrorWords,
  call: { readonly model: string; readonly fields: JsonObject; readonly extra?: JsonObject },
): string | undefined {
  const body = reply.body.kind === 'json' ? reply.body.value : undefined;
  switch (meant) {
    case 'no model':
    case 'not found':
      if (/cached ?content/i.test(words.message))
        return 'Cached content expires: name one that the service still has, or leave "cachedContent" out.';
      // For anything else that is missing, the service's own words have to do.
      return meant === 'no model' || isAboutModel(words.message, call.model)
        ? `The service has no model "${call.model}" for this key and endpoint: promptpress models lists those it has.`
        : undefined;
    case 'rejected': {
      const says =
        reply.status >= 500 || (reply.status === 400 && words.shape === 'envelope' && words.message !== '');
      return says ? rejectionHint(body, words.message, call) : undefined;
    }
    case 'forbidden': {
      const used = [...advanced.filter((name) => name in call.fields), ...(call.extra ? ['extra'] : [])];
      const fields = used.length === 0 ? '' : ` without ${listed(used)}`;
      return `The key, a rule of the platform or the model "${call.model}" does not allow this request: try a plain prompt${fields}.`;
    }
    default:
      return undefined;
  }
}

/** Whether a message is about the model. The Chinese word means model. */
const isAboutModel = (message: string, model: string): boolean =>
  /\bmodels?\b|模型/i.test(message) || message.includes(model);

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
