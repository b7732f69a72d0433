import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../rig/cli.ts';
import type { QuickTaskTimes } from '../../rig/quick-options.ts';
import { mostTasks, useOfTasks } from './limits.ts';

describe('a limit of tasks in flight', () => {
  it('is used fully where each submission follows an end that was seen', () => {
    const tasks: QuickTaskTimes[] = [
      [0, 10],
      [2, 12],
      [10, 20],
      [12, 22],
    ];
    expect(useOfTasks(tasks, 2)).toBe(1);
    expect(mostTasks(tasks)).toBe(2);
  });

  it('is used less where a slot waits, and shows what is above it', () => {
    const tasks: QuickTaskTimes[] = [
      [0, 4],
      [0, 10],
      [9, 20],
      [10, 20],
    ];
    expect(useOfTasks(tasks, 2)).toBe(0.75);
    expect(mostTasks([...tasks, [10, 11], [15, 16]])).toBe(3);
  });
});

it('stamps what several processes send by one clock of the machine', async () => {
  await using folder = await temporaryFolder();
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const file = join(folder.path, 'stamps.json');
    const from = Number(process.hrtime.bigint()) / 1e6;
    await promisify(execFile)(
      process.execPath,
      [
        `--import=${new URL('../scripts/stamp-sends.mjs', import.meta.url).href}`,
        '--eval',
        `await fetch('http://127.0.0.1:${port}', { method: 'POST' })`,
        '--input-type=module',
      ],
      { env: { STAMPS_FILE: file } },
    );
    const stamps = JSON.parse(await readFile(file, 'utf8')) as readonly number[];
    expect(stamps).toHaveLength(1);
    expect(stamps[0]).toBeGreaterThan(from);
    expect(stamps[0]).toBeLessThan(Number(process.hrtime.bigint()) / 1e6);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
