import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('holds ten million cells, and a table of 400,000 rows, in a heap of 64 MB', async () => {
  const child = new URL('./scale-child.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=64',
    '--import',
    'tsx',
    child,
  ]);
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  expect(JSON.parse(stdout)).toEqual({
    count: 10_000_000,
    first: upTo(100),
    // 1,000 of the pair of names, 10,000 of the seed, 100 of the name and seed, less 1 counted twice.
    excluded: 10_000_000 - 1000 - 10_000 - 100 + 1,
    sampled: upTo(100),
    enumerated: 1_000_000,
    tabled: 400_000,
    last: '399999',
  });
});
