import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { promptpress } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { byStatus, comparable, readManifest } from '../rig/manifest.ts';
import { aimedKill } from '../rig/mishap.ts';
import { calmRun, openPlace, samePictures } from '../rig/run-place.ts';
import { twoCells } from './pipelines.ts';

const withTable = twoCells.replace('animal: [fox, owl]', 'rows: animals.csv');
const table = 'animal\nfox\nowl\n';

describe('a run directory that was killed midway and moved', () => {
  it('is readable without its pipeline, and continues with --out, paying for nothing again', async () => {
    const calm = await calmRun(twoCells);
    let isHeld = true;
    await using place = await openPlace(withTable, {
      script: (task) => ({
        ...samePictures(task),
        ...(task.kind === 'action' && isHeld ? { polls: Number.POSITIVE_INFINITY } : {}),
      }),
    });
    await writeFile(join(place.folder, 'animals.csv'), table);
    const dying = place.meet(aimedKill('image rename', 3, 'after'));
    // An upscale waits for no file of its grid: its image is the third only where it ends once the state says that both grids are done.
    const doneSoFar = async (): Promise<unknown> => {
      const { out } = await promptpress(['status', place.directory, '--json'], {
        cwd: place.folder,
        env: place.env,
      });
      return (JSON.parse(out) as { readonly jobs: { readonly done: number } }).jobs.done;
    };
    await vi.waitFor(async () => expect(await doneSoFar()).toBe(2), { timeout: 30_000, interval: 50 });
    isHeld = false;
    place.service.finish();
    const killed = await dying;
    expect(killed.signal, killed.stderr).toBe('SIGKILL');

    await using elsewhere = await temporaryFolder();
    const directory = join(elsewhere.path, 'kept/foxes');
    await mkdir(join(elsewhere.path, 'kept'));
    await rename(place.directory, directory);
    // Nothing of the old place is left.
    await rm(place.folder, { recursive: true });
    const command = (...args: readonly string[]) =>
      promptpress(args, { cwd: elsewhere.path, env: place.env });

    const status = await command('status', directory, '--json');
    expect(status.code, status.err).toBe(0);
    expect(JSON.parse(status.out)).toMatchObject({ jobs: { done: 2 } });
    const manifest = await command('manifest', directory);
    expect(manifest.code, manifest.err).toBe(0);
    const rows = await readManifest(join(directory, 'manifest.csv'));
    expect(rows).toHaveLength(6);
    expect(byStatus(rows)).toMatchObject({ done: 2 });
    const done = rows.find(({ status }) => status === 'done')?.['job'] ?? '';
    const show = await command('show', done, directory, '--json');
    expect(show.code, show.err).toBe(0);
    expect(show.out).toContain(done);

    // A pipeline of the name with another text is not known to be the same one.
    const file = join(elsewhere.path, 'pipelines/killed.yaml');
    await mkdir(join(elsewhere.path, 'pipelines'));
    await writeFile(join(elsewhere.path, 'pipelines/animals.csv'), table);
    await writeFile(file, `${withTable}# edited\n`);
    const asked = place.service.submits.all.length;
    const edited = await command('run', file, '--out', directory);
    expect(edited.code, edited.err).toBe(2);
    expect(edited.err).toContain('belongs to another pipeline');
    expect(place.service.submits.all).toHaveLength(asked);

    await writeFile(file, withTable);
    const next = await command('run', file, '--out', directory);
    const inDoubt = byStatus(await readManifest(join(directory, 'manifest.csv')))['in-doubt'] ?? 0;
    expect(next.code, next.err).toBe(inDoubt > 0 ? 5 : 0);
    expect(Math.max(...place.service.submits.byPath.values())).toBe(1);
    expect((await command('run', file, '--out', directory, '--in-doubt', 'retry')).code).toBe(0);
    expect(place.service.submits.all.length).toBeLessThanOrEqual(6 + inDoubt);
    expect(comparable(await readManifest(join(directory, 'manifest.csv')))).toEqual(calm.rows);
  });

  it('is known by its pipeline, edited or not, where that has stayed', async () => {
    await using place = await openPlace(twoCells);
    const killed = await place.meet(aimedKill('image rename', 3, 'after'));
    expect(killed.signal, killed.stderr).toBe('SIGKILL');
    const directory = join(place.folder, 'moved');
    await rename(place.directory, directory);
    await writeFile(join(place.folder, 'killed.yaml'), `${twoCells}# edited\n`);
    const next = await place.run('--out', 'moved');
    const rows = await readManifest(join(directory, 'manifest.csv'));
    expect(next.code, next.err).toBe((byStatus(rows)['in-doubt'] ?? 0) > 0 ? 5 : 0);
    expect(Math.max(...place.service.submits.byPath.values())).toBe(1);
  });
});
