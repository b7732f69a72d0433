import {
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { makePipe } from '../../rig/pipe.ts';
import { makePng } from '../../rig/png.ts';
import { asked } from '../../rig/postgres/asked.ts';
import { type Input, serverVariable } from '../input.ts';
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
  privateImage,
  startOwnService,
  watchReads,
  writeOutside,
} from './stranger.ts';

/** The checks of engines whose rows a stranger writes: what `generate/engine.ts` draws. */

/** A text column that holds documents, or another one. */
interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** An engine with a run whose images are made, which is open for its texts, and the run directory of that. */
interface Template {
  readonly service: Awaited<ReturnType<typeof startOwnService>>;
  /** `postgres://user@host:port/database`, without the password. */
  readonly engine: string;
  readonly password: string;
  /** As whoever owns the database, and as whoever may write rows. */
  readonly owner: Client;
  readonly columns: readonly Column[];
  /** Puts all rows back. */
  readonly restore: string;
  /** Holds `work` as it was. Commands find its copy always in the same place, which the engine names. */
  readonly folder: string;
  readonly place: string;
  readonly names: Readonly<Record<string, string>>;
  readonly key: string;
}

const schemas = `('promptpress', 'bullmq')`;

let template: Promise<Template> | undefined;

async function makeTemplate(): Promise<Template> {
  const server = process.env[serverVariable];
  if (server === undefined) throw new Error(`${serverVariable} names no PostgreSQL.`);
  const name = `fuzz_${process.pid}`;
  await asked(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await asked(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const { password } = url;
  const owner = new Client({ connectionString: url.href });
  // Its server may end before this process does.
  owner.on('error', () => undefined);
  await owner.connect();
  url.password = '';
  const engine = url.href;
  const service = await startOwnService();
  const place = path.join(temporary(), 'engine');
  const work = path.join(place, 'work');
  mkdirSync(path.join(work, '.git'), { recursive: true });
  writeFileSync(path.join(work, 'foxes.yaml'), pipeline);
  writeFileSync(path.join(work, 'rows.csv'), 'animal\nfox\nowl\n');
  writeFileSync(path.join(work, 'own.png'), makePng(1));
  const env = { ...service.env, HOME: place, PGPASSWORD: password };
  for (const more of [
    ['--only', 'grid'],
    ['--detach', '--queue', 'lease'],
  ]) {
    const ran = await commanded(['run', 'foxes.yaml', '--engine', engine, ...more], work, env);
    if (ran.code !== 0) throw new Error(`The template was not made: ${ran.err}`);
  }
  const { rows: columns } = await owner.query<Column>(
    `SELECT table_schema || '.' || quote_ident(table_name) AS table, quote_ident(column_name) AS name, data_type AS type
     FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema IN ${schemas} AND table_type = 'BASE TABLE' AND is_generated = 'NEVER' ORDER BY 1, ordinal_position`,
  );
  const tables = [...new Set(columns.map(({ table }) => table))];
  await owner.query('CREATE SCHEMA kept');
  const lines = tables.map((table) => {
    const kept = `kept."${table}"`;
    const list = columns.flatMap((column) => (column.table === table ? [column.name] : [])).join(', ');
    return [
      `CREATE TABLE ${kept} AS SELECT ${list} FROM ${table}`,
      `DELETE FROM ${table}; INSERT INTO ${table} (${list}) OVERRIDING SYSTEM VALUE SELECT ${list} FROM ${kept};`,
    ] as const;
  });
  for (const [keep] of lines) await owner.query(keep);
  await owner.query(
    `DO $$ BEGIN CREATE ROLE fuzz_stranger; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
     GRANT USAGE ON SCHEMA promptpress, bullmq TO fuzz_stranger;
     GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA promptpress, bullmq TO fuzz_stranger;
     GRANT USAGE ON ALL SEQUENCES IN SCHEMA promptpress, bullmq TO fuzz_stranger`,
  );
  const folder = path.join(temporary(), 'engine-kept');
  cpSync(place, folder, { recursive: true });
  const run = path.join(work, 'runs/foxes');
  const images = readdirSync(path.join(run, 'images'), { recursive: true, encoding: 'utf8' });
  const image = `images/${images.find((file) => file.endsWith('.png')) ?? ''}`;
  const [table = ''] = readdirSync(path.join(run, 'inputs'));
  const mark = JSON.parse(readFileSync(path.join(run, 'engine.json'), 'utf8')) as { place: string };
  return {
    service,
    engine,
    password,
    owner,
    columns,
    restore: `BEGIN; SET LOCAL session_replication_role = replica; ${lines.map(([, put]) => put).join(' ')} COMMIT`,
    folder,
    place,
    key: path.basename(image).split('-')[0] ?? '',
    names: {
      '@IMAGE@': image,
      '@TABLE@': table,
      '@OWNER@': mark.place,
      '@RUN@': run,
      '@ENGINE@': `${engine}#foxes`,
      '@OUTSIDE@': path.join(place, 'outside'),
    },
  };
}

const commands: Readonly<Record<string, readonly string[]>> = {
  lead: ['run', 'foxes.yaml', '--engine', '@BARE@', '--queue', 'lease'],
  'lead-bullmq': ['run', 'foxes.yaml', '--engine', '@BARE@'],
  'only-lead': ['run', 'foxes.yaml', '--engine', '@BARE@', '--no-work', '--queue', 'lease'],
  detach: ['run', 'foxes.yaml', '--engine', '@BARE@', '--detach', '--queue', 'lease'],
  worker: ['worker', '--engine', '@BARE@', '--once', '--name', 'w', '--lease', '1s'],
  'far-worker': ['worker', '--engine', '@BARE@', '--once', '--name', 'f', '--lease', '1s'],
  manifest: ['manifest', '@ENGINE@', '--all'],
  'manifest-elsewhere': ['manifest', '@ENGINE@', '--out', 'fresh'],
  'manifest-mine': ['manifest', '@ENGINE@', '--out', 'mine'],
  export: ['export', '@ENGINE@', '--format', 'jsonl', '--to', 'data'],
  'export-files': ['export', '@ENGINE@', '--format', 'imagefolder', '--to', 'data'],
  report: ['report', '@ENGINE@', '--all'],
  status: ['status', '@ENGINE@'],
  'status-json': ['status', '@ENGINE@', '--json'],
  ls: ['ls', '@BARE@'],
  'ls-json': ['ls', '@BARE@', '--json'],
  verify: ['verify', '@ENGINE@'],
  clean: ['clean', '@ENGINE@', '--yes'],
  remove: ['rm', '@ENGINE@', '--yes'],
  serve: ['serve', '@ENGINE@', '--all'],
  show: ['show', '@KEY@', '@ENGINE@'],
  resolve: ['resolve', '@KEY@', '@ENGINE@', '--drop'],
  plan: ['plan', '@ENGINE@'],
  'plan-file': ['plan', 'foxes.yaml', '--engine', '@BARE@'],
  stop: ['stop', '@ENGINE@'],
};

/** What a command may write to, below the place. */
const allowed = /^(?:work\/(?:runs|data|fresh)|\.local)(?:\/|$)/;

/** After so long a command is ended as by Ctrl-C, and after as long again as by another one, ms. */
const patienceMs = 1500;

export async function engineRun(input: Input): Promise<Run> {
  template ??= makeTemplate().catch((error: unknown) => {
    // A busy machine may have kept it from being made: the next input tries again.
    template = undefined;
    throw error;
  });
  const made = await template;
  const { service, owner, place, password, engine } = made;
  const work = path.join(place, 'work');
  rmSync(place, { recursive: true, force: true });
  cpSync(made.folder, place, { recursive: true, preserveTimestamps: true });
  writeOutside(place);
  mkdirSync(path.join(work, 'mine'));
  writeFileSync(path.join(work, 'mine/manifest.csv'), 'what,the,user,has\n');
  const evil = await listen();
  await owner.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await owner.query(made.restore);
  const words = { ...made.names, '@EVIL@': `127.0.0.1:${evil.port}`, '@KEY@': made.key, '@BARE@': engine };
  const filled = (text: string): string =>
    Object.entries(words).reduce((all, [word, value]) => all.replaceAll(word, value), text);
  await owner.query(`SET ROLE fuzz_stranger; SET statement_timeout = '5s'`);
  // One step stands in the way of another, or the engine does not allow it.
  for (const step of input.pieces.flatMap(({ text }) => filled(text).split('\t')))
    await carryOut(step, made).catch(() => undefined);
  await owner.query('RESET ROLE; RESET statement_timeout');

  const isFar = input.form === 'far-worker';
  const env = {
    ...ambient,
    ...service.env,
    HOME: place,
    PGPASSWORD: password,
    AWS_REGION: 'x',
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${evil.port}`,
    // What an engine names as the address of the service is a stranger's word there.
    ...(isFar ? { PROMPTPRESS_BASE_URL: '' } : {}),
  };
  const args = (commands[input.form] ?? ['ls', engine]).map(filled);
  const outside = path.join(place, 'outside');
  const before = filesBelow(place);
  const sent = service.requests.length;
  const readOutside = watchReads(outside);
  return async () => {
    const timers = new Set<NodeJS.Timeout>();
    try {
      const done = await commanded(args, work, env, (test) => {
        if (args[0] === 'serve') void lookAt(test, timers, input);
        for (const ms of [patienceMs, 2 * patienceMs]) timers.add(setTimeout(() => test.interrupt(), ms));
      });
      const read = readOutside();
      if (read !== undefined) throw new Broken(`outside/${read} has been read.`);
      lawfulWords(done);
      if (/\n\s+at .*:\d+:\d+/.test(done.said)) throw new Broken(`A stack is shown: ${done.said}`);
      const after = filesBelow(place);
      const changed = difference(kept(before), kept(after));
      if (changed !== undefined) throw new Broken(`${changed} has been changed.`);
      const secrets = [...Object.values(ambient), service.apiKey, password];
      for (const [file, text] of after) {
        // The stranger has put it there, by another name for a file outside.
        if (before.get(file) === text) continue;
        if (text.includes(canary) || text.includes(privateImage.toString('latin1')))
          throw new Broken(`What lies outside has been written to ${file}.`);
        if (secrets.some((secret) => text.includes(secret))) throw new Broken(`A secret stands in ${file}.`);
      }
      if (secrets.some((secret) => done.said.includes(secret))) throw new Broken('A secret has been shown.');
      if (evil.received() !== '')
        throw new Broken(`A stranger has been told: ${JSON.stringify(evil.received().slice(0, 500))}`);
      lawfulRequests(service.requests.slice(sent));
      return [`${input.form} exit ${done.code}`, ...(service.requests.length > sent ? ['sent'] : [])];
    } finally {
      for (const timer of timers) clearTimeout(timer);
      evil.server.close();
    }
  };
}

const kept = (files: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...files].filter(([name]) => !allowed.test(name) && name !== '' && name !== 'work'));

/** One step of an input: `<what> <more>`. */
async function carryOut(step: string, { owner, columns, place, names }: Template): Promise<void> {
  const [what = '', first = '', second = '', third = ''] = step.split(' ');
  const rest = step.slice(what.length + 1);
  // Of the run directory, which whoever works on the run may write to.
  const at = path.join(place, 'work/runs/foxes', path.join('/', first));
  const target = path.isAbsolute(second) ? second : path.join(place, second);
  const clear = (): void => {
    mkdirSync(path.dirname(at), { recursive: true });
    rmSync(at, { recursive: true, force: true });
  };
  const value = step.split(' ').slice(4).join(' ');
  switch (what) {
    case 'sql':
      await owner.query(rest);
      break;
    case 'gone':
      await owner.query(`DELETE FROM ${atShare(columns, first)?.table}`);
      break;
    case 'bomb':
      await owner.query('UPDATE promptpress.tables SET bytes = $1 WHERE part > 0', [bomb()]);
      break;
    case 'cell': {
      const column = atShare(columns, first);
      if (column === undefined) return;
      const { rows } = await owner.query<{ ctid: string }>(
        `SELECT ctid::text FROM ${column.table} ORDER BY 1`,
      );
      const row = atShare([...rows, { ctid: '' }], second)?.ctid;
      await owner.query(
        `UPDATE ${column.table} SET ${column.name} = $1 ${row === undefined || row === '' ? '' : `WHERE ctid = '${row}'`}`,
        [valueOf(column.type, third, value)],
      );
      break;
    }
    case 'within': {
      const texts = columns.filter(({ type }) => ['text', 'json', 'jsonb'].includes(type));
      const found: { readonly column: Column; readonly ctid: string; readonly text: string }[] = [];
      for (const column of texts) {
        const { rows } = await owner.query<{ ctid: string; text: string }>(
          `SELECT ctid::text, ${column.name}::text AS text FROM ${column.table} WHERE ${column.name}::text ~ '^[{[]' ORDER BY 1 LIMIT 20`,
        );
        // Each column comes as often as any other one.
        const row = atShare(rows, second);
        if (row !== undefined) found.push({ column, ...row });
      }
      const one = atShare(found, first);
      if (one === undefined) return;
      await owner.query(`UPDATE ${one.column.table} SET ${one.column.name} = $1 WHERE ctid = '${one.ctid}'`, [
        changedWithin(one.text, third, value),
      ]);
      break;
    }
    case 'link':
      clear();
      symlinkSync(target, at);
      break;
    case 'hard':
      clear();
      linkSync(target, at);
      break;
    case 'pipe':
      clear();
      makePipe(at);
      break;
    case 'folder':
      clear();
      mkdirSync(at);
      break;
    case 'empty':
      clear();
      writeFileSync(at, '');
      break;
    case 'remove':
      clear();
      break;
    case 'mark':
      if (lstatSync(names['@RUN@'] ?? '').isDirectory())
        writeFileSync(path.join(names['@RUN@'] ?? '', 'engine.json'), rest);
      break;
  }
}

let bombed: Buffer | undefined;

/** A table of half a megabyte that would be one of half a gigabyte. */
function bomb(): Buffer {
  bombed ??= gzipSync(Buffer.alloc(512 * 1024 * 1024, 'a'));
  return bombed;
}

const numbers = [
  '-1',
  '0',
  '1',
  '7',
  '32767',
  '2147483647',
  '-2147483648',
  '9007199254740993',
  '9223372036854775807',
];
const moments = ['infinity', '-infinity', '0001-01-01 BC', '294276-12-31', '2001-01-01', 'now'];

/** A value that a column of this type may hold. @param text JSON */
function valueOf(type: string, share: string, text: string): unknown {
  const of = (items: readonly string[]): string => items[Math.floor(Number(share) * items.length)] ?? '';
  if (/int|numeric/.test(type)) return of(numbers);
  if (type === 'double precision' || type === 'real')
    return of([...numbers, 'NaN', 'Infinity', '-Infinity', '1e300']);
  if (type.startsWith('timestamp')) return of(moments);
  if (type === 'boolean') return of(['true', 'false']);
  if (type === 'bytea') return Buffer.from(text);
  if (type === 'json' || type === 'jsonb') return text;
  const value: unknown = JSON.parse(text);
  return typeof value === 'string' && Number(share) < 0.7 ? value : text;
}
