import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { midjourneyProxyNames } from '../../../src/sandbox/names.ts';
import { type Client, start } from '../client.ts';

// @google/genai 3 needs Node 22. Its requests are kept as the bytes that @google/genai 3.1.0 sent to a sandbox with the key of
// these tests; `connection: close` was added, so that a reply ends with its connection.
const folder = new URL('google-genai-3/', import.meta.url);

let client: Client;
beforeAll(async () => {
  client = await start({ names: midjourneyProxyNames, settings: { pace: 0 } });
});
afterAll(() => client.sandbox.close());

/** A request's bytes; its Host is the address that a test has its sandbox at. */
function recorded(name: string): Buffer {
  const bytes = readFileSync(new URL(`${name}.http`, folder));
  const text = bytes.toString('latin1');
  expect(text).toContain('\r\nhost: 127.0.0.1:40777\r\n');
  return Buffer.from(text.replace('127.0.0.1:40777', new URL(client.sandbox.url).host), 'latin1');
}

interface Replayed {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends a request's bytes over a connection; what came back until the service closed it. */
async function replay(name: string): Promise<Replayed> {
  const { hostname, port } = new URL(client.sandbox.url);
  const socket = connect(Number(port), hostname);
  socket.write(recorded(name));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const response = Buffer.concat(chunks);
  const end = response.indexOf('\r\n\r\n');
  const head = response.subarray(0, end).toString('latin1').toLowerCase();
  const body = response.subarray(end + 4);
  return {
    status: Number(/^http\/1\.1 (\d+)/.exec(head)?.[1]),
    head,
    body: (head.includes('transfer-encoding: chunked') ? unchunked(body) : body).toString(),
  };
}

function unchunked(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.subarray(at, line).toString('latin1'), 16);
    if (!(size > 0)) return Buffer.concat(pieces);
    pieces.push(body.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
// oxlint-disable-next-line typescript/no-explicit-any
type Wire = any;

async function answered(name: string): Promise<Wire> {
  const { status, body } = await replay(name);
  expect(status, body).toBe(200);
  return JSON.parse(body);
}

const textOf = (response: Wire): string =>
  response.candidates[0].content.parts.map(({ text = '' }: { readonly text?: string }) => text).join('');

describe('the requests of @google/genai 3', () => {
  it('go to /v1, unless another version is set', () => {
    const names = readdirSync(folder).map((file) => file.replace('.http', ''));
    expect(names).toHaveLength(12);
    const paths = names.map((name) => recorded(name).toString('latin1').split(' ')[1] ?? '');
    expect(paths.filter((path) => !path.startsWith('/v1/models/'))).toEqual([
      '/v1beta/models/text-pro:generateContent',
    ]);
  });

  it('ask for text', async () => {
    const response = await answered('text');
    expect(response.candidates).toHaveLength(2);
    expect(textOf(response)).toMatch(/^Speaking as a sea captain, .*lighthouse.*\.$/);
  });

  it('ask for text under /v1beta', async () => {
    expect(textOf(await answered('v1beta'))).toMatch(/fox/);
  });

  it('ask for a stream', async () => {
    const { status, head, body } = await replay('stream');
    expect([status, head]).toEqual([200, expect.stringContaining('content-type: text/event-stream')]);
    const events = body.split('\r\n\r\n').filter((event) => event !== '');
    const values = events.map((event) => JSON.parse(event.replace(/^data: /, '')));
    const parts = values.flatMap(({ candidates }) => candidates[0].content?.parts ?? []);
    const text = parts.map((part: Wire) => (part.thought === true ? '' : (part.text ?? ''))).join('');
    expect(text.split(' ')).toHaveLength(80);
    expect(values.at(-1).candidates[0].finishReason).toBe('STOP');
    expect(values.at(-1).usageMetadata.thoughtsTokenCount).toBeGreaterThan(0);
  });

  it.each(['schema', 'json-schema'])('ask for JSON: %s', async (name) => {
    expect([1, 2, 3, 4]).toContain(JSON.parse(textOf(await answered(name))).best);
  });

  it('go the round of a function call', async () => {
    const [part] = (await answered('call')).candidates[0].content.parts;
    expect(part.functionCall).toEqual({ name: 'get_weather', args: { city: 'Paris' } });
    expect(textOf(await answered('call-answered'))).toContain('drizzle');
  });

  it('show an image, and ask for one', async () => {
    expect(textOf(await answered('image'))).toMatch(/blue/i);
    const { parts } = (await answered('draw')).candidates[0].content;
    expect(parts.at(-1).inlineData).toMatchObject({ mimeType: 'image/png', data: expect.any(String) });
  });

  it('ask for a search', async () => {
    const { groundingMetadata } = (await answered('search')).candidates[0];
    expect(groundingMetadata.webSearchQueries.length).toBeGreaterThan(0);
  });

  it('set safety and thinking', async () => {
    const { usageMetadata } = await answered('safety');
    expect(usageMetadata.thoughtsTokenCount).toBeGreaterThan(0);
  });

  it('are refused in words that its error can show', async () => {
    const { status, body } = await replay('error');
    expect(status).toBe(400);
    expect(JSON.parse(body).error.message).toMatch(
      /^thinking_budget is not supported by this model \(request id: \w+\)$/,
    );
  });
});
