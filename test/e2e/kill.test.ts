import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli, startCli, temporaryFolder } from '../rig/cli.ts';
import { type FakeService, type FakeTask, startFakeService } from '../rig/fake-service.ts';
import { byStatus, comparable, readManifest } from '../rig/manifest.ts';
import { makePng } from '../rig/png.ts';
import { seededRandom } from '../rig/virtual-run.ts';
import { fortyCells, write } from './pipelines.ts';

const seed = Number(process.env['SEED'] ?? 20_261);
const kills = 10;

/** The same picture for the same request, so that manifests of two runs can be compared. */
const script = (task: FakeTask): { readonly image: Buffer } => {
  let hash = 7;
  for (const character of `${task.prompt}>${task.path}`)
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return { image: makePng(hash) };
};

const requestsOf = (service: FakeService): number =>
  (['imagine', 'action', 'fetch', 'image'] as const).reduce((sum, route) => sum + service.count(route), 0);

/** Resolves once the service has got `more` further requests. */
async function heard(service: FakeService, more: number): Promise<void> {
  const before = requestsOf(service);
  while (requestsOf(service) < before + more)
    await Promise.race(
      (['imagine', 'action', 'fetch', 'image'] as const).map((route) =>
        service.reached(route, service.count(route) + 1),
      ),
    );
}

describe(`a run that is killed ${kills} times (SEED=${seed})`, () => {
  let service: FakeService;
  beforeAll(async () => {
    service = await startFakeService({ script });
  });
  afterAll(() => service.close());

  it('pays for each job once, but for those it reports in doubt, and ends with the manifest of an untroubled run', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'forty.yaml': fortyCells });
    const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
    const random = seededRandom(seed);

    for (let kill = 0; kill < kills; kill++) {
      const run = startCli(['run', 'forty.yaml'], { cwd: folder.path, env });
      const after = 1 + Math.floor(random() * 150);
      await Promise.race([heard(service, after), run.done]);
      run.child.kill('SIGKILL');
      await run.done;
    }
    const last = await cli(['run', 'forty.yaml'], { cwd: folder.path, env });
    expect([0, 5], last.stderr).toContain(last.code);
    const manifestFile = join(folder.path, 'runs/forty/manifest.csv');
    const held = await readManifest(manifestFile);
    const doubtful = held.filter(({ status }) => status === 'in-doubt');
    console.log(
      `killed ${kills} times: ${service.submits.all.length} tasks made, ${doubtful.length} jobs in doubt`,
    );
    expect(last.code).toBe(doubtful.length > 0 ? 5 : 0);

    const settled = await cli(['run', 'forty.yaml', '--in-doubt', 'retry'], { cwd: folder.path, env });
    expect(settled.code, settled.stderr).toBe(0);
    const rows = await readManifest(manifestFile);
    expect(byStatus(rows)).toEqual({ done: 360 });

    // One task for each job, but where the user's word sent it again.
    const allowed = new Set(
      doubtful.map(({ prompt, branch }) => (branch === '' ? prompt : `${prompt} > ${branch}`)),
    );
    const twice = [...service.submits.byPath].filter(([path, count]) => count > 1 && !allowed.has(path));
    expect(twice).toEqual([]);
    expect(service.submits.byPath.size).toBe(360);
    expect(service.submits.all.length).toBeLessThanOrEqual(360 + doubtful.length);

    const untroubled = await startFakeService({ script });
    try {
      await using other = await temporaryFolder();
      await write(other.path, { 'forty.yaml': fortyCells });
      const result = await cli(['run', 'forty.yaml'], {
        cwd: other.path,
        env: { PROMPTPRESS_BASE_URL: untroubled.url, PROMPTPRESS_API_KEY: untroubled.apiKey },
      });
      expect(result.code, result.stderr).toBe(0);
      const expected = comparable(await readManifest(join(other.path, 'runs/forty/manifest.csv')));
      expect(comparable(rows)).toEqual(expected);
      expect(untroubled.submits.all).toHaveLength(360);
    } finally {
      await untroubled.close();
    }
  }, 120_000);
});
