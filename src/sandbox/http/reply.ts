import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'lossless-json';
import type { FaultEffect } from '../faults/fault.ts';
import { digestOf } from '../seeded.ts';
import type { Usage } from '../text/models.ts';

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
  /** The pieces of a stream, which replace the body. */
  readonly pieces?: readonly ResponsePiece[];
  /** The task that the request made, for the log. */
  readonly taskId?: string;
  /** The model and the token usage of a text, for the counters. */
  readonly text?: { readonly model: string; readonly usage: Usage };
}

/** Returns a JSON response. A bigint is written as a bare number. */
export function jsonReply(
  status: number,
  value: unknown,
  headers: SandboxResponse['headers'] = {},
): SandboxResponse {
  return { status, type: 'application/json; charset=utf-8', body: stringify(value) ?? 'null', headers };
}

/** A response without a body, of this status. */
export const emptyReply = (status: number): SandboxResponse => ({
  status,
  type: 'application/json; charset=utf-8',
  body: '',
});

/** Returns a refusal as the gateway's own image routes write it, with their blank at the end of the description (gateway 3.3). */
export function flatReply(status: number, description: string, code: number): SandboxResponse {
  return jsonReply(status, { description: `${description} `, type: 'upstream_error', code });
}

/** Returns the web page that a wrong address leads to (gateway 8.3). */
export function pageReply(status = 200): SandboxResponse {
  return {
    status,
    type: 'text/html; charset=utf-8',
    body:
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Image and text models</title></head>' +
      '<body><h1>Image and text models</h1><p>This is the web site of the sandbox, not its API.</p></body></html>\n',
  };
}

/** Returns the 301 to the same path on the web host (gateway 8.3). */
export function redirectReply(location: string): SandboxResponse {
  return {
    status: 301,
    type: 'text/html; charset=utf-8',
    body: '<html><head><title>301 Moved Permanently</title></head><body><h1>301 Moved Permanently</h1></body></html>\n',
    headers: { location },
  };
}

/** A part of a stream that is sent at once. */
export interface ResponsePiece {
  readonly body: string;
  /** Milliseconds to wait before it is sent. */
  readonly wait: number;
  /** The token usage that the client knows after this piece. */
  readonly usage?: Usage;
}

const pieces = 10;

/** Sends a response, whole or as a fault asks. Returns the token usage that the client received, or undefined if it received none. */
export async function deliver(
  response: ServerResponse,
  reply: SandboxResponse,
  requestId: string,
  manner: FaultEffect | undefined,
  signal: AbortSignal,
): Promise<Usage | undefined> {
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body;
  response.writeHead(reply.status, {
    'content-type': reply.type,
    ...(reply.pieces === undefined ? { 'content-length': body.length } : {}),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    ...reply.headers,
  });
  if (reply.pieces !== undefined) return await deliverPieces(response, reply.pieces, manner, signal);
  if (manner?.kind === 'truncate') {
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
    return undefined;
  }
  if (manner?.kind === 'drip') {
    for (let piece = 0; piece < pieces && !response.destroyed; piece += 1) {
      const from = Math.floor((body.length * piece) / pieces);
      response.write(body.subarray(from, Math.floor((body.length * (piece + 1)) / pieces)));
      await wait(manner.ms / pieces, undefined, { signal });
    }
  } else {
    response.write(body);
  }
  const usage = response.destroyed ? undefined : reply.text?.usage;
  response.end();
  return usage;
}

/** Sends a stream piece by piece. A truncated stream ends in the middle of its bytes. */
async function deliverPieces(
  response: ServerResponse,
  all: readonly ResponsePiece[],
  manner: FaultEffect | undefined,
  signal: AbortSignal,
): Promise<Usage | undefined> {
  const total = all.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  let left = manner?.kind === 'truncate' ? Math.floor(total / 2) : total;
  const drip = manner?.kind === 'drip' ? manner.ms / all.length : 0;
  let usage: Usage | undefined;
  for (const piece of all) {
    const ms = piece.wait + drip;
    if (ms > 0) await wait(ms, undefined, { signal });
    if (response.destroyed) return usage;
    const bytes = Buffer.from(piece.body);
    if (bytes.length > left) {
      response.write(bytes.subarray(0, left), () => response.destroy());
      return usage;
    }
    response.write(bytes);
    left -= bytes.length;
    usage = piece.usage ?? usage;
  }
  response.end();
  return usage;
}

/** Makes request ids as the family writes them: the time, then random-looking characters (gateway 8.1). */
export class RequestIds {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  next(now: number): string {
    this.#count += 1;
    const time = new Date(now).toISOString().replaceAll(/\D/g, '');
    return `${time}${digestOf(`request ${this.#seed} ${this.#count}`).slice(0, 8)}`;
  }
}
