import type { RequestFacts } from '../../../src/service/failures/request-context.ts';
import type { Reply, ReplyBody } from '../../../src/service/http/reply.ts';

export const noon = Date.UTC(2026, 10, 1, 12);

export const reply = (
  status: number,
  body: ReplyBody,
  headers: Readonly<Record<string, string>> = {},
): Reply => ({ status, body, header: (name) => headers[name] ?? null });

export const json = (value: unknown): ReplyBody => ({ kind: 'json', value });

/** Facts of a submission to an endpoint of which nothing is known; shown words stand between angle brackets. */
export const facts = (more: Partial<RequestFacts> = {}): RequestFacts => ({
  safe: false,
  label: 'POST /img/submit/imagine',
  baseUrl: 'https://api.example.com',
  mask: (text) => text,
  dataMask: (text) => text,
  clean: (words) => words,
  now: () => noon,
  ...more,
});
