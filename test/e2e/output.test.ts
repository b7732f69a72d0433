import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli, commandFile, temporaryFolder } from '../rig/cli.ts';

describe('standard output', () => {
  it
    .runIf(existsSync('/dev/full'))
    .each([[['plan', 'p.yaml', '--json']], [['validate', 'p.yaml']], [['--help']]])(
    'on a full disk is an error of %j, exit 74',
    async (args) => {
      await using folder = await temporaryFolder();
      await writeFile(join(folder.path, 'p.yaml'), 'name: p\nsteps: { grid: { imagine: a fox } }\n');
      const full = openSync('/dev/full', 'w');
      try {
        const stdio = ['ignore', full, 'pipe'] as const;
        const { status, stderr } = spawnSync(process.execPath, [commandFile, ...args], {
          cwd: folder.path,
          env: { PATH: process.env['PATH'] },
          stdio: [...stdio],
          encoding: 'utf8',
        });
        expect(stderr).toMatch(/promptpress: Standard output cannot be written: .*ENOSPC/);
        expect(status).toBe(74);
      } finally {
        closeSync(full);
      }
    },
  );
});

it.each(['plan', 'run'])('%s --out FILE says that this is a file', async (name) => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'p.yaml'), 'name: p\nsteps: { grid: { imagine: a fox } }\n');
  const sandbox = name === 'run' ? ['--sandbox'] : [];
  const { code, stderr } = await cli([name, 'p.yaml', '--out', 'p.yaml', ...sandbox], { cwd: folder.path });
  expect([code, stderr.split('\n')[0]]).toEqual([
    2,
    expect.stringMatching(/p\.yaml cannot be the run directory: it is a file\.$/),
  ]);
});
