import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { exitCodes } from '../../../src/cli/errors/cli-error.ts';
import { program } from '../../../src/cli/program.ts';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { testIo } from '../../cli/test-io.ts';
import { type FakeService, startFakeService } from '../../rig/fake-service.ts';
import { journalNaming } from '../../rig/journal.ts';
import { makePipe } from '../../rig/pipe.ts';
import { makePng } from '../../rig/png.ts';
import type { Input } from '../input.ts';
import { Broken, lawfulText, type Run } from './law.ts';
import { temporary } from './machine.ts';

/** The checks of repositories and run directories that a stranger made: what `generate/repository.ts` draws. */

/** Stands in every file that no command may read from or change. */
const canary = 'CANARY-OF-WHAT-LIES-OUTSIDE';
const privateImage = makePng(4711);

/** Forms in which a request would carry what lies outside. */
const stolen = [canary, Buffer.from(canary).toString('base64').slice(0, 30), privateImage.toString('base64')];

const pipeline = `name: foxes
service: { id: fuzz }
limits: { tasks: 8, requests: 8 }
retry: { attempts: 1, base: 1ms, cap: 1ms, resubmits: 0, patience: 1s }
poll: { min: 5ms, max: 5ms }
timeouts: { request: 2s, task: 3s }
matrix: { rows: rows.csv }
steps:
  grid: { imagine: "{{ animal }}" }
  look: { from: grid, generate: { model: any-model, prompt: What is it?, images: [parent] } }
`;

/** A run whose images are made, and whose texts, which show them, are yet to be asked for. */
interface Template {
  readonly service: FakeService;
  /** Holds `work` with the run directory, and `git`, an index and what it needs. */
  readonly folder: string;
  readonly names: Readonly<Record<string, string>>;
}

let template: Promise<Template> | undefined;

const environment = (folder: string, service: FakeService): Readonly<Record<string, string>> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: folder,
  GIT_CONFIG_SYSTEM: '/dev/null',
  PROMPTPRESS_BASE_URL: service.url,
  PROMPTPRESS_API_KEY: service.apiKey,
});

const git = (cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): void => {
  const own = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  execFileSync('git', [...args], { cwd, stdio: 'ignore', env: { ...own, ...env } });
};

async function makeTemplate(): Promise<Template> {
  const folder = path.join(temporary(), 'stranger');
  const work = path.join(folder, 'work');
  mkdirSync(work, { recursive: true });
  writeFileSync(path.join(work, 'foxes.yaml'), pipeline);
  writeFileSync(path.join(work, 'rows.csv'), 'animal\nfox\nowl\n');
  const service = await startFakeService();
  const ran = await commanded(['run', 'foxes.yaml', '--only', 'grid'], work, environment(folder, service));
  if (ran.code !== 0) throw new Error(`The template was not made: ${ran.err}`);
  const run = path.join(work, 'runs/foxes');
  const images = readdirSync(path.join(run, 'images'), { recursive: true, encoding: 'utf8' });
  const image = `images/${images.find((name) => name.endsWith('.png')) ?? ''}`;
  const [table = ''] = readdirSync(path.join(run, 'inputs'));
  git(work, ['init', '--quiet', '--template=']);
  mkdirSync(path.join(work, '.git/hooks'));
  const own = ['-c', 'user.name=a', '-c', 'user.email=a@a.example'];
  git(work, ['add', 'foxes.yaml', 'rows.csv']);
  git(work, [...own, 'commit', '--quiet', '-m', 'first']);
  return {
    service,
    folder,
    names: { '@IMAGE@': image, '@SHARD@': path.dirname(image), '@TABLE@': table },
  };
}

/** A command, carried out in this process; a sandbox ends as soon as it has begun. */
async function commanded(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly said: string; readonly err: string }> {
  const test = testIo({ cwd, env });
  if (args[0] === 'sandbox') test.interrupt();
  const code = await program(args, test.io);
  return { code, said: `${test.out()}${test.err()}`, err: test.err() };
}

const commands: Readonly<Record<string, readonly string[]>> = {
  run: ['run', 'foxes.yaml'],
  trusted: ['run', 'foxes.yaml', '--trust-directory'],
  stranger: ['run', 'foxes.yaml'],
  dotenv: ['run', 'foxes.yaml', '--dotenv', '.env', '--out', 's3://bucket/x'],
  verify: ['verify', 'runs/foxes', '--trust-directory'],
  export: ['export', 'runs/foxes', '--format', 'jsonl', '--to', 'data', '--trust-directory'],
  status: ['status', 'foxes.yaml'],
  manifest: ['manifest', 'runs/foxes'],
  plan: ['plan', 'foxes.yaml'],
  show: ['show', '@KEY@'],
  resolve: ['resolve', '@KEY@', 'foxes.yaml', '--drop'],
  rehearsal: ['sandbox', '--state', 'tasks'],
  out: ['run', 'foxes.yaml', '--out', 'mine'],
  init: ['init', 'new'],
};

/** Keys of this machine, which no address of a file may get. */
const ambient = {
  PROMPTPRESS_API_KEY: 'sk-ambient-key-of-the-gateway',
  PGPASSWORD: 'ambient-password-of-postgres',
  AWS_SECRET_ACCESS_KEY: 'ambient-secret-key-of-the-machine',
  AWS_ACCESS_KEY_ID: 'AKIAAMBIENTAMBIENT00',
  AWS_SESSION_TOKEN: 'ambient-session-token',
};

/** A stranger who listens, and answers everything with what PostgreSQL asks for a password with. */
async function listen(): Promise<{ server: Server; port: number; received: () => string }> {
  let text = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (/^[A-Z]+ \//.test(bytes.toString('latin1')))
        socket.end('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n');
      else if (bytes.length > 8) socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      else socket.end('N');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { server, port: typeof address === 'object' ? (address?.port ?? 0) : 0, received: () => text };
}

let places = 0;

export async function repositoryRun(input: Input): Promise<Run> {
  template ??= makeTemplate();
  const made = await template;
  const { service, names } = made;
  const place = path.join(temporary(), `stranger-${(places += 1)}`);
  const work = path.join(place, 'work');
  cpSync(made.folder, place, { recursive: true });
  writeOutside(place);
  const servers: Server[] = [];
  const evil = await listen();
  servers.push(evil.server);
  const words = {
    ...names,
    '@EVIL@': `127.0.0.1:${evil.port}`,
    '@PWNED@': path.join(place, 'pwned/by-command'),
  };
  for (const { text } of input.pieces) {
    const line = Object.entries(words).reduce((all, [word, value]) => all.replaceAll(word, value), text);
    try {
      await carryOut(line, place, input.form, servers);
    } catch {
      // One step stands in the way of another, or was cut short by the search for the smallest.
    }
  }
  const [key = ''] = path.basename(names['@IMAGE@'] ?? '').split('-');
  const args = (commands[input.form] ?? ['plan', 'foxes.yaml']).map((word) =>
    word === '@KEY@' ? key : word,
  );
  const mine = path.join(work, 'mine');
  // An empty folder is as good as none: the run may go there.
  const isOwned = input.form === 'out' && existsSync(mine) && readdirSync(mine).length > 0;
  const before = protectedFiles(place, isOwned);
  const sent = service.requests.length;
  if (input.form === 'stranger') rmSync(path.join(place, '.local'), { recursive: true, force: true });
  // An address of the environment would win over that of the file.
  const own = { ...ambient, ...environment(place, service) };
  const namesAddress = input.pieces.some(({ text }) => text.includes('PROMPTPRESS_BASE_URL'));
  const env = namesAddress ? { ...own, PROMPTPRESS_BASE_URL: '' } : own;
  return async () => {
    try {
      const { code, said, err } = await commanded(args, work, env);
      if (code === exitCodes.internal || said.includes('Internal error'))
        throw new Broken(`A bug: ${said.slice(0, 2000)}`);
      if (!(Object.values(exitCodes) as number[]).includes(code))
        throw new Broken(`The exit code ${code} is unknown.`);
      if (said.includes(canary)) throw new Broken('What lies outside has been shown.');
      lawfulText(err, 'Standard error');
      const [ran] = readdirSync(path.join(place, 'pwned'));
      if (ran !== undefined) throw new Broken('A command that the repository names has been run.');
      const changed = difference(before, protectedFiles(place, isOwned));
      if (changed !== undefined) throw new Broken(`${changed} has been changed.`);
      const requests = service.requests
        .slice(sent)
        .map(({ body, headers }) => JSON.stringify([body, headers]));
      const told = evil.received();
      if (Object.values(ambient).some((value) => told.includes(value)) || told.includes(service.apiKey))
        throw new Broken('A key of this machine has been sent to a stranger.');
      if (input.form === 'stranger' && requests.length > 0)
        throw new Broken('A run that somebody else began has been continued.');
      if (requests.some((request) => stolen.some((form) => request.includes(form))))
        throw new Broken('What lies outside has been sent.');
      return [`exit ${code}`, ...(requests.length > 0 ? ['sent'] : [])];
    } finally {
      for (const server of servers) server.close();
      rmSync(place, { recursive: true, force: true });
    }
  };
}

/** What a link may lead to, and what a command may leave behind. */
function writeOutside(place: string): void {
  const outside = path.join(place, 'outside');
  mkdirSync(path.join(outside, 'folder'), { recursive: true });
  mkdirSync(path.join(place, 'pwned'));
  mkdirSync(path.join(place, 'elsewhere'));
  for (const name of [
    'file',
    'x.0a1b2c3d.part',
    '0000-1.1.part',
    'a'.repeat(64),
    'folder/table.part',
    'folder/file',
  ])
    writeFileSync(path.join(outside, name), canary);
  writeFileSync(path.join(outside, 'table.csv'), `animal\n${canary}\n`);
  writeFileSync(path.join(outside, 'private.png'), privateImage);
}

/**
 * Puts a name into the index of a place. Its own configuration is not asked: what it names would be run here, and not by what
 * is tested.
 */
function track(place: string, name: string): void {
  const work = path.join(place, 'work');
  const found = lstatSync(path.join(work, name), { throwIfNoEntry: false });
  const [mode, entry] = found?.isDirectory()
    ? ['100644', `${name}/tracked`]
    : [found?.isSymbolicLink() ? '120000' : '100644', name];
  git(place, ['update-index', '--add', '--cacheinfo', `${mode},${emptyBlob},${entry}`], {
    GIT_DIR: path.join(temporary(), 'stranger/work/.git'),
    GIT_INDEX_FILE: path.join(work, '.git/index'),
  });
}

/** As every repository with SHA-1 names it. */
const emptyBlob = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

/** One step of an input: `<what> <path> <more>`. Nothing is made where a step cannot be read. */
async function carryOut(line: string, place: string, form: string, servers: Server[]): Promise<void> {
  const work = path.join(place, 'work');
  const [what = '', name = '', target = ''] = line.split(' ');
  const rest = line.slice(what.length + 1);
  const dot = path.join(work, '.git');
  // A path that was cut short must not lead out of the work tree.
  const at = path.join(work, path.join('/', name));
  const put = (): void => {
    mkdirSync(path.dirname(at), { recursive: true });
    rmSync(at, { recursive: true, force: true });
  };
  switch (what) {
    case 'link':
      put();
      symlinkSync(path.isAbsolute(target) ? target : path.join(place, target), at);
      break;
    case 'hard':
      put();
      linkSync(path.join(place, target), at);
      break;
    case 'pipe':
      put();
      makePipe(at);
      break;
    case 'socket':
      put();
      await new Promise<void>((resolve, reject) => {
        const server = createServer().once('error', reject);
        servers.push(server);
        server.listen(path.relative(process.cwd(), at), resolve);
      });
      break;
    case 'folder':
      put();
      mkdirSync(at);
      break;
    case 'empty':
      put();
      writeFileSync(at, '');
      break;
    case 'remove':
      put();
      break;
    case 'own':
      mkdirSync(path.dirname(path.join(work, 'mine', name)), { recursive: true });
      writeFileSync(path.join(work, 'mine', name), canary);
      break;
    case 'env':
      appendFileSync(path.join(work, '.env'), `${rest}\n`);
      break;
    case 'tracked':
      track(place, name);
      break;
    case 'way':
      cpSync(at, path.join(place, form === 'trusted' ? 'elsewhere' : 'outside', 'moved'), {
        recursive: true,
      });
      put();
      symlinkSync(path.join(place, form === 'trusted' ? 'elsewhere' : 'outside', 'moved'), at);
      track(place, name);
      break;
    case 'sql': {
      const database = openDatabase(path.join(work, 'runs/foxes/state.db'));
      try {
        database.exec(rest);
      } finally {
        database.close();
      }
      break;
    }
    case 'journal':
      writeFileSync(
        path.join(work, 'runs/foxes', `${name}-journal`),
        journalNaming(path.join(place, 'outside/file')),
      );
      break;
    case 'config':
      appendFileSync(path.join(dot, 'config'), rest);
      appendFileSync(path.join(work, '.gitattributes'), '* filter=x diff=x\n');
      break;
    case 'work-tree-config':
      appendFileSync(path.join(dot, 'config'), '[extensions]\n\tworktreeConfig = true\n');
      appendFileSync(path.join(dot, 'config.worktree'), rest);
      appendFileSync(path.join(work, '.gitattributes'), '* filter=x diff=x\n');
      break;
    case 'included':
      appendFileSync(path.join(dot, 'config'), '[include]\n\tpath = ../.gitconfig\n');
      appendFileSync(path.join(work, '.gitconfig'), rest);
      appendFileSync(path.join(work, '.gitattributes'), '* filter=x diff=x\n');
      break;
    case 'bare':
    case 'bare-run': {
      const folder = what === 'bare' ? work : path.join(work, 'runs/foxes');
      for (const part of ['HEAD', 'config', 'objects', 'refs', 'index'])
        cpSync(path.join(dot, part), path.join(folder, part), { recursive: true });
      appendFileSync(path.join(folder, 'config'), `${rest}\n[core]\n\tbare = false\n\tworktree = .\n`);
      appendFileSync(path.join(work, '.gitattributes'), '* filter=x diff=x\n');
      if (what === 'bare') rmSync(dot, { recursive: true, force: true });
      break;
    }
    case 'hook':
      mkdirSync(path.join(dot, 'hooks'), { recursive: true });
      writeFileSync(
        path.join(dot, 'hooks', path.basename(name)),
        `#!/bin/sh\ntouch ${path.join(place, 'pwned/by-hook')}\n`,
        {
          mode: 0o755,
        },
      );
      break;
    case 'attributes':
      appendFileSync(path.join(work, '.gitattributes'), rest);
      break;
  }
}

/** Everything that no command may change, and how it is; a folder of the user's own among it. */
function protectedFiles(place: string, isOwned: boolean): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const checkWithin = (file: string): void => {
    const facts = lstatSync(file);
    const name = path.relative(place, file);
    if (facts.isDirectory()) {
      found.set(name, `folder ${facts.mode}`);
      for (const inner of readdirSync(file)) checkWithin(path.join(file, inner));
    } else {
      const content = facts.isFile()
        ? readFileSync(file, 'latin1')
        : facts.isSymbolicLink()
          ? readlinkSync(file)
          : '';
      found.set(name, `${facts.mode} ${facts.mtimeMs} ${content}`);
    }
  };
  // Where there is no repository any more, the user himself may have laid the link.
  const isTracked = existsSync(path.join(place, 'work/.git'));
  for (const name of readdirSync(path.join(place, 'outside')))
    if (name !== 'moved' || isTracked) checkWithin(path.join(place, 'outside', name));
  for (const name of ['foxes.yaml', 'rows.csv']) checkWithin(path.join(place, 'work', name));
  if (isOwned) checkWithin(path.join(place, 'work/mine'));
  return found;
}

function difference(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string | undefined {
  return [...new Set([...before.keys(), ...after.keys()])].find(
    (name) => before.get(name) !== after.get(name),
  );
}
