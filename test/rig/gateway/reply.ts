import type { RequestFacts } from '../../../src/service/failures/request-context.ts';
import { type Reply, readReplyBody } from '../../../src/service/http/reply.ts';

/** What the readers need to know of a request. */
export const facts = (safe: boolean): RequestFacts => ({
  safe,
  label: safe ? 'GET /img/task/x/fetch' : 'POST /img/submit/x',
  baseUrl: 'https://gateway.example',
  mask: (text) => text,
  dataMask: (text) => text,
  clean: (words) => words,
  now: () => 0,
});

/** The same of a text call, which can be made again, and is paid. */
export const textFacts: RequestFacts = { ...facts(true), on: 'text', label: 'POST /v1/text' };

/** An answer as the client's readers get it. */
export function replyOf(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    status,
    header: (name) => headers[name.toLowerCase()] ?? null,
    body: readReplyBody(Buffer.from(text), text.startsWith('<') ? 'text/html' : 'application/json'),
  };
}
