import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { FaultEffect } from '../faults/fault.ts';
import type { Reply } from './reply.ts';

/** Pieces that a dripping answer is cut into. */
const pieces = 10;

/** Sends a reply, whole or in the way that a fault asks for. Never throws for a client that went away. */
export async function deliver(
  response: ServerResponse,
  reply: Reply,
  requestId: string,
  manner: FaultEffect | undefined,
  signal: AbortSignal,
): Promise<void> {
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body;
  response.writeHead(reply.status, {
    'content-type': reply.type,
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    ...reply.headers,
  });
  if (manner?.kind === 'truncate') {
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
    return;
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
  response.end();
}
