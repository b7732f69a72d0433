import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli, temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { byStatus, readManifest } from '../rig/manifest.ts';
import { quick, write } from './pipelines.ts';

const tenMillion = `name: huge
service: { id: huge }
${quick}
matrix:
  a: { from: 1, to: 1000 }
  b: { from: 1, to: 100 }
  c: { from: 1, to: 100 }
steps:
  grid:
    imagine: "{{ a }} {{ b }} {{ c }}"
    path: U1
`;

/** Far below what 10,000,000 of anything would need; a plan that is not lazy dies here. */
const nodeFlags = ['--max-old-space-size=64'];

describe('a matrix of 10,000,000 cells', () => {
  it('is planned within a small heap', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'huge.yaml': tenMillion });
    const { code, stdout, stderr } = await cli(['plan', 'huge.yaml', '--json'], {
      cwd: folder.path,
      nodeFlags,
    });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('10000000');
  }, 60_000);

  it('runs its first 100 cells within a small heap, and the manifest has those', async () => {
    const service = await startFakeService({ log: false });
    try {
      await using folder = await temporaryFolder();
      await write(folder.path, { 'huge.yaml': tenMillion });
      const options = {
        cwd: folder.path,
        nodeFlags,
        env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
      };
      const { code, stderr } = await cli(['run', 'huge.yaml', '--limit', '100'], options);
      expect(code, stderr).toBe(0);
      expect(service.submits.all).toHaveLength(200);
      expect(byStatus(await readManifest(join(folder.path, 'runs/huge/manifest.csv')))).toEqual({
        done: 200,
      });
    } finally {
      await service.close();
    }
  }, 60_000);
});
