import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withStateHome } from './state-home.ts';

const built = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The file of the command that tests start: the built one, or one that is installed as users do (`npm run test:packed`). */
export const commandFile = process.env['PROMPTPRESS_TEST_COMMAND'] ?? built;

/** Whether the command is the one of a package that is installed: nothing may then come from the sources that a user has not got. */
export const isInstalled = commandFile !== built;

export interface CliResult {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  readonly done: Promise<CliResult>;
  /** Resolves when standard error has said this. Rejects when the process ends before. */
  said(text: string | RegExp): Promise<void>;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
}

/** Starts the command of {@link commandFile} as a user would, in an environment that holds nothing of this machine's. */
export function startCli(args: readonly string[], options: CliOptions): RunningCli {
  const child = spawn(process.execPath, [...(options.nodeFlags ?? []), commandFile, ...args], {
    cwd: options.cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: options.cwd,
      TZ: 'UTC',
      NO_COLOR: '1',
      ...withStateHome(options.env),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const listener of listeners) listener();
  });
  const done = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      for (const listener of listeners) listener();
      resolve({ code: code ?? undefined, signal: signal ?? undefined, stdout, stderr });
    });
  });
  const said = (text: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (typeof text === 'string' ? stderr.includes(text) : text.test(stderr)) {
          listeners.delete(check);
          resolve();
        } else if (child.exitCode !== null || child.signalCode !== null) {
          listeners.delete(check);
          reject(new Error(`The command ended without saying ${String(text)}:\n${stderr}`));
        }
      };
      listeners.add(check);
      check();
    });
  return { child, done, said };
}

/** Runs the command of {@link commandFile} to its end. */
export function cli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  return startCli(args, options).done;
}

/** A folder of its own for one test. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'promptpress-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
