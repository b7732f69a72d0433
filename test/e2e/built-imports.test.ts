import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { commandFile } from '../rig/cli.ts';

/** Whether Node.js reads a file as CommonJS: by its extension, else by the package that it lies in. */
async function isCommonJs(file: string): Promise<boolean> {
  if (extname(file) !== '.js') return extname(file) === '.cjs';
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  const { type } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { type?: string };
  return type !== 'module';
}

it('no package of CommonJS is imported as a module, for which all its files are searched', async () => {
  const dist = dirname(dirname(commandFile));
  const files = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.js'));
  const texts = await Promise.all(
    files
      .filter((name) => !name.startsWith('page'))
      .map(async (name) => await readFile(join(dist, name), 'utf8')),
  );
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/\b(?:from|import) ?"([@a-z][^"]*)"/g)].map(([, name = '']) => name),
  );
  const names = [...new Set(imported)].filter((name) => !isBuiltin(name)).toSorted();
  expect(names).toContain('p-limit');
  const searched = await Promise.all(
    names.map(async (name) => ((await isCommonJs(fileURLToPath(import.meta.resolve(name)))) ? [name] : [])),
  );
  expect(searched.flat()).toEqual([]);
});
