import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ArtifactWriterOptions, createArtifactWriter } from '../../src/artifacts/artifact-writer.ts';
import type { DownloadClock } from '../../src/artifacts/download/deadline.ts';
import { openArtifactFolder } from '../../src/artifacts/store/folder.ts';
import type { ArtifactWriter } from '../../src/artifacts/writer.ts';
import { wallClock } from '../../src/cli/adapters/clock.ts';

/** A fresh run directory, removed after the test. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'promptpress-artifacts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** How much of an image has arrived; undefined before its file is there. `stem` is the key and the output. */
export function sizeOfArriving(directory: string, stem: string): number | undefined {
  const part = filesIn(directory).find((name) => name.startsWith(`images/.incoming/${stem}.`));
  return part === undefined ? undefined : statSync(join(directory, part)).size;
}

/** A server on 127.0.0.1 that remembers what it was asked. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly requests: IncomingMessage[];
}

let service: string | undefined;

/** The base address of tests that name none: the server started last, else an address where nobody listens. */
export const serviceUrl = (): string => service ?? 'http://127.0.0.1:1';

export async function startServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<TestServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  onTestFinished(async () => {
    service = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  service = `http://127.0.0.1:${port}`;
  return { url: service, port, requests };
}

/** A writer for the server started last as the service, closed after the test. */
export function startWriter(directory: string, options: Partial<ArtifactWriterOptions> = {}): ArtifactWriter {
  const store = openArtifactFolder(directory);
  const over = createArtifactWriter({
    store,
    baseUrl: serviceUrl(),
    clock: wallClock,
    ...options,
  });
  const writer: ArtifactWriter = {
    ...over,
    close: async () => {
      await over.close();
      await store.close();
    },
  };
  onTestFinished(() => writer.close());
  return writer;
}

/** Every file below a folder, relative, sorted. */
export function filesIn(folder: string): string[] {
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .sort()
    : [];
}

/** Lets other work go on until something holds; the test's own time-out is the limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** A clock that moves when it is told to. */
export class ManualClock implements DownloadClock {
  #now = 1_700_000_000_000;
  readonly #timers = new Set<{ at: number; call: () => void }>();

  now(): number {
    return this.#now;
  }

  at(atMs: number, call: () => void): () => void {
    const timer = { at: atMs, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many alarms are set. */
  get pending(): number {
    return this.#timers.size;
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.at <= this.#now && this.#timers.delete(timer)) timer.call();
    }
  }
}
