import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  commit,
  configure,
  facts,
  git,
  home,
  makeTree,
  path,
  tree,
  useWorkTree,
  write,
} from './work-tree.ts';

useWorkTree();

/** As the settings of now would have it, with CR and LF; git has to read it again to compare it. */
function checkOutAgain(): void {
  rmSync(join(tree, 'data.txt'));
  git('checkout', '--', 'data.txt');
  expect(readFileSync(join(tree, 'data.txt'), 'utf8')).toBe('fox\r\n');
  utimesSync(join(tree, 'data.txt'), 1, 1);
}

describe('the git facts of a work tree', () => {
  it('are the commit, and whether a tracked file differs from it', async () => {
    expect(await facts()).toEqual({ commit: commit(), dirty: false });
    write('other.txt', 'not tracked');
    expect(await facts()).toEqual({ commit: commit(), dirty: false });
    write('data.txt', 'owl\n');
    expect(await facts()).toEqual({ commit: commit(), dirty: true });
    git('add', 'data.txt');
    expect(await facts()).toEqual({ commit: commit(), dirty: true });
  });

  it('are the same for a file whose time alone has changed, and leave the index unchanged', async () => {
    utimesSync(join(tree, 'data.txt'), 1, 1);
    const before = readFileSync(join(tree, '.git', 'index'));
    expect(await facts()).toEqual({ commit: commit(), dirty: false });
    expect(readFileSync(join(tree, '.git', 'index')).equals(before)).toBe(true);
  });

  it('follow the line ends that the repository configures', async () => {
    configure('[core]\n\tautocrlf = true\n');
    checkOutAgain();
    expect(await facts()).toEqual({ commit: commit(), dirty: false });
  });

  it('follow the attributes of the repository that are not committed', async () => {
    mkdirSync(join(tree, '.git', 'info'), { recursive: true });
    write('.git/info/attributes', 'data.txt text eol=crlf\n');
    checkOutAgain();
    expect(await facts()).toEqual({ commit: commit(), dirty: false });
  });

  it("use a filter of the user's own configuration", async () => {
    writeFileSync(join(home, '.gitconfig'), '[filter "own"]\n\tclean = tr A-Z a-z\n');
    write('.gitattributes', 'data.txt filter=own\n');
    git('add', '.gitattributes');
    git('commit', '--quiet', '-m', 'second');
    write('data.txt', 'FOX\n');
    expect(await facts()).toEqual({ commit: commit(), dirty: false });
  });

  it('recognise a linked work tree, a folder below one, and a repository with SHA-256', async () => {
    git('worktree', 'add', '--quiet', join(home, 'linked'));
    expect(await facts(join(home, 'linked'))).toEqual({ commit: commit(), dirty: false });
    mkdirSync(join(tree, 'below'));
    expect(await facts(join(tree, 'below'))).toEqual({ commit: commit(), dirty: false });

    makeTree('long', '--object-format=sha256');
    expect(await facts()).toEqual({ commit: commit(), dirty: false });
    expect(commit()).toHaveLength(64);
  });

  it('are undefined without a commit, a repository or git', async () => {
    expect(await facts(home)).toBeUndefined();
    expect(await facts(tree, { PATH: '' })).toBeUndefined();
    git('init', '--quiet', join(home, 'empty'));
    expect(await facts(join(home, 'empty'))).toBeUndefined();
  });

  it('are those of the given folder, whatever the environment says', async () => {
    git('init', '--quiet', join(home, 'elsewhere'));
    expect(await facts(tree, { GIT_DIR: join(home, 'elsewhere', '.git') })).toEqual({
      commit: commit(),
      dirty: false,
    });
  });

  it('are undefined if the work tree of the repository is elsewhere', async () => {
    mkdirSync(join(home, 'elsewhere'));
    configure(`[core]\n\tworktree = ${join(home, 'elsewhere')}\n`);
    expect(await facts()).toBeUndefined();
  });

  it('leave no files behind', async () => {
    const temporary = join(home, 'temporary');
    mkdirSync(temporary);
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = temporary;
    try {
      await facts();
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
    expect(readdirSync(temporary)).toEqual([]);
  });
});

it('git is started only if a parent folder has a .git, whether a folder or a file', async () => {
  const bin = join(home, 'bin');
  const seen = join(home, 'seen');
  const below = join(home, 'plain', 'below');
  for (const folder of [bin, below]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho asked >> ${seen}\nexit 128\n`, { mode: 0o755 });
  expect(await facts(below, { PATH: bin })).toBeUndefined();
  expect(existsSync(seen)).toBe(false);
  writeFileSync(join(home, 'plain', '.git'), 'gitdir: elsewhere\n');
  expect(await facts(below, { PATH: bin })).toBeUndefined();
  expect(readFileSync(seen, 'utf8')).toBe('asked\n');
});

it('a git process receives only the environment that git needs', async () => {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const seen = join(home, 'seen');
  const real = path
    .split(delimiter)
    .map((folder) => join(folder, 'git'))
    .find((file) => existsSync(file));
  writeFileSync(join(bin, 'git'), `#!/bin/sh\nenv >> ${seen}\nexec ${real} "$@"\n`, { mode: 0o755 });
  const secrets = {
    PROMPTPRESS_API_KEY: 'sk-secret',
    MY_TOKEN: 'secret-1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: 'Authorization: secret-2',
    GIT_TRACE: '1',
    LD_PRELOAD: '/secret-3.so',
  };
  expect(await facts(tree, { PATH: [bin, path].join(delimiter), ...secrets })).toEqual({
    commit: commit(),
    dirty: false,
  });
  const lines = readFileSync(seen, 'utf8').split('\n');
  expect(lines.filter((line) => line.includes('secret'))).toEqual([]);
  const names = new Set(lines.filter((line) => line !== '').map((line) => line.split('=')[0]));
  // The shell that the script runs in sets the last four.
  const expected = ['PATH', 'HOME', 'LC_ALL', 'PWD', 'OLDPWD', 'SHLVL', '_'];
  expect(new Set([...names].filter((name) => !expected.includes(name as string)))).toEqual(
    new Set([
      'GIT_ALLOW_PROTOCOL',
      'GIT_CONFIG_SYSTEM',
      'GIT_DIR',
      'GIT_INDEX_FILE',
      'GIT_NO_LAZY_FETCH',
      'GIT_OBJECT_DIRECTORY',
      'GIT_TERMINAL_PROMPT',
      'GIT_WORK_TREE',
    ]),
  );
});
