import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the servers of a test and their folder are gone once the test is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'promptpress-kept-'));
  const server = spawn('sleep', ['600'], { stdio: 'ignore' });
  mkdirSync(join(folder, 'clusters/own'), { recursive: true });
  writeFileSync(join(folder, 'clusters/own/postmaster.pid'), `${String(server.pid)}\n${folder}\n`);

  const owner = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, '../children/keeper-owner.ts'), folder],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(owner.stdout, 'data');
  expect(existsSync(folder)).toBe(true);
  owner.kill('SIGKILL');

  expect(await once(server, 'exit')).toEqual([null, 'SIGQUIT']);
  await expect.poll(() => existsSync(folder), { timeout: 10_000 }).toBe(false);
});
