import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { promptpress, type Said } from '../../../cli/test-io.ts';
import { temporaryFolder } from '../../../rig/cli.ts';
import { type FakeService, startFakeService } from '../../../rig/fake-service.ts';
import { withStateHome } from '../../../rig/state-home.ts';

const pipeline = `name: foxes
limits: { tasks: 8, requests: 8 }
poll: { min: 5ms, max: 10ms }
matrix: { rows: rows.csv }
steps:
  grid: { imagine: "{{ animal }}" }
  look: { from: grid, generate: { model: any-model, prompt: What is it?, images: [parent] } }
`;

export const canary = 'CANARY-OUTSIDE-THE-RUN-DIRECTORY';

export let place: Awaited<ReturnType<typeof temporaryFolder>>;

export let service: FakeService;

export const work = (name = ''): string => join(place.path, 'work', name);

export const outside = (name = ''): string => join(place.path, 'outside', name);

export const pp = (...args: readonly string[]): Promise<Said> =>
  promptpress(args, {
    cwd: work(),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: work(),
      // What one place has made is copied to another.
      ...withStateHome(),
      PROMPTPRESS_BASE_URL: service.url,
      PROMPTPRESS_API_KEY: service.apiKey,
    },
  });

/** Every name below a folder and what is in it: what a command may not have changed. */
export const everythingIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path} ${readFileSync(path, 'latin1')}` : path;
    })
    .sort();

/** Makes something in the place of a name of the run directory. */
export type Make = (path: string) => void | Promise<void>;

export const servers: Server[] = [];

export const folder: Make = (path) => {
  mkdirSync(path);
};

/** A folder to work in, and a folder outside of it. */
async function openPlace(): Promise<void> {
  place = await temporaryFolder();
  mkdirSync(work());
  mkdirSync(outside(), { recursive: true });
  writeFileSync(work('foxes.yaml'), pipeline);
  writeFileSync(work('rows.csv'), 'animal\nfox\nowl\n');
  writeFileSync(outside('file'), canary);
  writeFileSync(outside('0000.12345678.part'), canary);
  writeFileSync(outside('a'.repeat(64)), canary);
}

async function closePlace(): Promise<void> {
  for (const server of servers.splice(0)) server.close();
  await place[Symbol.asyncDispose]();
}

/** A place and a service for each test. */
export function usePlace(): void {
  beforeEach(async () => {
    await openPlace();
    service = await startFakeService();
  });
  afterEach(async () => {
    await service.close();
    await closePlace();
  });
}

/**
 * A place for each test, and a service for all of a file.
 *
 * @returns leaves in the place of a test what its first run would: that run was made once, elsewhere. No database was opened in the copy,
 * so that none is closed there late: the driver for Node 20 does so when the statements are collected, and removes what then has the name
 * of its log
 */
export function usePlaceWithRun(): () => void {
  let first: typeof place;
  beforeAll(async () => {
    service = await startFakeService();
    await openPlace();
    first = place;
    const { code, err } = await pp('run', 'foxes.yaml');
    expect(code, err).toBe(0);
  });
  beforeEach(openPlace);
  afterEach(closePlace);
  afterAll(async () => {
    await service.close();
    await first[Symbol.asyncDispose]();
  });
  return () => {
    cpSync(join(first.path, 'work/runs'), work('runs'), { recursive: true, preserveTimestamps: true });
  };
}
