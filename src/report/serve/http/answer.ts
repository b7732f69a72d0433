import type { ServerResponse } from 'node:http';

/** The policy of the built page; in addition, other pages cannot embed it. */
const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const always: Readonly<Record<string, string>> = {
  'content-security-policy': contentPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

export type AnswerHeaders = Readonly<Record<string, string | number>>;

export function writeHead(response: ServerResponse, status: number, headers: AnswerHeaders): void {
  response.writeHead(status, { 'cache-control': 'no-store', ...headers, ...always });
}

export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  more: AnswerHeaders = {},
): void {
  send(response, status, 'text/plain; charset=utf-8', `${text}\n`, more);
}

/** Sends a JSON response. @param json a text of JSON */
export function sendJson(response: ServerResponse, json: string): void {
  send(response, 200, 'application/json; charset=utf-8', json);
}

/** Sends a response; a HEAD request gets no body. */
export function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
  more: AnswerHeaders = {},
): void {
  writeHead(response, status, { 'content-type': type, 'content-length': Buffer.byteLength(body), ...more });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}
