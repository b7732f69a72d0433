import type { IncomingMessage } from 'node:http';
import type { Studio } from '../draw/studio.ts';
import type { FaultEffect } from '../faults/fault.ts';
import type { SandboxNames } from '../names.ts';
import type { SandboxSettings } from '../settings.ts';
import type { TaskDesk } from '../tasks/desks/desk.ts';
import type { EntryDesk } from '../tasks/desks/entry-desk.ts';
import type { ModalDesk } from '../tasks/desks/modal-desk.ts';
import type { TaskBook } from '../tasks/store/book.ts';
import type { TextDesk } from '../text/desk.ts';
import type { Ledger } from './ledger.ts';
import { OrderError, type OrderMembers, readMembers } from './orders.ts';
import { errorReply, flatReply, jsonReply, type RequestIds, type SandboxResponse } from './reply.ts';

/** What the service is made of. */
export interface ServiceParts {
  readonly settings: SandboxSettings;
  readonly names: SandboxNames;
  readonly apiKey: string;
  readonly seed: string;
  readonly now: () => number;
  readonly book: TaskBook;
  readonly desk: TaskDesk;
  readonly modals: ModalDesk;
  readonly entries: EntryDesk;
  readonly texts: TextDesk;
  readonly studio: Studio;
  readonly ledger: Ledger;
  readonly ids: RequestIds;
  /** Aborted when the sandbox closes. */
  readonly closing: AbortSignal;
  /** Ports of the service and of its web host. */
  readonly ports: () => { readonly service: number; readonly site: number };
}

/** One request on its way through. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly requestId: string;
  readonly effects: readonly FaultEffect[];
}

/** The error envelope of gateway 8.1. */
export function errorResponse(
  { names }: Pick<ServiceParts, 'names'>,
  requestId: string,
  status: number,
  message: string,
  headers: SandboxResponse['headers'] = {},
  code = '',
): SandboxResponse {
  return errorReply(status, message, { requestId, errorType: names.errorType, code }, headers);
}

/** The rejection of an image route's body, in the shape that the settings ask for (gateway 3.3). */
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

/** A request's body as an object, or the response to one that is none. */
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
 * Whether a request names this machine as its host. A page of a stranger's whose name is made to lead here (DNS rebinding) names
 * another one; a client that names none is no browser.
 */
export function isForUs({ headers: { host } }: IncomingMessage): boolean {
  if (host === undefined) return true;
  const name = host.replace(/:\d{1,5}$/, '');
  return /^(?:localhost|\[[\da-f:.]{2,45}\]|\d{1,3}(?:\.\d{1,3}){3})$/i.test(name);
}

/** The name by which the client knows this machine; links must carry the same one. */
export function hostOf({ headers }: IncomingMessage): string {
  return /^localhost(:\d+)?$/i.test(headers.host ?? '') ? 'localhost' : '127.0.0.1';
}

/** A request's body, or why there is none. */
type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** The client went away. */
  | { readonly kind: 'lost' };

/** Reads a body of at most `limit` bytes; what comes beyond it is thrown away unread. */
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
