import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import type { ArtifactWriterOptions } from '../../../src/artifacts/artifact-writer.ts';
import type { SaveFailure, SaveResult } from '../../../src/artifacts/writer.ts';
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

export const errorOf = (result: SaveResult): SaveFailure => {
  if (result.ok) throw new Error('It was saved.');
  expect(result.error.message).not.toContain('signature');
  return result.error;
};
