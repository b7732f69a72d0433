import { execFile } from 'node:child_process';

/** Which commit a pipeline file was run from. */
export interface GitFacts {
  readonly commit: string;
  /** Tracked files of the work tree differ from it. */
  readonly dirty: boolean;
}

const timeLimitMs = 5_000;
const outputLimit = 1024 * 1024;

/**
 * Asks git, which alone knows how to compare a work tree with a commit. Undefined when there is no git, no
 * repository or no commit: what cannot be known is left out.
 */
export async function gitFacts(folder: string): Promise<GitFacts | undefined> {
  const commit = (await git(folder, 'rev-parse', '--verify', 'HEAD'))?.trim();
  if (commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const changes = await git(folder, 'status', '--porcelain', '--untracked-files=no', '--ignore-submodules');
  return changes === undefined ? undefined : { commit, dirty: changes.trim() !== '' };
}

/** fsmonitor is a command that a repository may configure: it is not run. Optional locks would disturb the user's own git. */
const git = (folder: string, ...args: readonly string[]): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(
      'git',
      ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-C', folder, ...args],
      { timeout: timeLimitMs, maxBuffer: outputLimit, windowsHide: true },
      (error, stdout) => resolve(error === null ? stdout : undefined),
    );
  });
