import { lstatSync } from 'node:fs';
import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, parse, relative, sep } from 'node:path';
import { runFiles } from '../../../report/facts/layout.ts';
import { kindAt } from '../../../state/files/plain-path.ts';
import { stateFiles } from '../../../state/state-files.ts';
import { StateError } from '../../../state/store.ts';
import { findGit } from '../../adapters/git/process.ts';
import type { Environment } from '../../output/io.ts';

/** The files of a run directory that say which jobs are done and paid. Committing them means deciding for others. */
const spoken = [...stateFiles, runFiles.log, runFiles.inputs, runFiles.sandbox] as const;

/**
 * git says nothing of a repository of another user, as a checkout of the host is to a container's root. Its configuration
 * may then be a stranger's, as that of an unpacked archive is: none of its commands is run, and nothing but its index is read.
 */
const whoeverOwnsIt = ['-c', 'safe.directory=*'] as const;

/** What git prints in English where a folder belongs to no repository, also where its `.git` is none. */
const noRepository = 'not a git repository';

/** For all commands of git together. */
const timeLimitMs = 10_000;

/**
 * Refuses a run directory whose state, lock, log or inputs git tracks, and one that a tracked link leads to: whoever has
 * committed them decides what counts as done, what is sent, and where files are written. The results that people do commit,
 * `manifest.csv` and `run.json`, are fine. git reads nothing but its index for it.
 *
 * Where git is missing, or knows no repository here, nothing is tracked. Where git cannot read the repository, everything may be.
 *
 * @param names of the files and folders in it that must not be tracked
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

/** Whether git tracks a file of a folder that is there. @throws the error of the file system */
export const isTracked = async (folder: string, name: string, env: Environment): Promise<boolean> =>
  (await trackedIn(await realpath(folder), [name], env)).names.length > 0;

interface Tracked {
  readonly names: readonly string[];
  /** False: git cannot read the repository, so that every name may be tracked. */
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

/** Every link that is followed on the way to a path, absolute; its own folder is without links. */
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
    // As many links as Linux follows: beyond that, opening the path fails with its own error.
    if (links.push(next) > 40) break;
    const target = await readlink(next);
    const start = parse(target).root;
    if (start !== '') at = start;
    ahead.unshift(...target.slice(start.length).split(sep));
  }
  return links;
}

/**
 * Of these names in a folder, those that git tracks; a name of a folder stands for all that is in it. The repository's own
 * configuration may say that its work tree lies elsewhere: its index is read by the place where it lies as well.
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
  // An index that is more than can be read, a configuration with an error, or a repository that is too slow: it was made so.
  const isUnreadable = prefix !== undefined || limit.aborted || error?.includes(noRepository) === false;
  return isUnreadable ? { names, isReadable: false } : nothing;
}

/** The folder that has a `.git`, this one or one above it. Undefined: git need not be asked. */
function workTreeOf(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (lstatSync(join(at, '.git'), { throwIfNoEntry: false }) !== undefined) return at;
    if (dirname(at) === at) return undefined;
  }
}
