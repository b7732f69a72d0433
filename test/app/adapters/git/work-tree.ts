import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { gitFacts } from '../../../../src/app/adapters/git/git.ts';

export let home: string;

/** The stranger's work tree: one committed file, `data.txt`. */
export let tree: string;

export const path = process.env['PATH'] ?? '';

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: path,
  HOME: home,
  GIT_CONFIG_SYSTEM: '/dev/null',
  ...more,
});

export const git = (...args: readonly string[]): string => gitIn(tree, ...args);

export const gitIn = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...args], {
    cwd,
    env: environment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

export const write = (name: string, text: string): void => writeFileSync(join(tree, name), text);

export const configure = (text: string): void =>
  writeFileSync(join(tree, '.git', 'config'), text, { flag: 'a' });

export const facts = (folder = tree, more: Readonly<Record<string, string>> = {}) =>
  gitFacts(folder, { env: environment(more) });

export const commit = (): string => git('rev-parse', 'HEAD').trim();

const removed: string[] = [];

/** Makes a folder below the home the work tree of the test, and commits `data.txt` there. */
export function makeTree(name: string, ...options: readonly string[]): void {
  tree = join(home, name);
  mkdirSync(tree);
  git('init', '--quiet', ...options);
  write('data.txt', 'fox\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
}

/** A stranger's work tree for each test, gone after it. */
export function useWorkTree(): void {
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'promptpress-home-')));
    removed.push(home);
    makeTree('tree');
  });

  afterEach(() => {
    for (const folder of removed.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
}
