import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../../src/state/sqlite/sqlite.ts';
import { temporaryFolder } from '../../../rig/cli.ts';
import { type FakeService, startFakeService } from '../../../rig/fake-service.ts';
import { promptpress, type Said } from '../../test-io.ts';

const pipeline = `name: foxes
limits: { tasks: 8, requests: 8 }
poll: { min: 5ms, max: 10ms }
matrix: { rows: rows.csv }
steps:
  grid: { imagine: "{{ animal }}" }
  look: { from: grid, generate: { model: any-model, prompt: What is it?, images: [parent] } }
`;

const canary = 'CANARY-OUTSIDE-THE-RUN-DIRECTORY';

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let service: FakeService;
beforeEach(async () => {
  place = await temporaryFolder();
  service = await startFakeService();
  mkdirSync(join(place.path, 'work'));
  mkdirSync(outside(), { recursive: true });
  writeFileSync(work('foxes.yaml'), pipeline);
  writeFileSync(work('rows.csv'), 'animal\nfox\nowl\n');
  writeFileSync(outside('file'), canary);
  writeFileSync(outside('0000.12345678.part'), canary);
  writeFileSync(outside('a'.repeat(64)), canary);
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await service.close();
  await place[Symbol.asyncDispose]();
});

const work = (name = ''): string => join(place.path, 'work', name);
const outside = (name = ''): string => join(place.path, 'outside', name);
const directory = (name = ''): string => work(join('runs/foxes', name));

const pp = (...args: readonly string[]): Promise<Said> =>
  promptpress(args, {
    cwd: work(),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: work(),
      PROMPTPRESS_BASE_URL: service.url,
      PROMPTPRESS_API_KEY: service.apiKey,
    },
  });

/** Every name below a folder and what is in it: what a command may not have changed. */
const everythingIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path} ${readFileSync(path, 'latin1')}` : path;
    })
    .sort();

/** Makes something in the place of a name of the run directory. */
type Make = (path: string) => void | Promise<void>;
const servers: Server[] = [];
const linkTo =
  (target: string): Make =>
  (path) =>
    symlinkSync(target.startsWith('outside') ? join(place.path, target) : target, path);
/** Node.js has no call of its own for it. */
const pipeMaker = 'mkfifo';
const pipe: Make = (path) => {
  execFileSync(pipeMaker, [path]);
};
const folder: Make = (path) => {
  mkdirSync(path);
};
const socket: Make = (path) =>
  new Promise((resolve) => {
    const server = createServer();
    servers.push(server);
    server.listen(path, resolve);
  });

const files = [
  'state.db',
  'state.db-wal',
  'state.db-shm',
  'state.db-journal',
  'lock',
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
  'text/ab/abcd-1.txt',
  'sandbox/sandbox.sqlite',
  'sandbox/sandbox.lock',
];
const folders = ['images', 'images/.incoming', 'images/ab', 'text', 'video', 'inputs', 'sandbox'];

const hostile: readonly (readonly [string, string, Make, RegExp])[] = [
  ...files.flatMap((name) => [
    [name, 'a link to a file', linkTo('outside/file'), /is a link/] as const,
    [name, 'a link that leads nowhere', linkTo('outside/new'), /is a link/] as const,
  ]),
  ...['state.db', 'lock', 'lock.json', 'submissions', 'run.log'].flatMap((name) => [
    [name, 'a second name of a file', (path: string) => linkSync(outside('file'), path), /2 names/] as const,
    [name, 'a pipe', pipe, /neither a file nor a folder/] as const,
    [name, 'a folder', folder, /is a folder/] as const,
  ]),
  ['run.json', 'a pipe', pipe, /neither/],
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
      expect((await pp('run', 'foxes.yaml')).code).toBe(0);
      const sent = service.requests.length;
      rmSync(directory(name), { recursive: true, force: true });
      mkdirSync(dirname(directory(name)), { recursive: true });
      await make(directory(name));
      const before = everythingIn(outside());
      const there = readdirSync(directory()).sort();
      const { code, err } = await pp('run', 'foxes.yaml');
      expect(err).toMatch(words);
      expect(err).toContain(name);
      expect(code).toBe(2);
      expect(everythingIn(outside())).toEqual(before);
      expect(readdirSync(directory()).sort()).toEqual(there);
      expect(service.requests.length).toBe(sent);
      // The commands that read it are held to the same, for all that they open.
      if (/^(?:images|text)\//.test(name)) return;
      for (const command of ['status', 'manifest', 'plan']) {
        const said = await pp(command, 'foxes.yaml');
        expect([command, said.code]).toEqual([command, 2]);
        expect(said.err).toMatch(words);
      }
      expect(everythingIn(outside())).toEqual(before);
    },
  );

  it('an image is a link is not sent to the service, though it came after the run had begun', async () => {
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

  it('a journal names another file is refused, and that file is still there', async () => {
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
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

  it('the state has a trigger of somebody else is refused by every command', async () => {
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
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

  it('is followed where the user made it, and refused where git tracks it', async () => {
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

  it('whoever owns the repository: of another user, git says nothing by itself', async () => {
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
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
    'apart: a run directory is refused where git tracks its %s',
    async (name) => {
      expect((await pp('run', 'foxes.yaml')).code).toBe(0);
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

  it('apart: results that were committed without the state are no obstacle', async () => {
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
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

  it('apart: results without the state that were never committed say what may be paid twice', async () => {
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
    git('init', '--quiet');
    for (const name of readdirSync(directory()))
      if (name !== 'manifest.csv' && name !== 'run.json') rmSync(directory(name), { recursive: true });
    const { code, err } = await pp('run', 'foxes.yaml');
    expect([code, err]).toEqual([74, expect.stringContaining('--accept-older-state')]);
  });
});

describe('--out', () => {
  const own = (...names: readonly string[]): void => {
    for (const name of names) {
      mkdirSync(dirname(work(join('out', name))), { recursive: true });
      writeFileSync(work(join('out', name)), canary);
    }
  };

  it.each([
    ['manifest.csv'],
    ['run.json'],
    [`inputs/${'a'.repeat(64)}`],
    ['images/.incoming/x.part'],
    ['run.json.0a1b2c3d.part'],
    ['notes.txt'],
    ['lock.txt', 'run.log'],
  ])(
    'into a folder that holds %s of somebody else is refused, and nothing there is touched',
    async (...names) => {
      own(...names);
      const before = everythingIn(work('out'));
      const { code, err } = await pp('run', 'foxes.yaml', '--out', 'out');
      expect(code).toBe(2);
      expect(err).toContain('is no run directory');
      expect(everythingIn(work('out'))).toEqual(before);
      expect(service.requests).toEqual([]);
    },
  );

  it('into the folder of the pipeline itself is refused', async () => {
    const before = everythingIn(work());
    expect((await pp('run', 'foxes.yaml', '--out', '.')).code).toBe(2);
    expect(everythingIn(work())).toEqual(before);
  });

  it('into a folder with the database of another program is refused, and nothing there is touched', async () => {
    mkdirSync(work('out'));
    const database = openDatabase(work('out/state.db'));
    database.exec('CREATE TABLE places (name)');
    database.close();
    const before = everythingIn(work('out'));
    expect((await pp('run', 'foxes.yaml', '--out', 'out')).code).toBe(2);
    expect(everythingIn(work('out'))).toEqual(before);
  });

  it('into an empty folder, and into what an earlier run left there, goes ahead', async () => {
    mkdirSync(work('out'));
    writeFileSync(work('out/.gitkeep'), '');
    const run = (): Promise<Said> => pp('run', 'foxes.yaml', '--out', 'out');
    expect((await run()).code).toBe(0);
    expect((await run()).code).toBe(0);

    // The state was removed on purpose, with and without what else was left of the run.
    rmSync(work('out/state.db'));
    expect((await pp('run', 'foxes.yaml', '--out', 'out', '--accept-older-state')).code).toBe(0);
    for (const name of ['state.db', 'submissions', 'run.json', 'manifest.csv'])
      rmSync(work(join('out', name)));
    expect((await run()).code).toBe(0);

    // Only a committed manifest is left, beside a page about the data.
    const manifest = readFileSync(work('out/manifest.csv'));
    rmSync(work('out'), { recursive: true });
    mkdirSync(work('out'));
    writeFileSync(work('out/manifest.csv'), manifest);
    writeFileSync(work('out/README.md'), '# Foxes');
    expect((await run()).code).toBe(0);

    // A run that was refused left its lock and its log.
    rmSync(work('out'), { recursive: true });
    mkdirSync(work('out'));
    for (const name of ['lock', 'run.log']) writeFileSync(work(join('out', name)), '');
    expect((await run()).code).toBe(0);
  });
});

describe('promptpress init', () => {
  it.each(['.gitignore', 'pipeline.yaml', '.promptpress', '.promptpress/pipeline.schema.json'])(
    'writes nothing where %s is a link',
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

  it('refuses tasks with a trigger of somebody else', async () => {
    mkdirSync(work('tasks'));
    const database = openDatabase(work('tasks/sandbox.sqlite'));
    database.exec('CREATE TABLE task (a); CREATE TRIGGER x AFTER INSERT ON task BEGIN DELETE FROM task; END');
    database.close();
    const { code, err } = await pp('sandbox', '--state', 'tasks');
    expect(code).toBe(2);
    expect(err).toContain('is not as promptpress made it');
  });
});
