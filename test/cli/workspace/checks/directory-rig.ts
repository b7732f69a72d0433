import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { temporaryFolder } from '../../../rig/cli.ts';
import { type FakeService, startFakeService } from '../../../rig/fake-service.ts';
import { promptpress, type Said } from '../../test-io.ts';

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

let folderToWorkIn = 'work';

export const work = (name = ''): string => join(place.path, folderToWorkIn, name);

/**
 * Gives the folder to work in, with the runs in it, another name. The driver for Node 20 lets go of a closed database when its
 * statements are collected, which is at any time, and removes its log then by the name that it was opened with: here, what a
 * test has put in the place of the log.
 */
export function moveWork(): void {
  const before = work();
  folderToWorkIn = 'moved';
  renameSync(before, work());
}

export const outside = (name = ''): string => join(place.path, 'outside', name);

export const pp = (...args: readonly string[]): Promise<Said> =>
  promptpress(args, {
    cwd: work(),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: work(),
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

/** A folder to work in, a folder outside of it and a service for each test. */
export function usePlace(): void {
  beforeEach(async () => {
    place = await temporaryFolder();
    service = await startFakeService();
    folderToWorkIn = 'work';
    mkdirSync(work());
    mkdirSync(outside(), { recursive: true });
    writeFileSync(work('foxes.yaml'), pipeline);
    writeFileSync(work('rows.csv'), 'animal\nfox\nowl\n');
    writeFileSync(outside('file'), canary);
    writeFileSync(outside('0000.12345678.part'), canary);
    writeFileSync(outside('a'.repeat(64)), canary);
  });

  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    await service.close();
    await place[Symbol.asyncDispose]();
  });
}
