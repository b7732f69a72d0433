import type { IncomingMessage } from 'node:http';
import type { WireErrorEnvelope } from '../../service/wire.ts';
import type { Studio } from '../draw/studio.ts';
import type { FaultEffect } from '../faults/fault.ts';
import type { DeskParts } from '../tasks/desks/desk.ts';
import type { TextDesk } from '../text/desk.ts';
import type { Ledger } from './ledger.ts';
import { OrderError, type OrderMembers, readMembers } from './orders.ts';
import { flatReply, jsonReply, type RequestIds, type SandboxResponse } from './reply.ts';

/** The parts that the endpoints of the service work with. */
export interface ServiceParts extends DeskParts {
  readonly apiKey: string;
  readonly seed: string;
  readonly texts: TextDesk;
  readonly studio: Studio;
  readonly ledger: Ledger;
  readonly ids: RequestIds;
  /** Aborted when the sandbox closes. */
  readonly closing: AbortSignal;
  /** Ports of the service and of its web host. */
  readonly ports: () => { readonly service: number; readonly site: number };
}

/** A request and the faults that strike it. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly requestId: string;
  readonly effects: readonly FaultEffect[];
  /** Aborted when the connection has ended: nobody waits for the response any more. */
  readonly gone: AbortSignal;
}

/** Returns the error envelope of gateway 8.1, with the request id in its message. */
export function errorResponse(
  { names }: Pick<ServiceParts, 'names'>,
  requestId: string,
  status: number,
  message: string,
  headers: SandboxResponse['headers'] = {},
  code = '',
): SandboxResponse {
  const error = { code, message: `${message} (request id: ${requestId})`, type: names.errorType };
  return jsonReply(status, { error } satisfies WireErrorEnvelope, headers);
}

/** Returns the refusal of a body on an image route, in the shape of the setting `errorShape` (gateway 3.3). */
export function imageErrorResponse(parts: ServiceParts, requestId: string, message: string): SandboxResponse {
  switch (parts.settings.errorShape) {
    case 'envelope':
      return errorResponse(parts, requestId, 400, message);
    case 'flat':
      return flatReply(400, message, 4);
    case 'submit':
      return jsonReply(200, { code: 4, description: message, result: null, properties: {} });
  }
}

/** Reads a request's body as a JSON object, or returns the response that refuses it. */
export async function membersOf(
  parts: ServiceParts,
  { request, requestId }: Visit,
): Promise<
  | { readonly ok: true; readonly value: OrderMembers }
  | { readonly ok: false; readonly error: SandboxResponse }
> {
  const { bodyLimit } = parts.settings;
  const body = await readRequestBody(request, bodyLimit);
  if (body.kind === 'too-large') {
    const message = `request body too large: at most ${bodyLimit} bytes`;
    return { ok: false, error: errorResponse(parts, requestId, 413, message, { connection: 'close' }) };
  }
  if (body.kind === 'lost') {
    return { ok: false, error: errorResponse(parts, requestId, 400, 'request body incomplete') };
  }
  try {
    return { ok: true, value: readMembers(body.bytes) };
  } catch (failure) {
    if (!(failure instanceof OrderError)) throw failure;
    return { ok: false, error: errorResponse(parts, requestId, 400, failure.message) };
  }
}

/**
 * Whether a request names this machine as its host, or none, as only clients other than browsers do. A web page that leads its own
 * name here (DNS rebinding) names another host.
 */
export function isForUs({ headers: { host } }: IncomingMessage): boolean {
  if (host === undefined) return true;
  const name = host.replace(/:\d{1,5}$/, '');
  return /^(?:localhost|\[[\da-f:.]{2,45}\]|\d{1,3}(?:\.\d{1,3}){3})$/i.test(name);
}

/** Returns the host name that the client used, for the links in its responses. */
export function hostOf({ headers }: IncomingMessage): string {
  return /^localhost(:\d+)?$/i.test(headers.host ?? '') ? 'localhost' : '127.0.0.1';
}

/** The body of a request, or why it could not be read. */
type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** The client went away. */
  | { readonly kind: 'lost' };

/** Reads a body of at most `limit` bytes; the rest is discarded. */
function readRequestBody(request: IncomingMessage, limit: number): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        chunks.length = 0;
        resolve({ kind: 'too-large' });
      } else {
        chunks.push(chunk);
      }
    });
    request.on('end', () => resolve({ kind: 'whole', bytes: Buffer.concat(chunks) }));
    request.on('error', () => resolve({ kind: 'lost' }));
    request.on('close', () => resolve({ kind: 'lost' }));
  });
}
