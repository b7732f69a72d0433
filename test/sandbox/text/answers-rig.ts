import { afterAll, beforeAll, expect } from 'vitest';
import { type Client, key, start } from '../client.ts';

export type Wire = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- tests look into whatever came

/** The body of a request with one turn. */
export const prompt = (text: string, more: object = {}): Wire => ({
  contents: [{ role: 'user', parts: [{ text }] }],
  ...more,
});

/** A sandbox without waits, and the calls to its native endpoint. */
export interface Texts {
  readonly client: Client;
  readonly generate: (
    body: unknown,
    model?: string,
    from?: Client,
  ) => Promise<{ status: number; body: Wire }>;
  /** The events of a stream until its end or its break. An empty model asks the chat endpoint. */
  readonly stream: (body: unknown, model?: string, from?: Client) => Promise<readonly Wire[]>;
}

/** One sandbox for all tests of a file: started before the first, closed after the last. */
export function useTexts(): Texts {
  let client: Client;
  beforeAll(async () => {
    client = await start({ settings: { pace: 0 } });
  });
  afterAll(() => client.sandbox.close());
  return {
    get client() {
      return client;
    },
    generate: async (body, model = 'text-flash', from = client) => {
      return await from.send('POST', `/v1beta/models/${model}:generateContent`, body);
    },
    stream: async (body, model = 'text-flash', from = client) => {
      const path =
        model === '' ? '/v1/chat/completions' : `/v1beta/models/${model}:streamGenerateContent?alt=sse`;
      const response = await fetch(`${from.sandbox.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const text = await response.text();
      return text
        .split(/\r?\n\r?\n/)
        .filter((event) => event !== '')
        .map((event) =>
          event === 'data: [DONE]' ? { done: true } : JSON.parse(event.replace(/^data: /, '')),
        );
    },
  };
}
