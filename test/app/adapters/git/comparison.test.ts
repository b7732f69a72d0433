import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commit, configure, facts, git, gitIn, home, path, tree, useWorkTree, write } from './work-tree.ts';

useWorkTree();

/** A command that leaves a file behind, wherever it is run. */
const command = (): string => `touch ${join(home, 'pwned')}`;

const wasRun = (): boolean => existsSync(join(home, 'pwned'));

const filter = (): string => `[filter "x"]\n\tclean = "${command()}; cat"\n\trequired = true\n`;

/** Makes git read the content of every tracked file, and pass it through a filter. */
const changed = (): void => {
  write('.gitattributes', '* filter=x diff=x merge=x\n');
  write('data.txt', 'owl\n');
};

/** What an ordinary `git status` in the work tree runs, to show that an attack is aimed well. */
const ordinaryStatus = (folder = tree): void => {
  try {
    gitIn(folder, 'status', '--short');
  } catch {
    // Some of the commands make it fail.
  }
};

/** Takes the tree of the last commit away, so that git has to fetch it. */
const loseTree = (): void => {
  const id = git('rev-parse', 'HEAD^{tree}').trim();
  rmSync(join(tree, '.git', 'objects', id.slice(0, 2), id.slice(2)));
  git('config', 'core.repositoryformatversion', '1');
  git('config', 'extensions.partialClone', 'origin');
  git('config', 'remote.origin.promisor', 'true');
  git('config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
};

interface Attack {
  readonly prepare: () => void;
  /** Absent: the folder of the work tree. */
  readonly folder?: () => string;
  readonly facts: () => unknown;
}

const notCompared = () => ({ commit: commit() });

const dirty = () => ({ commit: commit(), dirty: true });

const attacks: Readonly<Record<string, Attack>> = {
  'a filter of .git/config': {
    prepare: () => {
      changed();
      configure(filter());
    },
    facts: notCompared,
  },
  'a filter that runs on': {
    prepare: () => {
      changed();
      configure(`[filter "x"]\n\tprocess = "${command()}"\n`);
    },
    facts: notCompared,
  },
  'a filter of config.worktree': {
    prepare: () => {
      changed();
      git('config', 'extensions.worktreeConfig', 'true');
      write('.git/config.worktree', filter());
    },
    facts: notCompared,
  },
  'a filter of a file that .git/config includes': {
    prepare: () => {
      changed();
      write('more', filter());
      configure('[include]\n\tpath = ../more\n');
    },
    facts: notCompared,
  },
  'a filter of a file that .git/config includes on a condition': {
    prepare: () => {
      changed();
      write('more', filter());
      configure('[includeIf "gitdir:**/.git"]\n\tpath = ../more\n');
    },
    facts: notCompared,
  },
  'a filter of a file that config.worktree includes': {
    prepare: () => {
      changed();
      git('config', 'extensions.worktreeConfig', 'true');
      write('more', filter());
      write('.git/config.worktree', '[include]\n\tpath = ../more\n');
    },
    facts: notCompared,
  },
  'a filter that .git/info/attributes names': {
    prepare: () => {
      write('data.txt', 'owl\n');
      mkdirSync(join(tree, '.git', 'info'), { recursive: true });
      write('.git/info/attributes', '* filter=x\n');
      configure(filter());
    },
    facts: notCompared,
  },
  'a filter that core.attributesFile names': {
    prepare: () => {
      write('data.txt', 'owl\n');
      write('rules', '* filter=x\n');
      configure(`[core]\n\tattributesFile = ${join(tree, 'rules')}\n${filter()}`);
    },
    facts: notCompared,
  },
  'a monitor of files': {
    prepare: () => {
      write('data.txt', 'owl\n');
      configure(`[core]\n\tfsmonitor = "${command()}"\n`);
    },
    facts: dirty,
  },
  'a monitor of files that only the work tree configures': {
    prepare: () => {
      write('data.txt', 'owl\n');
      git('config', 'extensions.worktreeConfig', 'true');
      write('.git/config.worktree', `[core]\n\tfsmonitor = "${command()}"\n`);
    },
    facts: dirty,
  },
  'a hook for a changed index': {
    prepare: () => {
      utimesSync(join(tree, 'data.txt'), 1, 1);
      configure('[core]\n\thooksPath = ../hooks\n');
      mkdirSync(join(tree, 'hooks'));
      write('hooks/post-index-change', `#!/bin/sh\n${command()}\n`);
      chmodSync(join(tree, 'hooks', 'post-index-change'), 0o755);
      configure(`[core]\n\thooksPath = ${join(tree, 'hooks')}\n`);
    },
    facts: () => ({ commit: commit(), dirty: false }),
  },
  'a filter of a submodule': {
    prepare: () => {
      const module = join(tree, 'module');
      mkdirSync(module);
      gitIn(module, 'init', '--quiet');
      writeFileSync(join(module, 'data.txt'), 'fox\n');
      writeFileSync(join(module, '.gitattributes'), '* filter=x\n');
      gitIn(module, 'add', '.');
      gitIn(module, 'commit', '--quiet', '-m', 'first');
      git('add', 'module');
      git('commit', '--quiet', '-m', 'second');
      writeFileSync(join(module, 'data.txt'), 'owl\n');
      writeFileSync(join(module, '.git', 'config'), filter(), { flag: 'a' });
    },
    facts: () => ({ commit: commit(), dirty: false }),
  },
  'a work tree whose .git leads to a repository elsewhere in it': {
    prepare: () => {
      changed();
      configure(filter());
      renameSync(join(tree, '.git'), join(tree, 'hidden'));
      write('.git', 'gitdir: hidden\n');
    },
    facts: notCompared,
  },
  'a folder that looks like a bare repository': {
    prepare: () => {
      changed();
      const bare = join(tree, 'bare');
      renameSync(join(tree, '.git'), bare);
      git('init', '--quiet');
      writeFileSync(
        join(bare, 'config'),
        `[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n${filter()}`,
      );
    },
    folder: () => join(tree, 'bare'),
    facts: () => undefined,
  },
  'a remote that a missing object is fetched from by a command': {
    prepare: () => {
      loseTree();
      git('config', 'remote.origin.url', `ext::sh -c ${command().replaceAll(' ', '% ')}`);
      git('config', 'protocol.ext.allow', 'always');
    },
    facts: notCompared,
  },
  'a remote that a missing object is fetched from through ssh': {
    prepare: () => {
      loseTree();
      git('config', 'remote.origin.url', 'ssh://127.0.0.1/repository');
      git('config', 'core.sshCommand', command());
    },
    facts: notCompared,
  },
  'a remote on disk that a missing object is fetched from': {
    prepare: () => {
      loseTree();
      git('config', 'remote.origin.url', tree);
      git('config', 'remote.origin.uploadpack', command());
    },
    facts: notCompared,
  },
};

describe('a comparison runs no command of a repository', () => {
  it.each(Object.keys(attacks))('%s', async (name) => {
    const { prepare, folder, facts: expected } = attacks[name] as Attack;
    prepare();
    const place = folder?.() ?? tree;
    rmSync(join(home, 'pwned'), { force: true });
    const said = await facts(place);
    expect(wasRun()).toBe(false);
    ordinaryStatus(place);
    expect(wasRun(), 'an ordinary git status does run it').toBe(true);
    expect(said).toStrictEqual(expected());
  });

  it('whatever else the repository configures', async () => {
    write('data.txt', 'owl\n');
    write('.gitattributes', '* diff=x merge=x\n');
    const run = `"${command()}"`;
    configure(
      [
        `[core]\n\tpager = ${run}\n\teditor = ${run}\n\taskPass = ${run}\n\tsshCommand = ${run}\n\tgitProxy = ${run}`,
        `\talternateRefsCommand = ${run}`,
        `[alias]\n\tstatus = "!${command()}"\n\trev-parse = "!${command()}"\n\tconfig = "!${command()}"`,
        `[pager]\n\tstatus = ${run}\n\tconfig = ${run}\n\trev-parse = ${run}`,
        `[diff]\n\texternal = ${run}\n[diff "x"]\n\tcommand = ${run}\n\ttextconv = ${run}`,
        `[merge "x"]\n\tdriver = ${run}\n[gpg]\n\tprogram = ${run}\n[credential]\n\thelper = "!${command()}"`,
        `[log]\n\tshowSignature = true\n[status]\n\tsubmoduleSummary = true\n[column]\n\tui = always`,
        '',
      ].join('\n'),
    );
    expect(await facts()).toEqual(dirty());
    expect(wasRun()).toBe(false);
  });

  it("even if the user's own configuration names a hook or a monitor by a path of the work tree", async () => {
    writeFileSync(
      join(home, '.gitconfig'),
      '[core]\n\thooksPath = hooks\n\tfsmonitor = hooks/post-index-change\n',
    );
    mkdirSync(join(tree, 'hooks'));
    write('hooks/post-index-change', `#!/bin/sh\n${command()}\n`);
    chmodSync(join(tree, 'hooks', 'post-index-change'), 0o755);
    utimesSync(join(tree, 'data.txt'), 1, 1);
    expect(await facts()).toEqual({ commit: commit(), dirty: false });
    expect(wasRun()).toBe(false);
    ordinaryStatus();
    expect(wasRun()).toBe(true);
  });

  it.each(['', '.', 'bin', 'node_modules/.bin'])('not even a git program in its folder %j', async (place) => {
    const folder = join(tree, place);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'git'), `#!/bin/sh\n${command()}\n`, { mode: 0o755 });
    const named = place === 'node_modules/.bin' ? folder : place;
    const before = process.cwd();
    process.chdir(tree);
    try {
      expect(await facts(tree, { PATH: [named, path].join(delimiter) })).toEqual({
        commit: commit(),
        dirty: false,
      });
    } finally {
      process.chdir(before);
    }
    expect(wasRun()).toBe(false);
  });
});
