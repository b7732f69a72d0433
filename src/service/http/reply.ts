import { isUtf8 } from 'node:buffer';
import { parseJson } from './json.ts';

/** The kinds of a response's body. */
export type ReplyBody =
  | { readonly kind: 'json'; readonly value: unknown }
  /** Nothing, or only white space. */
  | { readonly kind: 'empty' }
  /** A page: usually from a wrong address (gateway 8.3) or a proxy in front of the service. */
  | { readonly kind: 'html'; readonly title: string }
  /** Neither JSON nor HTML. */
  | { readonly kind: 'text'; readonly text: string }
  /** Broken JSON: cut off, too deep, followed by more, or not UTF-8 (then without its text). */
  | { readonly kind: 'broken'; readonly cause: unknown; readonly text?: string }
  /** An incomplete body: the connection broke, time ran out, or it was too large. */
  | { readonly kind: 'unread'; readonly failure: ConnectionFailure };

/** Why an exchange ended without a response. */
export interface ConnectionFailure {
  readonly code:
    | 'connection.refused'
    | 'connection.dns'
    | 'connection.tls'
    | 'connection.certificate'
    | 'connection.proxy'
    /** The port speaks another protocol: TLS in place of plain HTTP, plain HTTP in place of TLS, or HTTP/2 only. */
    | 'connection.protocol'
    | 'connection.timeout'
    | 'connection.lost'
    | 'connection.aborted'
    | 'response.too-large'
    | 'response.coding';
  /** A clause for the message, without a full stop. */
  readonly what: string;
  /** No wait changes it: every further connection would fail the same way. */
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
    // Making a decoder that fails on invalid UTF-8 takes longer than decoding most bodies.
    text = isUtf8(bytes)
      ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
      : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    return type.includes('html') ? { kind: 'html', title: '' } : { kind: 'broken', cause };
  }
  return readReplyText(text, parseJson, type);
}

/** Classifies the text of a body. `type`: its Content-Type in lower case, if known. */
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
