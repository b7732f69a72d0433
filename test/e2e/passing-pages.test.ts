import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cli, temporaryFolder } from '../rig/cli.ts';
import { type FaultAction, startFakeService } from '../rig/fake-service.ts';
import { readManifest } from '../rig/manifest.ts';
import { write } from './pipelines.ts';

const page: FaultAction = { status: 200, body: '<html><title>Just a moment...</title></html>' };
const redirect: FaultAction = { status: 302, headers: { location: 'https://login.example.com/' } };
const lostPath: FaultAction = {
  status: 404,
  body: '404 page not found',
  headers: { 'content-type': 'text/plain' },
};

it('a page, a redirect and a plain 404 after good responses stop no run', { timeout: 60_000 }, async () => {
  await using folder = await temporaryFolder();
  const service = await startFakeService({ log: false });
  for (const [at, action] of [page, redirect, lostPath].entries()) {
    service.fault('fetch', action, { skip: 6 + 4 * at, times: 1 });
    service.fault('imagine', action, { skip: 6 + 4 * at, times: 1 });
  }
  await write(folder.path, {
    'pages.yaml': `name: pages
limits: { tasks: 2 }
retry: { base: 5ms, cap: 20ms }
poll: { min: 5ms, max: 20ms }
matrix: { seed: { from: 1, to: 30 } }
steps:
  grid: { imagine: "a fox --seed {{ seed }}" }
`,
  });
  const { code, stderr } = await cli(['run', 'pages.yaml'], {
    cwd: folder.path,
    env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
  });
  await service.close();
  // The submission that got a page may have been carried out; the others said that they were not.
  expect(code, stderr).toBe(5);
  const rows = await readManifest(join(folder.path, 'runs/pages/manifest.csv'));
  const doubtful = rows.filter(({ status }) => status !== 'done');
  expect(doubtful.map((row) => [row['status'], row['error_code']])).toEqual([
    ['in-doubt', 'service.not-json'],
  ]);
  expect(rows).toHaveLength(30);
});
