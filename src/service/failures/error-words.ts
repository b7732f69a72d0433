import { members } from '../http/json.ts';
import type { Reply } from '../http/reply.ts';
import { readRetryDelay } from '../http/retry-after.ts';
import type { Clean } from '../http/sanitize.ts';
import { splitRequestId } from './request-id.ts';

/** What an error body says, whichever of the shapes of gateway 3.3 it has. */
export interface ErrorWords {
  /**
   * `envelope`: `{error: {…}}` (gateway 8.1); `gateway`: `{description, type, code}`, the gateway's own error on image
   * paths; `submit`: `{code, description, result, properties}`, the image proxy's; `other`: none of these.
   */
  readonly shape: 'envelope' | 'gateway' | 'submit' | 'other';
  /** The service's words, cleaned, without the request id; empty where there are none. */
  readonly message: string;
  /** `error.code` or `code` as text; `""`, null and absent are all empty. */
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

const firstText = (...values: readonly unknown[]): string =>
  values.map(textOf).find((text) => text !== '') ?? '';

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
      ...words(firstText(error['message'], error['status'], error['type']), clean),
      code: textOf(error['code']),
      ...(retryDelayMs !== undefined && { retryDelayMs }),
    };
  }
  const description = firstText(
    value['description'],
    value['error'],
    value['message'],
    value['msg'],
    value['detail'],
  );
  const hasCode = textOf(value['code']) !== '';
  const shape = !hasCode ? 'other' : 'type' in value && !('result' in value) ? 'gateway' : 'submit';
  return { shape, ...words(description, clean), code: textOf(value['code']) };
}

/** Reads the words of an error response with any body: the title of a page, the whole of a plain text. */
export function readReplyWords({ body }: Reply, clean: Clean): ErrorWords {
  if (body.kind === 'json') return readErrorWords(body.value, clean);
  const text = body.kind === 'html' ? body.title : body.kind === 'text' ? body.text : '';
  return { shape: 'other', message: clean(text), code: '' };
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
