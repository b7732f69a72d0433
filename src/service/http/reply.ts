import { isUtf8 } from 'node:buffer';
import { parseJson } from './json.ts';

/** What a body turned out to be. */
export type ReplyBody =
  | { readonly kind: 'json'; readonly value: unknown }
  /** Nothing, or only white space. */
  | { readonly kind: 'empty' }
  /** A page: usually a wrong address (gateway 8.3) or something between us and the service. */
  | { readonly kind: 'html'; readonly title: string }
  /** Neither JSON nor HTML. */
  | { readonly kind: 'text'; readonly text: string }
  /** Meant as JSON, but cut off, too deep, followed by more, or not UTF-8 (then without its text). */
  | { readonly kind: 'broken'; readonly cause: unknown; readonly text?: string }
  /** It did not arrive whole: the connection broke, time ran out, or it was too large. */
  | { readonly kind: 'unread'; readonly failure: ConnectionFailure };

/** Why an exchange ended without its response. */
export interface ConnectionFailure {
  readonly code:
    | 'connection.refused'
    | 'connection.dns'
    | 'connection.tls'
    | 'connection.certificate'
    | 'connection.proxy'
    /** The port speaks TLS where it was spoken to in plain, or the other way round, or HTTP/2 alone. */
    | 'connection.protocol'
    | 'connection.timeout'
    | 'connection.lost'
    | 'connection.aborted'
    | 'response.too-large'
    | 'response.coding';
  /** A clause for the message, without a full stop. */
  readonly what: string;
  /** No wait changes it: every further connection would meet the same. */
  readonly lasting?: true;
  readonly cause?: unknown;
}

/** A response with any status. */
export interface Reply {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly body: ReplyBody;
}

/** Classifies the bytes of a body. JSON is recognised under any Content-Type. */
export function readReplyBody(bytes: Uint8Array, contentType: string | null): ReplyBody {
  const type = contentType?.toLowerCase() ?? '';
  let text: string;
  try {
    // A decoder that fails for what is not UTF-8 takes longer to make than most bodies to decode.
    text = isUtf8(bytes)
      ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
      : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    return type.includes('html') ? { kind: 'html', title: '' } : { kind: 'broken', cause };
  }
  return readReplyText(text, parseJson, type);
}

/** Classifies the text of a body. `type`: its Content-Type in lower case, where that is known. */
export function readReplyText(body: string, parse: (text: string) => unknown, type = ''): ReplyBody {
  const text = body.trim();
  if (text === '') return { kind: 'empty' };
  try {
    return { kind: 'json', value: parse(text) };
  } catch (cause) {
    if (text.startsWith('<') || type.includes('html')) return { kind: 'html', title: titleOf(text) };
    if (/^[[{"]/.test(text) || type.includes('json')) return { kind: 'broken', cause, text };
    return { kind: 'text', text };
  }
}

const titleOf = (html: string): string => /<title[^<>]*>([^<]{0,500})/i.exec(html)?.[1]?.trim() ?? '';
