import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { journalNaming } from '../../rig/journal.ts';
import { makePipe } from '../../rig/pipe.ts';
import type { Input } from '../input.ts';
import { Broken, type Run } from './law.ts';
import { temporary } from './machine.ts';
import {
  ambient,
  atShare,
  canary,
  changedWithin,
  commanded,
  difference,
  filesBelow,
  lawfulRequests,
  lawfulWords,
  listen,
  lookAt,
  pipeline,
  startOwnService,
  watchReads,
  writeOutside,
} from './stranger.ts';

/** The checks of repositories and run directories that a stranger made: what `generate/repository.ts` draws. */

/** A run whose images are made, and whose texts, which show them, are yet to be asked for. */
interface Template {
  readonly service: Awaited<ReturnType<typeof startOwnService>>;
  /** Holds `work` with the run directory, and `git`, an index and what it needs. */
  readonly folder: string;
  readonly names: Readonly<Record<string, string>>;
}

let template: Promise<Template> | undefined;

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
  const service = await startOwnService();
  const ran = await commanded(['run', 'foxes.yaml', '--only', 'grid'], work, {
    ...service.env,
    HOME: folder,
  });
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

const commands: Readonly<Record<string, readonly string[]>> = {
  run: ['run', 'foxes.yaml'],
  trusted: ['run', 'foxes.yaml', '--trust-directory'],
  stranger: ['run', 'foxes.yaml'],
  dotenv: ['run', 'foxes.yaml', '--dotenv', '.env', '--out', 's3://bucket/x'],
  'dotenv-engine': ['run', 'foxes.yaml', '--dotenv', '.env'],
  'dotenv-status': ['status', 'foxes.yaml', '--dotenv', '.env'],
  'dotenv-manifest': ['manifest', 'foxes.yaml', '--dotenv', '.env'],
  'dotenv-plan': ['plan', 'foxes.yaml', '--dotenv', '.env'],
  'dotenv-worker': ['worker', '--once', '--dotenv', '.env'],
  verify: ['verify', 'runs/foxes', '--trust-directory'],
  repair: ['verify', 'runs/foxes', '--repair', '--trust-directory'],
  clean: ['clean', 'runs/foxes', '--yes', '--trust-directory'],
  report: ['report', 'runs/foxes', '--all', '--trust-directory'],
  serve: ['serve', 'runs/foxes', '--all', '--trust-directory'],
  merge: ['merge', 'runs/foxes', '--out', 'merged', '--trust-directory'],
  ls: ['ls', '.', '--json'],
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
    '@OUTSIDE@': path.join(place, 'outside'),
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
  const args = (commands[input.form] ?? ['plan', 'foxes.yaml']).map((word) => word.replace('@KEY@', key));
  const mine = path.join(work, 'mine');
  // An empty folder is as good as none: the run may go there.
  const isOwned = input.form === 'out' && existsSync(mine) && readdirSync(mine).length > 0;
  const before = protectedFiles(place, isOwned);
  const sent = service.requests.length;
  if (input.form === 'stranger') rmSync(path.join(place, '.local'), { recursive: true, force: true });
  // An address of the environment would win over that of the file.
  const own = { ...ambient, ...service.env, HOME: place };
  const namesAddress = input.pieces.some(({ text }) => text.includes('PROMPTPRESS_BASE_URL'));
  const env = namesAddress ? { ...own, PROMPTPRESS_BASE_URL: '' } : own;
  // What a configuration of git names, git itself may read.
  const isOfState = input.pieces.every(({ text }) =>
    /^(?:link|pipe|folder|empty|remove|sql|fact|cell|within|env) /.test(text),
  );
  const readOutside = isOfState ? watchReads(path.join(place, 'outside')) : undefined;
  return async () => {
    const timers = new Set<NodeJS.Timeout>();
    try {
      const done = await commanded(args, work, env, (test) => {
        const { interrupt } = test;
        if (args[0] === 'sandbox') interrupt();
        if (args[0] === 'serve') void lookAt(test, timers, input);
        // A worker waits for an engine that does not answer.
        for (const ms of [2000, 4000]) timers.add(setTimeout(() => interrupt(), ms));
      });
      const read = readOutside?.();
      if (read !== undefined) throw new Broken(`outside/${read} has been read.`);
      lawfulWords(done);
      const [ran] = readdirSync(path.join(place, 'pwned'));
      if (ran !== undefined) throw new Broken('A command that the repository names has been run.');
      const changed = difference(before, protectedFiles(place, isOwned));
      if (changed !== undefined) throw new Broken(`${changed} has been changed.`);
      const requests = service.requests.slice(sent);
      const told = evil.received();
      if (Object.values(ambient).some((value) => told.includes(value)) || told.includes(service.apiKey))
        throw new Broken('A key of this machine has been sent to a stranger.');
      if (told.includes(canary)) throw new Broken('What lies outside has been told to a stranger.');
      if (input.form === 'stranger' && requests.length > 0)
        throw new Broken('A run that somebody else began has been continued.');
      lawfulRequests(requests);
      return [`exit ${done.code}`, ...(requests.length > 0 ? ['sent'] : [])];
    } finally {
      for (const timer of timers) clearTimeout(timer);
      for (const server of servers) server.close();
      rmSync(place, { recursive: true, force: true });
    }
  };
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
  // Whoever trusts a directory has its way followed.
  const outer = commands[form]?.includes('--trust-directory') === true ? 'elsewhere' : 'outside';
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
      cpSync(at, path.join(place, outer, 'moved'), { recursive: true });
      put();
      symlinkSync(path.join(place, outer, 'moved'), at);
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
    case 'fact': {
      const database = openDatabase(path.join(work, 'runs/foxes/state.db'));
      try {
        const text = rest.slice(name.length + 1);
        database.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)').run(name, text);
      } finally {
        database.close();
      }
      break;
    }
    case 'cell':
    case 'within': {
      const [, , second = '', third = '', ...words] = line.split(' ');
      changeState(path.join(work, 'runs/foxes/state.db'), what, [name, second, third], words.join(' '));
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

/** Gives a cell of a state another value, or puts one into a document there. @param shares name the column, the row and what is within */
function changeState(
  file: string,
  what: 'cell' | 'within',
  [first, second, third]: readonly [string, string, string],
  value: string,
): void {
  const database = openDatabase(file);
  try {
    const columns = database
      .prepare<{ table: string; name: string }>(
        "SELECT t.name AS 'table', c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY 1, 2",
      )
      .all();
    const cells = columns.flatMap((column) => {
      const { table, name } = column;
      const found = database
        .prepare<{ row: number; text: string }>(
          `SELECT rowid AS row, CAST("${name}" AS TEXT) AS text FROM "${table}" WHERE "${name}" IS NOT NULL ORDER BY 1 LIMIT 20`,
        )
        .all();
      const cell = atShare(what === 'cell' ? found : found.filter(({ text }) => /^[{[]/.test(text)), second);
      return cell === undefined ? [] : [{ ...column, ...cell }];
    });
    const one = atShare(cells, first);
    if (one === undefined) return;
    const text = what === 'cell' ? value : changedWithin(one.text, third, value);
    database.prepare(`UPDATE "${one.table}" SET "${one.name}" = ? WHERE rowid = ?`).run(text, one.row);
  } finally {
    database.close();
  }
}

/** Everything that no command may change, and how it is; a folder of the user's own among it. */
function protectedFiles(place: string, isOwned: boolean): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (name: string): void => {
    for (const [file, facts] of filesBelow(path.join(place, name))) found.set(path.join(name, file), facts);
  };
  // Where there is no repository any more, the user himself may have laid the link.
  const isTracked = existsSync(path.join(place, 'work/.git'));
  for (const name of readdirSync(path.join(place, 'outside')))
    if (name !== 'moved' || isTracked) add(path.join('outside', name));
  for (const name of ['foxes.yaml', 'rows.csv']) add(path.join('work', name));
  if (isOwned) add('work/mine');
  return found;
}
