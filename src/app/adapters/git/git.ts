import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isWithin } from '../../../pipeline/files.ts';
import type { Environment } from '../../output/io.ts';
import { differsFromCommit, type Repository } from './comparison.ts';
import { findGit, type GitProcess } from './process.ts';

/** The git commit that a pipeline file was run from. */
export interface GitFacts {
  readonly commit: string;
  /** True if tracked files differ from the commit. Absent where finding out would run a command that the repository names. */
  readonly dirty?: boolean;
}

const timeLimitMs = 10_000;

/**
 * Reads the commit of a folder with git. Undefined when there is no git, no repository or no commit.
 *
 * The repository may be a stranger's. Only commands that read its configuration and its references run in it; they start no other program,
 * and the comparison ignores its configuration.
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

/** Whether the folder or a parent has a `.git`. Checking this first saves the start of a git process. */
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
  // A path that contains a line break gives more lines.
  if (lines.length !== 7 || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const workTree = await realpath(top).catch(() => undefined);
  // A repository may name a work tree elsewhere: its commit is not the commit of this folder.
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
