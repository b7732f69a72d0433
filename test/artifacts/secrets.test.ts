import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import type { SaveResult } from '../../src/artifacts/writer.ts';
import { freshFolder, startServer, startWriter } from './places.ts';

const secret = 'the-secret-4711';
const mask = (text: string): string => text.replaceAll(secret, '[secret]');

async function save(answer: (response: ServerResponse) => void, link?: string): Promise<SaveResult> {
  const server = await startServer((_request, response) => answer(response));
  const writer = startWriter(freshFolder(), { mask });
  return writer.save(
    { url: link ?? `${server.url}/x.png`, key: 'ab', output: 1 },
    new AbortController().signal,
  );
}

/** Calls back when the event loop has gone round so often. */
function afterTurns(turns: number, call: () => void): void {
  setImmediate(() => (turns === 0 ? call() : afterTurns(turns - 1, call)));
}

it.each<[string, (response: ServerResponse) => void, string]>([
  // At the end of what is shown: a secret that is cut in half is no longer found.
  ['words', (response) => response.end(`${'x'.repeat(190)}${secret}`), 'download.not-image'],
  ['JSON', (response) => response.end(JSON.stringify({ error: secret })), 'download.not-image'],
  [
    'a refusal',
    (response) => response.writeHead(400).end(JSON.stringify({ error: secret })),
    'download.refused',
  ],
  [
    'the end of a refusal',
    (response) => response.writeHead(403).end(`{"error":"${'x'.repeat(190)}${secret}"}`),
    'download.refused',
  ],
  [
    'a long refusal',
    (response) => response.writeHead(403).end(`{"error":"${' '.repeat(4080)}${secret}"}`),
    'download.refused',
  ],
  [
    'a long refusal whose reading ends in the middle of the secret',
    (response) => {
      response.writeHead(403).write(`{"error":"${' '.repeat(4000)}the-sec`);
      // The client has read the first half before the second one leaves.
      afterTurns(50, () => response.end(`ret-4711${' '.repeat(200)}"}`));
    },
    'download.refused',
  ],
  [
    'a content coding',
    (response) => response.writeHead(200, { 'content-encoding': secret }).end('x'),
    'download.not-image',
  ],
  [
    'a redirect',
    (response) => response.writeHead(302, { location: `/${'x'.repeat(110)}/${secret}` }).end(),
    'download.address',
  ],
])('a message does not contain a secret that a server repeats as %s', async (_name, answer, code) => {
  const saved = await save(answer);
  expect(saved).toMatchObject({ ok: false, error: { code } });
  expect(JSON.stringify(saved)).not.toContain('the-sec');
});

it.each([`http://127.0.0.1:9/${secret}`, '[secret]'])(
  'a link that holds a secret is not followed: %s',
  async (link) => {
    const saved = await save(() => expect.unreachable(), link);
    expect(saved).toMatchObject({ ok: false, error: { code: 'download.address', class: 'permanent' } });
    expect(JSON.stringify(saved)).not.toContain(secret);
  },
);

it('no secret is shown that a reply names as the type of an image', async () => {
  const writer = startWriter(freshFolder(), { mask });
  const pieces = [{ kind: 'image', candidate: 1, data: 'eA==', mimeType: `image/${secret}` }] as const;
  const kept = await writer.keep({ key: 'ab', pieces }, new AbortController().signal);
  expect(kept).toMatchObject({ ok: false, error: { message: expect.stringContaining('image/[secret]') } });
  expect(JSON.stringify(kept)).not.toContain(secret);
});
