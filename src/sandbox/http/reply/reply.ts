import { stringify } from 'lossless-json';
import type { WireErrorEnvelope } from '../../../service/wire.ts';
import type { Usage } from '../../text/tokens.ts';

/** A response before it is sent. */
export interface SandboxResponse {
  readonly status: number;
  readonly type:
    | 'application/json; charset=utf-8'
    | 'text/html; charset=utf-8'
    | 'text/event-stream'
    | 'image/png'
    | 'image/jpeg'
    /** A moving picture too. */
    | 'image/webp';
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a stream: what is sent one after another, in place of the body. */
  readonly pieces?: readonly ResponsePiece[];
  /** The task that the request made, for the log. */
  readonly taskId?: string;
  /** The text that was answered, for the counters. */
  readonly text?: { readonly model: string; readonly usage: Usage };
}

/** JSON; a bigint is written as a bare number. */
export function jsonReply(
  status: number,
  value: unknown,
  headers: SandboxResponse['headers'] = {},
): SandboxResponse {
  return { status, type: 'application/json; charset=utf-8', body: stringify(value) ?? 'null', headers };
}

/** The error envelope of gateway 8.1, with the request id in its message. */
export function errorReply(
  status: number,
  message: string,
  about: { readonly requestId: string; readonly errorType: string; readonly code?: string },
  headers: SandboxResponse['headers'] = {},
): SandboxResponse {
  const envelope: WireErrorEnvelope = {
    error: {
      code: about.code ?? '',
      message: `${message} (request id: ${about.requestId})`,
      type: about.errorType,
    },
  };
  return jsonReply(status, envelope, headers);
}

/** A rejection in the shape of the gateway's own image routes; the space before a missing result is theirs (gateway 3.3). */
export function flatReply(status: number, description: string, code: number): SandboxResponse {
  return jsonReply(status, { description: `${description} `, type: 'upstream_error', code });
}

/** The web page that a wrong address leads to (gateway 8.3). */
export function pageReply(status = 200): SandboxResponse {
  return {
    status,
    type: 'text/html; charset=utf-8',
    body:
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Image and text models</title></head>' +
      '<body><h1>Image and text models</h1><p>This is the web site of the sandbox, not its API.</p></body></html>\n',
  };
}

/** 301 to the same path on the web host (gateway 8.3). */
export function redirectReply(location: string): SandboxResponse {
  return {
    status: 301,
    type: 'text/html; charset=utf-8',
    body: '<html><head><title>301 Moved Permanently</title></head><body><h1>301 Moved Permanently</h1></body></html>\n',
    headers: { location },
  };
}

/** What is sent of a stream at once. */
export interface ResponsePiece {
  readonly body: string;
  /** Milliseconds before it. */
  readonly wait: number;
  /** The usage that the client knows once it has this piece. */
  readonly usage?: Usage;
}
