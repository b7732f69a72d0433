import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startCli, temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { write } from './pipelines.ts';

/** A run that looks at a million cells, and finds nothing to do. */
const busy = `name: busy
matrix: { a: { from: 1, to: 1000 }, b: { from: 1, to: 1000 } }
steps:
  grid: { imagine: "fox {{ a }} {{ b }}", when: a == 0 }
`;

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a run that has sent nothing yet ends as %s ends any process, within a second',
  async (name) => {
    await using folder = await temporaryFolder();
    const service = await startFakeService();
    try {
      await write(folder.path, { 'busy.yaml': busy });
      const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
      const running = startCli(['run', join(folder.path, 'busy.yaml'), '--yes'], { cwd: folder.path, env });
      await running.said('Service:');
      const at = performance.now();
      running.child.kill(name);
      const { code, signal } = await running.done;
      expect([code, signal]).toEqual([undefined, name]);
      expect(performance.now() - at).toBeLessThan(1000);
      expect(service.submits.all).toEqual([]);
    } finally {
      await service.close();
    }
  },
);
