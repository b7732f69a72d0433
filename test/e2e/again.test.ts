import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promptpress } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { byStatus, readManifest } from '../rig/manifest.ts';
import { fortyCells, oneStep, write } from './pipelines.ts';

describe('the same command again', () => {
  it('asks the service for nothing, and leaves the manifest byte for byte as it was', async () => {
    const service = await startFakeService();
    try {
      await using folder = await temporaryFolder();
      await write(folder.path, { 'forty.yaml': fortyCells });
      const options = {
        cwd: folder.path,
        env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
      };
      const first = await promptpress(['run', 'forty.yaml'], options);
      expect(first.code, first.err).toBe(0);
      const manifest = join(folder.path, 'runs/killed/manifest.csv');
      const bytes = await readFile(manifest);
      const asked = service.requests.length;
      const second = await promptpress(['run', 'forty.yaml'], options);
      expect(second.code, second.err).toBe(0);
      expect(service.requests.length).toBe(asked);
      expect((await readFile(manifest)).equals(bytes)).toBe(true);
    } finally {
      await service.close();
    }
  });

  it('after an edit runs what changed and nothing else', async () => {
    const service = await startFakeService();
    try {
      await using folder = await temporaryFolder();
      const text = oneStep(5);
      await write(folder.path, { 'one.yaml': text });
      const options = {
        cwd: folder.path,
        env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
      };
      expect((await promptpress(['run', 'one.yaml'], options)).code).toBe(0);
      await write(folder.path, { 'one.yaml': text.replace('to: 5', 'to: 7') });
      expect((await promptpress(['run', 'one.yaml'], options)).code).toBe(0);
      expect(service.count('imagine')).toBe(7);
      await write(folder.path, { 'one.yaml': `${text.replace('to: 5', 'to: 7')}    path: U1\n` });
      expect((await promptpress(['run', 'one.yaml'], options)).code).toBe(0);
      expect([service.count('imagine'), service.count('action')]).toEqual([7, 7]);
      expect(byStatus(await readManifest(join(folder.path, 'runs/one/manifest.csv')))).toEqual({ done: 14 });
    } finally {
      await service.close();
    }
  });
});
