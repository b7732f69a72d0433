import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import type { Environment } from '../../output/io.ts';

/**
 * Runs one git command and returns its output; undefined when it failed for any reason.
 *
 * @param onFatal called before that when git itself ended the command, with git's standard error
 */
export type GitProcess = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  onFatal?: (error: string) => void,
) => Promise<string | undefined>;

const fatalExitCode = 128;

/** Largest output of a command, in bytes; a longer output is dropped. */
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

/** Variables that forbid every transport, so that no version of git fetches anything. */
const alwaysSet = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
};

/**
 * Options for every git command. fsmonitor and hooks are commands, so none is run; a folder that looks like a bare repository is not
 * treated as one; optional locks would disturb the user's own git.
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
 * Returns a function that runs git: the program found in the user's `PATH`, never one in the inspected folder. Undefined when there is no
 * git.
 *
 * @param folder the commands' working directory, its links resolved
 * @param signal ends a running command
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

/** Absolute folders of a PATH. Relative ones could point into the repository, where npm may have put programs. */
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
      // Not in this folder: try the next one.
    }
  }
  return undefined;
}
