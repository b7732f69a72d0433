import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../../../cli/test-io.ts';
import { temporaryFolder } from '../../../rig/cli.ts';
import { type FakeService, startFakeService } from '../../../rig/fake-service.ts';
import { useQuickSandbox } from '../../../rig/quick-sandbox.ts';

useQuickSandbox();

const pipeline = `name: foxes
retry: { attempts: 2, base: 5ms, cap: 10ms }
poll: { min: 5ms, max: 10ms }
matrix: { animal: [fox, owl] }
steps:
  grid: { imagine: "{{ animal }}" }
`;

/** A project whose pipeline lies in `sets/`. */
interface Project extends AsyncDisposable {
  readonly root: string;
  readonly service: FakeService;
  /** `in` is the folder that the command is given in, from the root. */
  readonly pp: (folder: string, ...args: readonly string[]) => Promise<Said>;
}

async function openProject(): Promise<Project> {
  const service = await startFakeService();
  const folder = await temporaryFolder();
  const root = folder.path;
  await mkdir(join(root, 'sets/data'), { recursive: true });
  await writeFile(join(root, 'sets/foxes.yaml'), pipeline);
  const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
  return {
    root,
    service,
    pp: (place, ...args) => promptpress(args, { cwd: join(root, place), env }),
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe('the run directory', () => {
  it('is beside the pipeline file, wherever the command is started: nothing is paid twice', async () => {
    await using project = await openProject();
    const { root, service, pp } = project;
    expect((await pp('.', 'run', 'sets/foxes.yaml')).code).toBe(0);
    for (const [folder, file] of [
      ['sets', 'foxes.yaml'],
      ['sets/data', '../foxes.yaml'],
      ['.', join(root, 'sets/foxes.yaml')],
    ] as const) {
      expect((await pp(folder, 'run', file)).code).toBe(0);
      expect((await pp(folder, 'plan', file)).out).toContain('nothing is left to do');
      expect(JSON.parse((await pp(folder, 'status', file, '--json')).out)).toMatchObject({
        jobs: { done: 2 },
      });
      expect((await pp(folder, 'manifest', file)).code).toBe(0);
    }
    expect(service.submits.all).toHaveLength(2);
    expect(existsSync(join(root, 'sets/runs/foxes/manifest.csv'))).toBe(true);
    expect(['runs', 'sets/data/runs'].some((name) => existsSync(join(root, name)))).toBe(false);
  });

  it('is the folder of --out, relative to the current folder', async () => {
    await using project = await openProject();
    expect((await project.pp('sets/data', 'run', '../foxes.yaml', '--out', 'here')).code).toBe(0);
    expect(existsSync(join(project.root, 'sets/data/here/manifest.csv'))).toBe(true);
    expect(existsSync(join(project.root, 'sets/runs'))).toBe(false);
  });

  it('is found from the folder above the pipeline by one of its jobs', async () => {
    await using project = await openProject();
    await project.pp('sets', 'run', 'foxes.yaml');
    const manifest = await readFile(join(project.root, 'sets/runs/foxes/manifest.csv'), 'utf8');
    const [key = ''] = /\b[0-9a-f]{32}\b/.exec(manifest) ?? [];
    const shown = await project.pp('.', 'show', key);
    expect(shown.code, shown.err).toBe(0);
    expect(shown.out).toContain('in sets/runs/foxes');
    expect(shown.out).toContain('promptpress run sets/foxes.yaml --redo');
  });
});
