import { firstValue, members } from '../http/json.ts';
import type { Reply } from '../http/reply.ts';
import { readRetryDelay } from '../http/retry-after.ts';
import type { Clean } from '../http/sanitize.ts';
import { splitRequestId } from './request-id.ts';

/** The words of an error body, in any of the shapes of gateway 3.3. */
export interface ErrorWords {
  /**
   * `envelope`: `{error: {…}}` (gateway 8.1); `gateway`: `{description, type, code}`, the gateway's own error on image
   * paths; `submit`: `{code, description, result, properties}`, the image proxy's; `other`: none of these.
   */
  readonly shape: 'envelope' | 'gateway' | 'submit' | 'other';
  /** The service's message, cleaned, without the request id; empty if there is none. */
  readonly message: string;
  /** `error.code` or `code` as text; empty for `""`, null and absent. */
  readonly code: string;
  readonly requestId?: string;
  readonly retryDelayMs?: number;
}

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : '';

/** Members that hold a service's message, the likeliest first. */
const wordMembers = ['description', 'error', 'message', 'msg', 'detail', 'errors', 'status_msg', 'base_resp'];
const envelopeMembers = ['message', 'description', 'msg', 'detail', 'error', 'status', 'type'];

/** Deepest nesting of objects and lists that is searched for words. */
const deepest = 4;

/** Finds the words of a value: a text itself, the first words in a list, or those of the first member of an object that has any. */
function wordsIn(value: unknown, names: readonly string[] = wordMembers, depth = 0): string {
  if (depth > deepest) return '';
  if (Array.isArray(value)) {
    const all = value.slice(0, 3).map((item) => wordsIn(item, wordMembers, depth + 1));
    return all.filter((text) => text !== '').join('; ');
  }
  const object = members(value);
  if (object === undefined) return textOf(value);
  for (const name of names) {
    const text = wordsIn(object[name], wordMembers, depth + 1);
    if (text !== '') return `${placeOf(object)}${text}`;
  }
  return '';
}

/** Returns `body.messages: `, the place that a validation error names (FastAPI's `loc`). */
function placeOf({ loc }: Readonly<Record<string, unknown>>): string {
  const path = Array.isArray(loc) ? loc.map(textOf).filter((part) => part !== '') : [];
  return path.length === 0 ? '' : `${path.join('.')}: `;
}

/** Returns the error behind one that a gateway passes on (`error.metadata.raw` of OpenRouter), unless the message repeats it. */
function wordsBehind(error: Readonly<Record<string, unknown>>, said: string): string {
  const raw = members(error['metadata'])?.['raw'];
  const behind = typeof raw === 'string' ? wordsIn(firstValue(raw) ?? raw) || raw.trim() : wordsIn(raw);
  return behind === '' || said.includes(behind) ? said : said === '' ? behind : `${said}: ${behind}`;
}

/** Reads a JSON error body. Never fails: an unknown shape gives empty words. */
export function readErrorWords(body: unknown, clean: Clean): ErrorWords {
  // The text vendor's own errors may come as a list of one.
  const value = members(Array.isArray(body) ? body[0] : body);
  if (value === undefined) return { shape: 'other', message: '', code: '' };

  const error = members(value['error']);
  if (error !== undefined) {
    const retryDelayMs = retryDelay(error['details']);
    return {
      shape: 'envelope',
      ...words(wordsBehind(error, wordsIn(error, envelopeMembers)), clean),
      code: textOf(error['code']),
      ...(retryDelayMs !== undefined && { retryDelayMs }),
    };
  }
  const hasCode = textOf(value['code']) !== '';
  const shape = !hasCode ? 'other' : 'type' in value && !('result' in value) ? 'gateway' : 'submit';
  return { shape, ...words(wordsIn(value), clean), code: textOf(value['code']) };
}

/** Length of the excerpt of a body without recognised words. */
const excerptLength = 300;

/**
 * Reads the words of a response with any body: the message of a JSON error (even if something follows it), the title of a page, a whole
 * plain text, or else the beginning of the body.
 */
export function readReplyWords({ body }: Pick<Reply, 'body'>, clean: Clean): ErrorWords {
  switch (body.kind) {
    case 'json': {
      const read = readErrorWords(body.value, clean);
      return read.message === '' ? { ...read, message: clean(beginningOf(body.value)) } : read;
    }
    case 'broken': {
      const { text = '' } = body;
      const read = readErrorWords(firstValue(text), clean);
      return read.message === '' ? { ...read, message: clean(text.slice(0, excerptLength)) } : read;
    }
    default: {
      const text = body.kind === 'html' ? body.title : body.kind === 'text' ? body.text : '';
      return { shape: 'other', message: clean(text), code: '' };
    }
  }
}

/** Returns the beginning of a value as text, or empty for a value that holds nothing. */
function beginningOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return textOf(value);
  const text = JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  );
  return text.slice(0, excerptLength);
}

function words(text: string, clean: Clean): { readonly message: string; readonly requestId?: string } {
  const { message, requestId } = splitRequestId(text);
  return { message: clean(message), ...(requestId !== undefined && { requestId: clean(requestId) }) };
}

function retryDelay(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const delay = readRetryDelay(members(detail)?.['retryDelay']);
    if (delay !== undefined) return delay;
  }
  return undefined;
}
