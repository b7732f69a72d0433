/**
 * Whether `dist/` was built from the sources as they are: `tsx current.ts` fails where it was not, so that `npm run build` builds
 * only what has changed; `--note` says that it is built.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const dist = join(root, 'dist');
const stamp = join(dist, '.sources');
/** Before the hash of what a build has begun with: a build that is cut off has not built what the note says. */
const begun = 'begun ';

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

const noted = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
// Of the sources as they were when the build began: what was changed meanwhile may not be in it.
if (process.argv.includes('--note')) writeFileSync(stamp, noted.replace(begun, ''));
else {
  const hash = hashOfSources();
  if (noted !== hash || !existsSync(join(dist, 'cli/main.js'))) {
    mkdirSync(dist, { recursive: true });
    writeFileSync(stamp, `${begun}${hash}`);
    process.exitCode = 1;
  }
}
