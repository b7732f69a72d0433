import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import type { Environment } from '../../output/io.ts';

/**
 * Runs one git command and gives what it printed; undefined when it failed, for whatever reason.
 *
 * @param onFatal is called before that when git itself ended the command, with what git printed on standard error
 */
export type GitProcess = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  onFatal?: (error: string) => void,
) => Promise<string | undefined>;

const fatalExitCode = 128;

/** The output of a command that prints more is lost. */
const outputLimit = 16 * 1024 * 1024;

/**
 * The environment that a git process receives: where programs and the user's own configuration are, and where git may
 * search for a repository. Everything else is withheld: any variable may hold a secret (`GIT_CONFIG_VALUE_0` often does),
 * and the `GIT_DIR` of a hook that runs promptpress names another repository.
 */
const passedOn = (
  'HOME XDG_CONFIG_HOME TMPDIR TMP TEMP SystemRoot SYSTEMROOT USERPROFILE HOMEDRIVE HOMEPATH ProgramData PROGRAMDATA ' +
  'GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM'
).split(' ');

/** No transport is allowed, so that nothing is fetched, whichever version of git this is. */
const alwaysSet = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
};

/**
 * fsmonitor and hooks are commands: none is run. A folder that looks like a bare repository is none. Optional locks
 * would disturb the user's own git.
 */
const alwaysGiven = [
  '--no-optional-locks',
  '--no-pager',
  '-c',
  'core.fsmonitor=false',
  '-c',
  `core.hooksPath=${devNull}`,
  '-c',
  'safe.bareRepository=explicit',
];

/**
 * How git is run: the program that the user's `PATH` names, never one of the folder that is asked about. Undefined when
 * there is none.
 *
 * @param folder the commands' working directory, its links resolved
 * @param signal ends a command that is under way
 */
export async function findGit(
  folder: string,
  env: Environment,
  signal: AbortSignal,
): Promise<GitProcess | undefined> {
  const folders = programFolders(env['PATH'] ?? env['Path'] ?? '');
  const program = await findProgram(folders, 'git');
  if (program === undefined) return undefined;
  const known = passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  const base = { ...Object.fromEntries(known), PATH: folders.join(delimiter), ...alwaysSet };
  return (args, more = {}, onFatal) =>
    new Promise((resolve) => {
      const options = {
        cwd: folder,
        env: { ...base, ...more },
        maxBuffer: outputLimit,
        windowsHide: true,
        signal,
        killSignal: 'SIGKILL',
      } as const;
      const child = execFile(program, [...alwaysGiven, ...args], options, (error, stdout, stderr) => {
        if (error?.code === fatalExitCode) onFatal?.(stderr);
        resolve(error === null ? stdout : undefined);
      });
      child.stdin?.end();
    });
}

/** A relative folder would be one of the repository, and so may be one that npm puts there. */
const programFolders = (path: string): readonly string[] =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !folder.endsWith(`${sep}node_modules${sep}.bin`));

async function findProgram(folders: readonly string[], name: string): Promise<string | undefined> {
  for (const folder of folders) {
    const program = join(folder, name);
    try {
      await access(program, constants.X_OK);
      if ((await stat(program)).isFile()) return program;
    } catch {
      // Not here: the next one.
    }
  }
  return undefined;
}
