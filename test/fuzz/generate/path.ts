import { type Draft, draft, piece } from '../input.ts';
import type { Random } from '../random.ts';

/** How a path is meant: as the rows of a matrix, as an image of a step, as the pipeline itself, as `--files-root`. */
export const uses = ['rows', 'image', 'pipeline', 'files-root', 'target'] as const;

/** What lies in the sandboxed folder, and the name under which it is asked for; see `check/path.ts`, which makes it. */
export const traps = [
  'good.csv',
  'link-inside.csv',
  'link-outside.csv',
  'link-link-outside.csv',
  'link-absolute.csv',
  'link-loop.csv',
  'link-dangling.csv',
  'link-zero.csv',
  'link-folder/secret.csv',
  'link-self/link-self/link-self/good.csv',
  'pipe.csv',
  'folder.csv',
  'folder.csv/good.csv',
  'good.csv/x.csv',
  'sparse.csv',
  'sparse.yaml',
  'huge.yaml',
  'unreadable.csv',
  '../outside/secret.csv',
  './../outside/secret.csv',
  'sub/../../outside/secret.csv',
  '..',
  '.',
  '',
  '/',
  '/dev/zero',
  '/dev/stdin',
  '/dev/tty',
  '/proc/self/environ',
  '/etc/passwd',
  'good.csv\0.png',
  'good.csv\n',
  'file:///etc/passwd',
  '~/.ssh/id_rsa',
  'missing.csv',
  '\\\\server\\share\\x.csv',
] as const;

/** A path that leads astray. */
export function hostilePath(random: Random): Draft {
  const use = random.pick(uses);
  if (random.happens(0.85)) return draft(use, random.pick(traps));
  const unit = random.pick(['a', '../', './/', 'a/', 'link-self/', '/', 'é']);
  return draft(
    use,
    piece(unit, random.pick([10, 255, 256, 4096, 10_000])),
    random.pick(['good.csv', 'x.csv', '']),
  );
}
