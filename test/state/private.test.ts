import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { acquireLock } from '../../src/state/lock/lock.ts';
import { openState } from '../../src/state/state.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modes = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );

it.skipIf(platform() === 'win32')('state, lock and their companions are for their owner alone', () => {
  const lock = acquireLock(folder, { pid: 1, host: 'h', startedAt: '' });
  const state = openState(folder);
  state.setFact('a', 'b');
  const found = modes();
  state.close();
  lock.release();
  expect(Object.keys(found)).toEqual(
    expect.arrayContaining(['lock', 'lock.json', 'state.db', 'state.db-wal']),
  );
  expect(new Set(Object.values(found))).toEqual(new Set(['600']));
});

it.skipIf(platform() === 'win32')("so are the sandbox's tasks", async () => {
  const sandbox = await startSandbox({ apiKey: 'sandbox', state: folder });
  const found = modes();
  await sandbox.close();
  expect(Object.keys(found)).toEqual(expect.arrayContaining(['sandbox.lock', 'sandbox.sqlite']));
  expect(new Set(Object.values(found))).toEqual(new Set(['600']));
});
