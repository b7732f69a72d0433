import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { FaultEffect } from '../../faults/fault.ts';
import type { Usage } from '../../text/tokens.ts';
import type { ResponsePiece, SandboxResponse } from './reply.ts';

/** Pieces that a dripping answer is cut into. */
const pieces = 10;

/**
 * Sends a reply, whole or in the way that a fault asks for. Never throws for a client that went away. Returns the token
 * usage that the client received: undefined where it received none.
 */
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
  if (reply.pieces !== undefined) {
    return await deliverPieces(response, reply.pieces, manner, signal);
  }
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

/** Sends a stream piece by piece; a cut comes in the middle of its bytes. */
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
