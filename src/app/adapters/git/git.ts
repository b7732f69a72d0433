import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isWithin } from '../../../pipeline/files.ts';
import type { Environment } from '../../output/io.ts';
import { differsFromCommit, type Repository } from './comparison.ts';
import { findGit, type GitProcess } from './process.ts';

/** Which commit a pipeline file was run from. */
export interface GitFacts {
  readonly commit: string;
  /**
   * Tracked files of the work tree differ from it. Absent where that cannot be known without running a command that
   * the repository names.
   */
  readonly dirty?: boolean;
}

const timeLimitMs = 10_000;

/**
 * Asks git, which alone knows how to compare a work tree with a commit. Undefined when there is no git, no
 * repository or no commit: what cannot be known is left out.
 *
 * The repository may be a stranger's. In it only commands are run that read its configuration and its references, and
 * run nothing; the comparison does not know its configuration at all.
 */
export async function gitFacts(
  folder: string,
  { env, signal }: { readonly env: Environment; readonly signal?: AbortSignal },
): Promise<GitFacts | undefined> {
  const limit = AbortSignal.timeout(timeLimitMs);
  const realFolder = await realpath(folder);
  if (!(await mayBeTracked(realFolder))) return undefined;
  const git = await findGit(realFolder, env, signal === undefined ? limit : AbortSignal.any([signal, limit]));
  if (git === undefined) return undefined;
  const repository = await findRepository(realFolder, git);
  if (repository === undefined) return undefined;
  const dirty = await differsFromCommit(repository, git);
  return { commit: repository.commit, ...(dirty === undefined ? {} : { dirty }) };
}

/** False where neither the folder nor one above has a `.git`: git would find no repository either, and takes a process to say so. */
async function mayBeTracked(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await lstat(join(at, '.git')).then(
      () => true,
      ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
    );
    if (found || at === dirname(at)) return found;
  }
}

async function findRepository(folder: string, git: GitProcess): Promise<Repository | undefined> {
  const paths = ['objects', 'index', 'info/attributes'].flatMap((name) => ['--git-path', name]);
  const output = await git(['rev-parse', '--show-toplevel', '--show-object-format', ...paths, 'HEAD']);
  const lines = output?.split('\n') ?? [];
  const [top = '', objectFormat = '', objects = '', index = '', attributes = '', commit = ''] = lines;
  // A path with a line break in it makes more lines.
  if (lines.length !== 7 || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const workTree = await realpath(top).catch(() => undefined);
  // A repository may name a work tree that lies elsewhere: its commit is not that of this folder.
  if (workTree === undefined || !isWithin(workTree, folder)) return undefined;
  return {
    workTree,
    objects: resolve(folder, objects),
    index: resolve(folder, index),
    attributes: resolve(folder, attributes),
    objectFormat,
    commit,
  };
}
