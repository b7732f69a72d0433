import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../rig/cli.ts';
import { readDocuments, repository, targetOf } from '../rig/documents.ts';
import { promptpress } from './test-io.ts';

const read = (name: string): string => readFileSync(join(repository, name), 'utf8');

/** Paths that `npm pack` would put into the package of a folder. */
async function packedFrom(folder: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: folder,
  });
  const [packed] = JSON.parse(stdout) as readonly [{ readonly files: readonly { readonly path: string }[] }];
  return packed.files.map(({ path }) => path);
}

it('packs every file that a packed document links to, and one file of declarations', async () => {
  const packed = new Set(await packedFrom(repository));
  const documents = readDocuments().filter(({ path }) => packed.has(path));
  const targets = documents.flatMap((document) =>
    document.links.map((link) => targetOf(document, link)?.path).filter((path) => path !== undefined),
  );
  expect(targets).toContain('.github/pictures/gallery.jpg');
  expect([...packed].filter((path) => path.endsWith('.d.ts'))).toEqual(['dist/index.d.ts']);
  expect(documents.map(({ path }) => path)).toContain('README.md');
  expect(targets.filter((path) => !packed.has(path))).toEqual([]);
}, 60_000);

it('has the license of a package in the file that is a copy of it', () => {
  const copy = read('dist/packages/yaml.cjs');
  const license = readFileSync(join(repository, 'node_modules/yaml/LICENSE'), 'utf8');
  expect(copy.startsWith('/*!\nyaml\n')).toBe(true);
  expect(copy.slice(0, copy.indexOf('*/'))).toContain(license.trim());
});

it('leaves out the runs that lie beside the example pipelines after npm start', async () => {
  await using folder = await temporaryFolder();
  const { path } = folder;
  for (const name of ['package.json', '.gitignore', 'README.md', 'pipelines', 'schemas']) {
    await cp(join(repository, name), join(path, name), {
      recursive: true,
      filter: (source) => !source.endsWith('/pipelines/runs'),
    });
  }
  await mkdir(join(path, 'dist/cli'), { recursive: true });
  await writeFile(join(path, 'dist/cli/main.js'), '');
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Record<string, string> };
  const argsOf = (name: string): readonly string[] =>
    (new RegExp(`main\\.js (${name} [^&]*)`).exec(scripts['start'] ?? '')?.[1] ?? '').trim().split(' ');
  const started = await promptpress([...argsOf('run'), '--max-submits', '0', '--no-progress'], {
    cwd: path,
  });
  expect(started.code, started.err).toBe(4);
  expect(started.err).toContain('pipelines/runs/foxes.sandbox/manifest.csv');
  const reported = await promptpress(argsOf('report'), { cwd: path });
  expect(reported.out, reported.err).toContain('pipelines/runs/foxes.sandbox/report/index.html: 36 results');
  // An image, without the time that drawing it takes.
  await mkdir(join(path, 'pipelines/runs/foxes.sandbox/images'), { recursive: true });
  await writeFile(join(path, 'pipelines/runs/foxes.sandbox/images/3f.png'), '');

  const paths = await packedFrom(path);
  expect(paths).toContain('pipelines/foxes.yaml');
  expect(paths).toContain('pipelines/data/prompts.csv');
  expect(paths.filter((file) => /(?:^|\/)runs\//.test(file))).toEqual([]);
}, 60_000);
