import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readJobFile } from '../../../../src/app/workspace/checks/job-file.ts';

const [fox, elk] = ['f0'.repeat(16), 'e1'.repeat(16)];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterAll(() => rm(folder, { recursive: true }));

it.each([
  ['mark,job', (key: string, mark: string) => `${mark},${key}`],
  ['job,mark', (key: string, mark: string) => `${key},${mark}`],
  ['cell, job , mark ', (key: string, mark: string) => `1, ${key} , ${mark} `],
])('passes over what is marked so, whichever column says it: %s', async (head, rowOf) => {
  const rows = [rowOf(fox, 'keep'), rowOf(elk, 'reject')];
  await writeFile(join(folder, 'jobs.txt'), `\ufeff${[head, ...rows].join('\r\n')}\r\n`);
  const keysWithout = async (leftOut: 'keep' | 'reject'): Promise<readonly string[]> => [
    ...(await readJobFile('jobs.txt', '--redo-jobs', folder, leftOut)).keys(),
  ];
  expect([await keysWithout('keep'), await keysWithout('reject')]).toEqual([[elk], [fox]]);
  await writeFile(join(folder, 'jobs.txt'), `${head}\n${rows[0]}\n`);
  await expect(keysWithout('keep')).rejects.toThrow('lists no job but those that are marked "keep"');
});

it.each([
  ['one key a line', `${fox}\n${elk}\n${fox}\n`, [1, 2]],
  ['a column of CSV', `cell,job\n1,${fox}\n2,${elk}\n3,\n4,${fox}\n`, [2, 3]],
])('lists each job once, with its first line: %s', async (_form, text, [foxLine, elkLine]) => {
  await writeFile(join(folder, 'jobs.txt'), text);
  const jobs = await readJobFile('jobs.txt', '--redo-jobs', folder, 'keep');
  expect([...jobs]).toEqual([
    [fox, foxLine],
    [elk, elkLine],
  ]);
});
