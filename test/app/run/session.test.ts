import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { beginRun } from '../../../src/app/run/session.ts';
import { memoryStore } from '../../rig/memory-store.ts';

it('a run keeps the earlier copies of tables until it is recorded, and removes no other files', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'promptpress-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const [before, now] = ['a'.repeat(64), 'b'.repeat(64)];
  await mkdir(join(directory, 'inputs'));
  for (const name of [before, now, 'notes.txt']) await writeFile(join(directory, 'inputs', name), '');
  const begin = async (isFull: boolean): Promise<string> => {
    const store = memoryStore();
    const state = {
      ...store,
      setFact: (name: string, value: string) => {
        if (isFull && name === 'run.last') throw new Error('full');
        store.setFact(name, value);
      },
    };
    const tables = [{ file: '/p/t.csv', sha256: now, bytes: 1, copied: true }];
    const read = { path: '/p/a.yaml', pipeline: { source: { text: 'name: a' } }, files: { root: '/p' } };
    const held = { state, directory, startedAt: 1 };
    return await beginRun(read as never, { id: 's' }, {}, tables, held as never).then(
      () => 'begun',
      (error: unknown) => (error as Error).message,
    );
  };
  expect([await begin(true), (await readdir(join(directory, 'inputs'))).sort()]).toEqual([
    'full',
    [before, now, 'notes.txt'],
  ]);
  expect([await begin(false), (await readdir(join(directory, 'inputs'))).sort()]).toEqual([
    'begun',
    [now, 'notes.txt'],
  ]);
});
