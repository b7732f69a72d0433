import { execFile } from 'node:child_process';

/** Which commit a pipeline file was run from. */
export interface GitFacts {
  readonly commit: string;
  /** Tracked files of the work tree differ from it. */
  readonly dirty: boolean;
}

const timeLimitMs = 5_000;
const outputLimit = 1024 * 1024;
const mostFilters = 100;

/**
 * Asks git, which alone knows how to compare a work tree with a commit. Undefined when there is no git, no
 * repository or no commit: what cannot be known is left out.
 */
export async function gitFacts(folder: string): Promise<GitFacts | undefined> {
  const commit = (await git(folder, ['rev-parse', '--verify', 'HEAD']))?.trim();
  if (commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const off = await filtersOff(folder);
  if (off === undefined) return undefined;
  const status = ['status', '--porcelain', '--untracked-files=no', '--ignore-submodules'];
  const changes = await git(folder, status, off);
  return changes === undefined ? undefined : { commit, dirty: changes.trim() !== '' };
}

/**
 * Environment that turns off what a repository's own configuration would have git run on the files that it compares.
 * A work tree that came as an archive brings its configuration along. Given by number, since a name may hold any sign.
 */
async function filtersOff(folder: string): Promise<Record<string, string> | undefined> {
  // The exit code 1 says that there are none; a key that always stands there tells it from a failure.
  const pattern = '^(filter\\..*\\.(clean|process|required)|core\\.repositoryformatversion)$';
  const listing = ['config', '--local', '--includes', '--null', '--name-only', '--get-regexp', pattern];
  const names = (await git(folder, listing))?.split('\0').filter((name) => name.startsWith('filter.'));
  if (names === undefined || names.length > mostFilters) return undefined;
  const settings = [...new Set(names)].flatMap((name, index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, name.endsWith('.required') ? 'false' : ''],
  ]);
  return { ...Object.fromEntries(settings), GIT_CONFIG_COUNT: String(settings.length / 2) };
}

/**
 * fsmonitor is a command that a repository may configure, and so is what fetches objects that are missing: neither is
 * run. Optional locks would disturb the user's own git.
 */
const git = (
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(
      'git',
      ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-C', folder, ...args],
      {
        timeout: timeLimitMs,
        maxBuffer: outputLimit,
        windowsHide: true,
        env: { ...process.env, GIT_NO_LAZY_FETCH: '1', ...env },
      },
      (error, stdout) => resolve(error === null ? stdout : undefined),
    );
  });
