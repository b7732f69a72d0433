/**
 * Whether `dist/` was built from the sources as they are: `tsx current.ts` fails where it was not, so that `npm run build` builds
 * only what has changed; `--note` says that it is built.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const stamp = join(root, 'dist/.sources');

/** What the build reads: the lock file stands for the packages. */
const read = [
  'src',
  'schemas',
  'build.ts',
  'declarations.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

function hashOfSources(): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    const full = join(root, path);
    if (statSync(full).isDirectory()) {
      for (const name of readdirSync(full).toSorted()) add(`${path}/${name}`);
    } else {
      const bytes = readFileSync(full);
      hash.update(`${path}\n${bytes.length}\n`).update(bytes);
    }
  };
  read.forEach(add);
  return hash.digest('hex');
}

if (process.argv.includes('--note')) writeFileSync(stamp, hashOfSources());
else if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== hashOfSources()) {
  // A build that is cut off has not built what the note says.
  rmSync(stamp, { force: true });
  process.exitCode = 1;
}
