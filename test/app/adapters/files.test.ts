import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { machineFiles } from '../../../src/app/adapters/files.ts';
import { listingName, listingText } from '../../../src/pipeline/matrix/table/glob.ts';
import { temporaryFolder } from '../../rig/cli.ts';

/** What a glob of a pipeline in `p/` lists, of files under a root. */
async function listed(root: string, glob: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of machineFiles(root).list(listingName(join(root, 'p'), glob))) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('files of this machine as rows', () => {
  it('are listed in a fixed order, with links to files inside the root', async () => {
    await using place = await temporaryFolder();
    const root = await realpath(place.path);
    for (const folder of ['p/in/b/c', 'p/in/.git', 'shared'])
      await mkdir(join(root, folder), { recursive: true });
    for (const file of [
      'p/in/z.png',
      'p/in/b/a.png',
      'p/in/b/c/B.png',
      'p/in/.git/x.png',
      'shared/s.png',
      'p/in/t.txt',
    ]) {
      await writeFile(join(root, file), 'x');
    }
    await symlink(join(root, 'shared/s.png'), join(root, 'p/in/link.png'));
    await symlink(join(root, 'shared'), join(root, 'p/in/far'));
    await symlink(join(root, 'p/in'), join(root, 'p/in/b/round'));
    expect(await listed(root, 'in/*.png')).toBe(listingText(['in/link.png', 'in/z.png']));
    expect(await listed(root, 'in/**/*.png')).toBe(
      listingText(['in/b/a.png', 'in/b/c/B.png', 'in/link.png', 'in/z.png']),
    );
    expect(await listed(root, 'in/far/*')).toBe(listingText(['in/far/s.png']));
    expect(await listed(root, '../shared/*')).toBe(listingText(['../shared/s.png']));
    expect(await listed(root, 'no/*')).toBe('');
    expect(await listed(root, 'in/z.png/*')).toBe('');
  });

  it('exclude files in a folder of git, and a table there', async () => {
    await using place = await temporaryFolder();
    const root = await realpath(place.path);
    await mkdir(join(root, 'p'));
    await mkdir(join(root, '.git'));
    await writeFile(join(root, '.git', 'config'), 'x');
    await symlink(join(root, '.git'), join(root, 'p', 'own'));
    for (const glob of ['../.git/*', '../.git/config', 'own/*', 'o*/*']) {
      await expect(listed(root, glob), glob).rejects.toMatchObject({ code: 'table.outside' });
    }
    for (const file of ['.git/config', 'p/own/config']) {
      await expect(machineFiles(root).read(join(root, file))[Symbol.asyncIterator]().next()).rejects.toThrow(
        'may not read',
      );
    }
  });

  it('exclude files outside of the root', async () => {
    await using place = await temporaryFolder();
    const root = join(await realpath(place.path), 'root');
    await mkdir(join(root, 'p'), { recursive: true });
    await writeFile(join(place.path, 'secret.png'), 'x');
    await symlink(join(place.path, 'secret.png'), join(root, 'p/a.png'));
    await symlink(place.path, join(root, 'p/up'));
    for (const glob of ['*.png', 'u*/*.png', '../../*.png', 'up/*.png']) {
      await expect(listed(root, glob), glob).rejects.toMatchObject({ code: 'table.outside' });
    }
    expect(await listed(root, '**/b.png')).toBe('');
    await symlink(join(place.path, 'gone'), join(root, 'p/b.png'));
    await expect(listed(root, 'b*')).rejects.toMatchObject({ code: 'table.unreadable' });
  });
});
