import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A server for images and for traps, on 127.0.0.1. */
export interface Server extends AsyncDisposable {
  readonly port: number;
  /** Paths asked for, in order. */
  readonly asked: readonly string[];
}

export async function serve(
  answer: (path: string, response: ServerResponse, request: IncomingMessage) => void,
): Promise<Server> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.on('error', () => response.destroy());
    answer(request.url ?? '', response, request);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => {
        server.close(resolve);
      });
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Every file below a folder, relative to it, sorted. */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** Node flags that load a module of `children/` into the command. */
export const loading = (name: string): readonly string[] => [
  '--import',
  pathToFileURL(join(import.meta.dirname, 'children', name)).href,
];

export const bytesIn = async (file: string): Promise<number> => Number(await readFile(file, 'utf8'));

/** What a terminal would obey: everything but line breaks. */
// oxlint-disable-next-line no-control-regex
export const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;
