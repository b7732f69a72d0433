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
import { maxTasks, steadyUse, steadyUseOfTasks, useOfTasks } from './limits.ts';

describe('a limit of tasks in flight', () => {
  it('is used fully where each submission follows an end that was seen', () => {
    const tasks: QuickTaskTimes[] = [
      [0, 10],
      [2, 12],
      [10, 20],
      [12, 22],
    ];
    expect(useOfTasks(tasks, 2, 0, 12)).toBe(1);
    expect(maxTasks(tasks)).toBe(2);
  });

  it('is used less where a slot waits, and shows what is above it', () => {
    const tasks: QuickTaskTimes[] = [
      [0, 4],
      [0, 10],
      [9, 20],
      [10, 20],
    ];
    expect(useOfTasks(tasks, 2, 0, 10)).toBe(0.75);
    expect(useOfTasks(tasks, 2, 4, 9)).toBe(0.5);
    expect(maxTasks([...tasks, [10, 11], [15, 16]])).toBe(3);
  });
});

it('a limit of tasks is measured while all workers have cells', () => {
  // Two tasks at a time, of 10 s; the second worker begins after 20 s, and its last submission is that at 60 s.
  const tasks = Array.from(
    { length: 20 },
    (_unused, at): QuickTaskTimes => [10_000 * Math.floor(at / 2), 10_000 * (Math.floor(at / 2) + 1)],
  );
  const sent = [tasks.map(([began]) => began + 500), [20_500, 60_500]];
  expect(steadyUseOfTasks({ tasks, sent }, 2, 20_000)).toBe(1);
  // One of those that the window shows in part only.
  expect(steadyUseOfTasks({ tasks: tasks.toSpliced(10, 1), sent }, 2, 20_000)).toBeCloseTo(1 - 10 / 76);
  expect(() => steadyUseOfTasks({ tasks, sent }, 2, 40_000)).toThrow('38000 ms only');
});

describe('a rate that workers share', () => {
  const every = (ms: number, from: number, to: number): number[] =>
    Array.from({ length: Math.floor((to - from) / ms) + 1 }, (_unused, at) => from + at * ms);

  it('is measured while all of them have calls', () => {
    // The second one begins late, and has nothing left when the first one has.
    const sent = [every(100, 0, 30_000), every(100, 10_000, 25_000), []];
    expect(steadyUse(sent, { count: 20, perMs: 1000 })).toBe(1);
    const gap = sent.map((times) => times.filter((at) => at < 15_000 || at >= 16_300));
    expect(steadyUse(gap, { count: 20, perMs: 1000 })).toBe(0.9);
  });

  it('is not measured where that is too short', () => {
    expect(() => steadyUse([every(100, 0, 11_000)], { count: 20, perMs: 1000 })).toThrow('9000 ms only');
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
