import { lstatSync } from 'node:fs';
import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, parse, relative, sep } from 'node:path';
import { runFiles } from '../../../report/facts/layout.ts';
import { kindAt } from '../../../state/files/plain-path.ts';
import { stateFiles } from '../../../state/state-files.ts';
import { StateError } from '../../../state/store.ts';
import { findGit } from '../../adapters/git/process.ts';
import type { Environment } from '../../output/io.ts';

/** The files of a run directory that say which jobs are done and paid. Whoever commits them decides for others. */
const spoken = [...stateFiles, runFiles.log, runFiles.inputs, runFiles.sandbox] as const;

/**
 * Options that make git read the repository of another user, such as a checkout of the host in a container. Its configuration may be a
 * stranger's: none of its commands is run, and only its index is read.
 */
const whoeverOwnsIt = ['-c', 'safe.directory=*'] as const;

/** Git's English message for a folder outside of any repository, also if its `.git` is not a repository. */
const noRepository = 'not a git repository';

/** Time limit of all git commands together, ms. */
const timeLimitMs = 10_000;

/**
 * Refuses a run directory whose state, lock, log or inputs are tracked by git, or that is reached through a tracked link: whoever committed
 * them decides what counts as done, what is sent, and where files are written. Tracked results (`manifest.csv` and `run.json`) are allowed.
 * git reads only its index for this.
 *
 * Without git or a repository, nothing is tracked. If git cannot read the repository, every file may be tracked.
 *
 * @param names of files and folders in it that must not be tracked
 * @throws StateError `directory.tracked`; the error of the file system
 */
export async function refuseTracked(
  directory: string,
  env: Environment,
  names: readonly string[] = spoken,
): Promise<void> {
  for (const link of await linksTo(directory)) {
    const tracked = await trackedIn(dirname(link), [basename(link)], env);
    if (tracked.names.length === 0) continue;
    throw trackedError(
      `${link}, a link on the way to ${directory}, ${inWords(tracked)}.`,
      'Whoever committed it chose where files are written.',
    );
  }
  const there = names.filter((name) => kindAt(join(directory, name)) !== 'nothing');
  if (there.length === 0) return;
  const tracked = await trackedIn(await realpath(directory), there, env);
  const [first] = tracked.names;
  if (first === undefined) return;
  throw trackedError(
    `${join(directory, first)} ${inWords(tracked)}${tracked.isReadable ? ': it came with the repository' : ''}.`,
    'Whoever committed it decides what counts as done and what is sent.',
  );
}

/** Whether git tracks a file of an existing folder. @throws the error of the file system */
export const isTracked = async (folder: string, name: string, env: Environment): Promise<boolean> =>
  (await trackedIn(await realpath(folder), [name], env)).names.length > 0;

interface Tracked {
  readonly names: readonly string[];
  /** False: git cannot read the repository, so every name may be tracked. */
  readonly isReadable: boolean;
}

const inWords = ({ isReadable }: Tracked): string =>
  isReadable
    ? 'is tracked by git'
    : 'may be tracked by git, which cannot read its repository ("git status" says why)';

const trackedError = (message: string, why: string): StateError =>
  new StateError('directory.tracked', message, {
    hint:
      `${why} If you trust them, give --trust-directory; else take another directory with --out.\n` +
      'Only manifest.csv and run.json of a run are meant to be committed.',
  });

/** Returns all links on the way to a path, as absolute paths whose folders contain no links. */
async function linksTo(path: string): Promise<readonly string[]> {
  const links: string[] = [];
  const { root } = parse(path);
  let at = root;
  const ahead = relative(root, path).split(sep);
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    const next = join(at, name);
    const kind = kindAt(next);
    if (kind === 'nothing') break;
    if (kind !== 'link') {
      at = next;
      continue;
    }
    // The limit of Linux: with more links, opening the path fails with its own error.
    if (links.push(next) > 40) break;
    const target = await readlink(next);
    const start = parse(target).root;
    if (start !== '') at = start;
    ahead.unshift(...target.slice(start.length).split(sep));
  }
  return links;
}

/**
 * Returns those names in a folder that git tracks; a folder stands for everything in it. The repository's configuration may put its work
 * tree elsewhere, so its index is also read by the location of the repository.
 */
async function trackedIn(folder: string, names: readonly string[], env: Environment): Promise<Tracked> {
  const nothing: Tracked = { names: [], isReadable: true };
  const top = workTreeOf(folder);
  if (top === undefined) return nothing;
  const limit = AbortSignal.timeout(timeLimitMs);
  const git = await findGit(folder, env, limit);
  if (git === undefined) return nothing;
  const list = ['--literal-pathspecs', 'ls-files', '--cached', '-z', '--', ...names];
  const listings = [
    await git([...whoeverOwnsIt, ...list]),
    await git([...whoeverOwnsIt, `--work-tree=${top}`, ...list]),
  ];
  const found = listings.flatMap((listing) => listing?.split('\0').filter((name) => name !== '') ?? []);
  if (found.length > 0 || !listings.includes(undefined)) return { names: found, isReadable: true };
  let error: string | undefined;
  const prefix = await git([...whoeverOwnsIt, 'rev-parse', '--show-prefix'], {}, (printed) => {
    error = printed;
  });
  // An index that is too large, a broken configuration or a very slow repository may be intended to avoid this check.
  const isUnreadable = prefix !== undefined || limit.aborted || error?.includes(noRepository) === false;
  return isUnreadable ? { names, isReadable: false } : nothing;
}

/** Returns this folder or the parent that has a `.git`. Undefined: git need not be asked. */
function workTreeOf(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (lstatSync(join(at, '.git'), { throwIfNoEntry: false }) !== undefined) return at;
    if (dirname(at) === at) return undefined;
  }
}
