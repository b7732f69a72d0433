import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../rig/cli.ts';
import { promptpress } from './test-io.ts';

const repository = new URL('../../', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, repository), 'utf8');
const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] };

/** `schemas/*.json` is all files of that name in the folder; a folder is all below it. */
const isPacked = (path: string): boolean =>
  files.some((entry) =>
    entry.includes('*')
      ? new RegExp(`^${entry.replaceAll('.', '\\.').replace('*', '[^/]+')}$`).test(path)
      : path === entry || path.startsWith(`${entry}/`),
  );

it('what the README links to comes with the package: its links have no other address to lead to', () => {
  const links = [...read('README.md').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const relative = links.filter((link) => !/^(https?:|#)/.test(link));
  expect(relative).toContain('.github/pictures/foxes.jpg');
  expect(relative.filter((link) => !isPacked(link))).toEqual([]);
  for (const link of relative) expect(readFileSync(new URL(link, repository)).length).toBeGreaterThan(0);
});

it('leaves out the runs that lie beside the example pipelines after npm start', async () => {
  await using folder = await temporaryFolder();
  const { path } = folder;
  for (const name of ['package.json', '.gitignore', 'README.md', 'pipelines', 'schemas']) {
    await cp(fileURLToPath(new URL(name, repository)), join(path, name), {
      recursive: true,
      filter: (source) => !source.endsWith('/pipelines/runs'),
    });
  }
  await mkdir(join(path, 'dist/cli'), { recursive: true });
  await writeFile(join(path, 'dist/cli/main.js'), '');
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Record<string, string> };
  const [, args = ''] = /main\.js (run .*)$/.exec(scripts['start'] ?? '') ?? [];
  const started = await promptpress([...args.split(' '), '--max-submits', '0', '--no-progress'], {
    cwd: path,
  });
  expect(started.code, started.err).toBe(4);
  expect(started.err).toContain('pipelines/runs/foxes.sandbox/manifest.csv');
  // An image, without the time that drawing it takes.
  await mkdir(join(path, 'pipelines/runs/foxes.sandbox/images'), { recursive: true });
  await writeFile(join(path, 'pipelines/runs/foxes.sandbox/images/3f.png'), '');

  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: path,
  });
  const [packed] = JSON.parse(stdout) as readonly [{ readonly files: readonly { readonly path: string }[] }];
  const paths = packed.files.map(({ path: file }) => file);
  expect(paths).toContain('pipelines/foxes.yaml');
  expect(paths).toContain('pipelines/data/prompts.csv');
  expect(paths.filter((file) => /(?:^|\/)runs\//.test(file))).toEqual([]);
}, 60_000);
