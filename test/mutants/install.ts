import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const lock = 'package-lock.json';

/**
 * Installs Stryker below `node_modules/.cache`, where only this script finds it: `npm ci` of the repository neither brings nor
 * checks its 170 packages. Its versions are pinned by the lock beside this file; a changed lock installs again. Vitest is not
 * among them: Node.js finds the repository's own on the way up.
 */
export async function install(): Promise<string> {
  const cache = resolve('node_modules/.cache/mutants');
  const installed = join(cache, 'node_modules', '.installed-lock.json');
  const wanted = readFileSync(join(here, lock), 'utf8');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return cache;
  mkdirSync(cache, { recursive: true });
  for (const name of ['package.json', lock]) copyFileSync(join(here, name), join(cache, name));
  console.log(`Installing Stryker in ${cache} …`);
  const flags = ['--ignore-scripts', '--omit=peer', '--legacy-peer-deps', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', ['ci', ...flags], {
    cwd: cache,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) {
    rmSync(cache, { recursive: true, force: true });
    throw new Error('npm ci could not install Stryker.');
  }
  copyFileSync(join(here, lock), installed);
  return cache;
}
