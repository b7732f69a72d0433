import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keptSource } from '../../../src/app/workspace/last-pipeline.ts';
import { memoryStore } from '../../rig/memory-store.ts';

it('a state may read files of the user’s project, but not of a whole home folder', async () => {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'promptpress-')));
  onTestFinished(() => rm(project, { recursive: true }));
  const directory = join(project, 'runs/foxes');
  for (const folder of ['.git', 'sets', 'runs/foxes/inputs'])
    await mkdir(join(project, folder), { recursive: true });
  const store = memoryStore();
  store.setFact('pipeline.text', 'name: foxes');
  store.setFact('pipeline.path', '/elsewhere/foxes.yaml');
  store.setFact(
    'run.last',
    JSON.stringify({
      filesRoot: '/',
      tables: [],
      serviceId: 's',
      selection: {},
      startedAt: 1,
      atStart: { settled: 0, attempts: 0 },
    }),
  );
  const rootAt = async (HOME: string): Promise<string | undefined> => {
    const io = { cwd: join(project, 'sets'), env: { HOME } };
    return (await keptSource(directory, store.reader, io))?.files.root;
  };
  expect([await rootAt('/home/other'), await rootAt(project)]).toEqual([project, join(directory, 'inputs')]);
});
