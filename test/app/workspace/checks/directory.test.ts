import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../../src/state/sqlite/sqlite.ts';
import { promptpress } from '../../../cli/test-io.ts';
import { makePipe } from '../../../rig/pipe.ts';
import {
  canary,
  everythingIn,
  folder,
  type Make,
  outside,
  place,
  pp,
  servers,
  service,
  usePlaceWithRun,
  work,
} from './directory-rig.ts';

const haveRun = usePlaceWithRun();

const directory = (name = ''): string => work(join('runs/foxes', name));

const linkTo =
  (target: string): Make =>
  (path) =>
    symlinkSync(target.startsWith('outside') ? join(place.path, target) : target, path);

const socket: Make = (path) =>
  new Promise((resolve) => {
    const server = createServer();
    servers.push(server);
    server.listen(path, resolve);
  });

/**
 * What the run directory holds, without SQLite's log: the driver for Node 20 removes it when the statements of a closed
 * database are collected, which is at any time. The log that the test replaced stays among the names.
 */
const namesWithoutLog = (replaced: string): readonly string[] =>
  readdirSync(directory())
    .filter((name) => name === replaced || !/^state\.db-(?:wal|shm)$/.test(name))
    .sort();

const files = [
  'state.db',
  'state.db-wal',
  'state.db-shm',
  'state.db-journal',
  'lock',
  'state.lock',
  'lock-journal',
  'lock.json',
  'run.log',
  'run.json',
  'manifest.csv',
  'run.json.0a1b2c3d.part',
  'inputs/table.0a1b2c3d.part',
  `inputs/${'a'.repeat(64)}`,
  'images/.incoming/0000-1.0a1b2c3d.part',
  'images/ab/abcd-1.png',
  'video/ab/abcd-1.mp4',
  'sandbox/sandbox.sqlite',
  'sandbox/sandbox.lock',
];

const folders = ['images', 'images/.incoming', 'images/ab', 'video', 'inputs', 'sandbox'];

const hostile: readonly (readonly [string, string, Make, RegExp])[] = [
  ...files.flatMap((name) => [
    [name, 'a link to a file', linkTo('outside/file'), /is a link/] as const,
    [name, 'a link that leads nowhere', linkTo('outside/new'), /is a link/] as const,
  ]),
  ...['state.db', 'lock', 'lock.json', 'submissions', 'run.log', 'replies/00000.jsonl'].flatMap((name) => [
    [name, 'a second name of a file', (path: string) => linkSync(outside('file'), path), /2 names/] as const,
    [name, 'a pipe', makePipe, /neither a file nor a folder/] as const,
    [name, 'a folder', folder, /is a folder/] as const,
  ]),
  ['run.json', 'a pipe', makePipe, /neither/],
  ['manifest.csv', 'a folder', folder, /is a folder/],
  ['run.log', 'a socket', socket, /neither/],
  ...folders.map((name) => [name, 'a link to a folder', linkTo('outside'), /is a link/] as const),
  ['inputs', 'a file', (path) => writeFileSync(path, ''), /is a file/],
  ['images', 'a file', (path) => writeFileSync(path, ''), /is a file/],
];

describe('a run directory in which', () => {
  it.each(hostile.map(([name, what, ...rest]) => [`${name} is ${what}`, name, ...rest] as const))(
    '%s is refused by name before anything is written or sent',
    async (_title, name, make, words) => {
      haveRun();
      const sent = service.requests.length;
      rmSync(directory(name), { recursive: true, force: true });
      mkdirSync(dirname(directory(name)), { recursive: true });
      await make(directory(name));
      const before = everythingIn(outside());
      const there = namesWithoutLog(name);
      const { code, err } = await pp('run', 'foxes.yaml');
      expect(err).toMatch(words);
      expect(err).toContain(name);
      expect(code).toBe(2);
      expect(everythingIn(outside())).toEqual(before);
      expect(namesWithoutLog(name)).toEqual(there);
      expect(service.requests.length).toBe(sent);
      // The commands that read it are held to the same, for all that they open.
      if (/^(?:images|video)\//.test(name)) return;
      for (const command of ['status', 'manifest', 'plan']) {
        const said = await pp(command, 'foxes.yaml');
        expect([command, said.code]).toEqual([command, 2]);
        expect(said.err).toMatch(words);
      }
      expect(everythingIn(outside())).toEqual(before);
    },
  );

  it('an image is a link: the link is not sent to the service, even if it was made during the run', async () => {
    const { code } = await pp('run', 'foxes.yaml', '--only', 'grid');
    expect(code).toBe(0);
    const [image = ''] = readdirSync(directory('images'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.png'),
    );
    rmSync(directory(join('images', image)));
    symlinkSync(outside('file'), directory(join('images', image)));
    const said = await pp('run', 'foxes.yaml');
    expect(said.code, said.err).toBe(2);
    expect(said.err).toContain(image);
    expect(JSON.stringify(service.requests)).not.toContain(Buffer.from(canary).toString('base64'));
  });

  it('a journal names another file: the run is refused, and that file is not deleted', async () => {
    haveRun();
    const victim = outside('file');
    const name = Buffer.from(victim);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(name.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(name.reduce((total, byte) => total + byte, 0));
    const mark = Buffer.from('d9d505f920a163d7', 'hex');
    writeFileSync(
      directory('state.db-journal'),
      Buffer.concat([Buffer.alloc(512), Buffer.from([0, 0, 0, 0]), name, length, sum, mark]),
    );
    const { code, err } = await pp('run', 'foxes.yaml');
    expect(err).toContain('state.db-journal names another file');
    expect(code).toBe(2);
    expect(existsSync(victim)).toBe(true);
  });

  it('the state has a trigger from a stranger: every command refuses it', async () => {
    haveRun();
    const database = openDatabase(directory('state.db'));
    database.exec("CREATE TRIGGER x AFTER INSERT ON attempts BEGIN UPDATE jobs SET status = 'done'; END");
    database.close();
    for (const command of ['run', 'status', 'manifest', 'plan']) {
      const { code, err } = await pp(command, 'foxes.yaml');
      expect([command, code]).toEqual([command, 2]);
      expect(err).toContain('trigger x');
    }
  });
});

describe('a link on the way to the run directory', () => {
  const git = (...args: readonly string[]): void => {
    const env = { PATH: process.env['PATH'], HOME: work(), GIT_CONFIG_NOSYSTEM: '1' };
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...args], {
      cwd: work(),
      env,
      stdio: 'ignore',
    });
  };

  it('is followed if the user made it, and refused if git tracks it', async () => {
    symlinkSync(outside(), work('runs'));
    git('init', '--quiet');
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
    expect(existsSync(outside('foxes/manifest.csv'))).toBe(true);
    rmSync(outside('foxes'), { recursive: true });

    git('add', 'runs');
    const { code, err } = await pp('run', 'foxes.yaml');
    expect(code).toBe(2);
    expect(err).toContain('is tracked by git');
    expect(err).toContain('--trust-directory');
    expect(existsSync(outside('foxes'))).toBe(false);
    for (const command of ['status', 'plan', 'manifest'])
      expect([command, (await pp(command, 'foxes.yaml')).code]).toEqual([command, 2]);
    expect((await pp('run', 'foxes.yaml', '--trust-directory')).code).toBe(0);
  });

  it('is refused if a link of the user leads to another one that git tracks', async () => {
    git('init', '--quiet');
    symlinkSync(outside(), work('place'));
    git('add', 'place');
    symlinkSync(work('place'), work('runs'));
    const { code, err } = await pp('run', 'foxes.yaml');
    expect([code, err]).toEqual([2, expect.stringContaining('place, a link on the way')]);
    expect(existsSync(outside('foxes'))).toBe(false);
  });

  it.each([
    ['config', '[', 'a mistake'],
    ['config', '[core]\n\trepositoryformatversion = 99\n', 'a format of the future'],
    ['config.worktree', '[', 'a mistake'],
  ])('is refused where git tracks it and the %s of the repository, %j, has %s', async (name, text) => {
    git('init', '--quiet');
    git('config', 'extensions.worktreeConfig', 'true');
    symlinkSync(outside(), work('runs'));
    git('add', 'runs');
    appendFileSync(work(`.git/${name}`), text);
    const { code, err } = await pp('run', 'foxes.yaml');
    expect(err).toContain('runs, a link on the way');
    expect(err).toContain('may be tracked by git, which cannot read its repository');
    expect(code).toBe(2);
    expect(existsSync(outside('foxes'))).toBe(false);
    expect((await pp('run', 'foxes.yaml', '--trust-directory')).code).toBe(0);
  });

  it.each(['/', '..', '/nowhere'])(
    'is refused where git tracks it in a repository that says its work tree is %s',
    async (workTree) => {
      git('init', '--quiet');
      symlinkSync(outside(), work('runs'));
      git('add', 'runs');
      git('config', 'core.worktree', workTree);
      const { code, err } = await pp('run', 'foxes.yaml');
      expect(err).toContain('runs, a link on the way');
      expect(err).toContain('is tracked by git');
      expect(code).toBe(2);
      expect(existsSync(outside('foxes'))).toBe(false);
    },
  );

  it('is followed if the .git above is not a repository', async () => {
    mkdirSync(work('.git'));
    symlinkSync(outside(), work('runs'));
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
  });

  it('is checked by git even in a repository that belongs to another user', async () => {
    haveRun();
    git('init', '--quiet');
    git('add', directory('state.db'));
    const program = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    mkdirSync(outside('bin'));
    // For git, the repository then belongs to another user, whoever runs this test.
    const script = `#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec '${program}' "$@"\n`;
    writeFileSync(outside('bin/git'), script, { mode: 0o755 });
    const env = { PATH: outside('bin'), HOME: work() };
    expect(() => execFileSync(outside('bin/git'), ['ls-files'], { cwd: work(), env, stdio: 'pipe' })).toThrow(
      'dubious ownership',
    );
    const { code, err } = await promptpress(['status', 'foxes.yaml'], { cwd: work(), env });
    expect(code).toBe(2);
    expect(err).toContain('runs/foxes/state.db is tracked by git');
  });

  it.each(['state.db', 'lock', 'run.log', 'inputs'])(
    'apart from links: a run directory is refused if git tracks its %s',
    async (name) => {
      haveRun();
      git('init', '--quiet');
      expect((await pp('run', 'foxes.yaml')).code).toBe(0);
      git('add', directory(name));
      for (const command of ['run', 'status', 'plan', 'manifest']) {
        const { code, err } = await pp(command, 'foxes.yaml');
        expect([command, code]).toEqual([command, 2]);
        expect(err).toContain(`runs/foxes/${name}`);
        expect((await pp(command, 'foxes.yaml', '--trust-directory')).code).toBe(0);
      }
    },
  );

  it('apart from links: committed results without a state are accepted', async () => {
    haveRun();
    git('init', '--quiet');
    git('add', directory('manifest.csv'), directory('run.json'));
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
    expect((await pp('status', 'foxes.yaml')).code).toBe(0);
    // A fresh clone has nothing else.
    for (const name of readdirSync(directory()))
      if (name !== 'manifest.csv' && name !== 'run.json') rmSync(directory(name), { recursive: true });
    const { code, err } = await pp('run', 'foxes.yaml');
    expect([code, err]).toEqual([0, expect.not.stringContaining('older')]);
  });

  it('apart from links: uncommitted results without a state cause a warning about double payment', async () => {
    haveRun();
    git('init', '--quiet');
    for (const name of readdirSync(directory()))
      if (name !== 'manifest.csv' && name !== 'run.json') rmSync(directory(name), { recursive: true });
    const { code, err } = await pp('run', 'foxes.yaml');
    expect([code, err]).toEqual([74, expect.stringContaining('--accept-older-state')]);
  });
});

describe('promptpress init', () => {
  it.each(['.gitignore', 'pipeline.yaml', '.promptpress', '.promptpress/pipeline.schema.json'])(
    'writes nothing if %s is a link',
    async (name) => {
      mkdirSync(work('new'));
      mkdirSync(dirname(work(join('new', name))), { recursive: true });
      symlinkSync(name === '.promptpress' ? outside() : outside('file'), work(join('new', name)));
      const before = everythingIn(place.path);
      const { code, err } = await pp('init', 'new');
      expect(code).toBe(2);
      expect(err).toContain('is a link');
      expect(everythingIn(place.path)).toEqual(before);
    },
  );
});

describe('promptpress sandbox --state', () => {
  it.each(['sandbox.sqlite', 'sandbox.lock', 'sandbox.sqlite-journal'])(
    'refuses a folder in which %s is a link',
    async (name) => {
      mkdirSync(work('tasks'));
      symlinkSync(outside('file'), work(join('tasks', name)));
      const before = everythingIn(outside());
      const { code, err } = await pp('sandbox', '--state', 'tasks');
      expect(err).toContain('is a link');
      expect(code).toBe(2);
      expect(everythingIn(outside())).toEqual(before);
    },
  );

  it('refuses tasks with a trigger from a stranger', async () => {
    mkdirSync(work('tasks'));
    const database = openDatabase(work('tasks/sandbox.sqlite'));
    database.exec('CREATE TABLE task (a); CREATE TRIGGER x AFTER INSERT ON task BEGIN DELETE FROM task; END');
    database.close();
    const { code, err } = await pp('sandbox', '--state', 'tasks');
    expect(code).toBe(2);
    expect(err).toContain('is not as promptpress made it');
  });
});
