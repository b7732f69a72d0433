import { createImageService, type ImageServiceOptions } from '../../src/service/client.ts';
import type { ImageService } from '../../src/service/image-service.ts';
import { namePresets } from '../../src/service/names.ts';

export const key = 'sk-0123456789abcdef';
export const never = new AbortController().signal;

export interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly redirect: string | undefined;
}

/** A fetch that gives one response to everything and keeps what it was asked. */
export function scriptedFetch(answer: () => Response | Promise<Response>): {
  readonly fetch: typeof globalThis.fetch;
  readonly sent: SentRequest[];
} {
  const sent: SentRequest[] = [];
  return {
    sent,
    fetch: async (url, init) => {
      sent.push({
        url: url instanceof Request ? url.url : url.toString(),
        method: init?.method ?? 'GET',
        headers: new Headers(init?.headers),
        body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
        redirect: init?.redirect,
      });
      return answer();
    },
  };
}

export const serviceWith = (options: Partial<ImageServiceOptions>): ImageService =>
  createImageService({
    baseUrl: 'https://api.example.com',
    apiKey: key,
    names: namePresets.neutral,
    requestMs: 60_000,
    now: () => Date.UTC(2026, 10, 1),
    ...options,
  });

/** A service whose every request gets this response. A body that is no text is sent as JSON. */
export function respondingWith(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  options: Partial<ImageServiceOptions> = {},
): ImageService {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const type = typeof text === 'string' ? typeOf(text) : 'application/json';
  const isEmpty = status === 204 || text === '';
  const { fetch } = scriptedFetch(
    () =>
      new Response(isEmpty ? null : (text as string), {
        status,
        headers: { 'content-type': type, ...headers },
      }),
  );
  return serviceWith({ fetch, ...options });
}

function typeOf(text: string): string {
  if (text.startsWith('<')) return 'text/html; charset=utf-8';
  return /^[A-Z0-9]/.test(text) ? 'text/plain' : 'application/json; charset=utf-8';
}

export const imagine = (service: ImageService, signal = never): ReturnType<ImageService['begin']> =>
  service.begin({ kind: 'imagine', fields: { prompt: 'a fox' }, speed: 'relax' }, signal);

/** One request, as it was sent, and what came of its response. */
export async function exchanged<T>(
  ask: (service: ImageService) => Promise<T>,
  body: unknown = { code: 1, result: '1700000000000001' },
): Promise<{ readonly answer: T; readonly line: string; readonly request: SentRequest }> {
  const { fetch, sent } = scriptedFetch(() => Response.json(body));
  const answer = await ask(serviceWith({ fetch }));
  const [request] = sent;
  if (request === undefined || sent.length > 1) throw new Error(`${sent.length} requests were sent.`);
  const { pathname, search } = new URL(request.url);
  return { answer, line: `${request.method} ${pathname}${search}`, request };
}
