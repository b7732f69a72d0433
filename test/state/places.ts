import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { type Driver, driverNamed } from '../../src/state/sqlite/driver.ts';

/** Every SQLite that this Node.js can load. */
export const drivers: readonly Driver[] = [
  driverNamed('@photostructure/sqlite'),
  ...(isBuiltin('node:sqlite') ? [driverNamed('node:sqlite')] : []),
];

/** A fresh folder, removed after the test. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'promptpress-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A process of its own that runs one of the scripts in `children/`. */
export interface Child {
  readonly pid: number;
  /** Everything it has written to standard output so far. */
  readonly output: () => string;
  /** Resolves when its output holds the text. */
  readonly says: (text: string) => Promise<void>;
  readonly send: (line: string) => void;
  readonly kill: () => Promise<void>;
  /** Resolves with its exit code when it has ended by itself. */
  readonly ended: Promise<number | null>;
}

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

export const startChild = (script: string, ...given: string[]): Child => startChildBy([], script, ...given);

/** @param command what starts it, with its flags: `unshare` */
export function startChildBy(command: readonly string[], script: string, ...given: string[]): Child {
  const file = fileURLToPath(new URL(`children/${script}`, import.meta.url));
  const [program = '', ...words] = [...command, process.execPath, '--import', tsx, file, ...given];
  const child = spawn(program, words);
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  let complaints = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    for (const check of waiting) check();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', (code) => {
      resolve(code);
      for (const check of waiting) check();
    });
  });
  return {
    pid: child.pid ?? 0,
    output: () => output,
    says: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (output.includes(text)) {
            waiting.delete(check);
            resolve();
          } else if (child.exitCode !== null || child.signalCode !== null) {
            waiting.delete(check);
            reject(new Error(`The child ended without saying ${text}: ${output}${complaints}`));
          }
        };
        waiting.add(check);
        check();
      }),
    send: (line) => child.stdin.write(`${line}\n`),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
  };
}
