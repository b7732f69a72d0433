import { describe, expect, it } from 'vitest';
import { startCli, temporaryFolder } from '../rig/cli.ts';
import { quick, write } from './pipelines.ts';

/** The machine's clock is set by so many hours as soon as the process has begun to send. */
const setting = (hours: number): string =>
  `data:text/javascript,${encodeURIComponent(`
const now = Date.now;
let by = 0;
Date.now = () => now() + by;
setTimeout(() => { by = ${hours} * 3600000; }, 900);`)}`;

describe.concurrent('a clock that is set while a run is on', () => {
  it.each([[-2], [2], [-9000]])(
    'by %d hours, changes neither how long the run lasted nor when it ends',
    async (hours) => {
      await using folder = await temporaryFolder();
      await write(folder.path, {
        'one.yaml': `name: one\n${quick}matrix: { n: { from: 1, to: 4 } }\nsteps: { grid: { imagine: "picture {{ n }}" } }\n`,
      });
      const args = ['run', 'one.yaml', '--sandbox', '--pace', '0.5', '--max-duration', '50s', '--json'];
      const { code, stdout, stderr } = await startCli(args, {
        cwd: folder.path,
        nodeFlags: ['--import', setting(hours)],
      }).done;
      expect(code, stderr).toBe(0);
      const { startedAt, finishedAt } = JSON.parse(stdout) as { startedAt: string; finishedAt: string };
      const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000;
      expect(seconds).toBeGreaterThan(0.9);
      expect(seconds).toBeLessThan(50);
      expect(stderr).toMatch(/complete after [1-9]\d* s/);
    },
  );
});
