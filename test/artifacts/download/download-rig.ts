import type { ServerResponse } from 'node:http';
import type { LookupFunction } from 'node:net';
import { expect } from 'vitest';
import type { ArtifactWriterOptions } from '../../../src/artifacts/artifact-writer.ts';
import type { SaveFailure, SaveResult } from '../../../src/artifacts/writer.ts';
import { createDispatcher } from '../../../src/service/http/connect/dispatcher.ts';
import { startProxy } from '../../rig/proxy.ts';
import { gallery } from '../gallery.ts';
import { filesIn, freshFolder, startServer, startWriter } from '../places.ts';

export const always = new AbortController().signal;

export const picture = (width = 40, height = 30): Promise<Buffer> => {
  const make = gallery['png'];
  if (make === undefined) throw new Error('There is no png.');
  return make(width, height);
};

/** Saves what a server answers, and shows that a failure leaves nothing behind. */
export async function save(
  answer: (response: ServerResponse, path: string) => void,
  options: Partial<ArtifactWriterOptions> = {},
): Promise<SaveResult> {
  const server = await startServer((request, response) => answer(response, request.url ?? ''));
  return saveLink(`${server.url}/image.png?signature=hidden`, options);
}

export async function saveLink(
  url: string,
  options: Partial<ArtifactWriterOptions> = {},
): Promise<SaveResult> {
  const directory = freshFolder();
  const saved = await startWriter(directory, options).save({ url, key: 'ab', output: 1 }, always);
  expect(filesIn(directory)).toEqual(saved.ok ? [saved.value.file] : []);
  return saved;
}

/** An image host out in the world, played by a proxy that answers in its place. */
export async function startImageHost(head: string) {
  const proxy = await startProxy({ says: () => `${head}\r\ncontent-length: 0\r\n\r\n` });
  const dispatcher = createDispatcher({ connectMs: 5000, env: { http_proxy: proxy.url } });
  const lookup: LookupFunction = (_host, _options, done) => done(null, [{ address: '8.8.8.8', family: 4 }]);
  return {
    link: 'http://cdn.example/first',
    asked: proxy.asked,
    dispatcher,
    lookup,
    isProxied: ({ hostname }: URL) => hostname === 'cdn.example',
    [Symbol.asyncDispose]: async () => {
      await dispatcher.destroy();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

export const errorOf = (result: SaveResult): SaveFailure => {
  if (result.ok) throw new Error('It was saved.');
  expect(result.error.message).not.toContain('signature');
  return result.error;
};
