import type { ServerResponse } from 'node:http';

import type { FakeTokens } from './fake-saying.ts';
import type { FaultAction } from './faults.ts';
import { framings, send as sendFramed } from './framing.ts';

/** An answer of the fake service that is ready to be sent. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Of a stream: the body, as it is to be written. */
  readonly chunks?: readonly Buffer[];
  /** Once so many bytes have left, the client can know this count of tokens. */
  readonly usageMarks?: readonly { readonly bytes: number; readonly tokens: FakeTokens }[];
}

export const json = (value: unknown, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: Buffer.from(JSON.stringify(value)),
});

export const html = (
  text: string,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Reply => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
  body: Buffer.from(text),
});

/** @param bare the id leaves as a bare number, which JSON.stringify cannot write beyond 2^53 */
export function withId(bare: boolean, key: string, id: string, rest: object): Reply {
  if (!bare) return json({ ...rest, [key]: id });
  const reply = json({ [key]: '@id', ...rest });
  return { ...reply, body: Buffer.from(reply.body.toString().replace('"@id"', id)) };
}

/** A submission that makes no task (gateway 3.2). */
export const refused = (code: number, description: string): Reply =>
  json({ code, description, result: null, properties: {} });

export function send(response: ServerResponse, reply: Reply): void {
  if (reply.chunks === undefined) {
    response.writeHead(reply.status, { ...reply.headers, 'content-length': reply.body.length });
    response.end(reply.body);
    return;
  }
  response.writeHead(reply.status, reply.headers);
  for (const chunk of reply.chunks) response.write(chunk);
  response.end();
}

/** The answer that a fault gives instead of the proper one. */
export function faultReply(action: Extract<FaultAction, { status: number }>): Reply {
  const { status, body, headers = {} } = action;
  if (body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body)) {
    const reply = json(body, status);
    return { ...reply, headers: { ...reply.headers, ...headers } };
  }
  const bytes = Buffer.from(body ?? '');
  const type = bytes[0] === 0x3c /* < */ ? 'text/html' : 'application/json';
  return { status, headers: { 'content-type': type, ...headers }, body: bytes };
}

/** Sends a proper answer badly. */
export function spoil(
  response: ServerResponse,
  reply: Reply,
  action: Extract<
    FaultAction,
    { truncate: number } | { drip: number } | { endless: true } | { framed: string }
  >,
): void {
  if ('endless' in action) return pour(response, reply);
  if ('framed' in action) {
    if (response.socket === null) return;
    const type = reply.headers['content-type'] ?? '';
    const { status, body: bytes } = reply;
    return sendFramed(response.socket, framings[action.framed], { status, bytes, type });
  }
  const length = reply.chunks === undefined ? { 'content-length': reply.body.length } : {};
  response.writeHead(reply.status, { ...reply.headers, ...length });
  if ('truncate' in action) {
    response.write(reply.body.subarray(0, action.truncate), () => response.socket?.destroy());
    return;
  }
  let sent = 0;
  const timer = setInterval(() => {
    if (sent >= reply.body.length) {
      clearInterval(timer);
      response.end();
    } else {
      response.write(reply.body.subarray(sent, ++sent));
    }
  }, action.drip);
  response.once('close', () => clearInterval(timer));
}

function pour(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, reply.headers);
  const block = Buffer.alloc(64 * 1024, 0x20);
  const pump = (): void => {
    while (!response.destroyed && response.write(block));
  };
  response.on('drain', pump);
  response.on('error', () => response.destroy());
  pump();
}
