/**
 * Loaded into the built command line before anything else (`node --import`): at one moment of its work on the disk it
 * kills its own process, or lets the disk fail from there on. Plain JavaScript, because Node 20 runs it as it is.
 *
 * MISHAP: `{ "moment": "image rename", "n": 3, "when": "before", "does": "SIGKILL" }`, see mishap.ts. What it does, it
 * first says on standard error in a line that begins `mishap: `.
 *
 * DISK_CALLS: a file that gets a line of JSON for each call that changes the disk or makes a change durable, see disk-calls.ts.
 */
import fs from 'node:fs';
import { createRequire, isBuiltin, syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';
import { callbackify } from 'node:util';

const { moment: aim, n: first = 1, when = 'before', does } = JSON.parse(process.env['MISHAP'] ?? '{}');
delete process.env['MISHAP'];
const { writeSync, writevSync, openSync, renameSync, fsync, fsyncSync, fdatasync, fdatasyncSync, mkdirSync } =
  fs;
const callingBack = { open: fs.open, write: fs.write, rename: fs.rename };
const { open, rename, mkdir } = fs.promises;

const callsFile = process.env['DISK_CALLS'];
delete process.env['DISK_CALLS'];
const calls = callsFile === undefined ? undefined : openSync(callsFile, 'a');
let step = 0;
/** Records a call that was carried out between two steps. */
function record(call, began, facts) {
  if (calls === undefined) return;
  step += 1;
  writeSync(calls, `${JSON.stringify({ call, began, ended: step, ...facts })}\n`);
}

async function recorded(call, facts, work) {
  step += 1;
  const began = step;
  const result = await work();
  record(call, began, facts);
  return result;
}

function recordedSync(call, facts, work) {
  step += 1;
  const began = step;
  const result = work();
  record(call, began, facts);
  return result;
}

/** What a path within a run directory is. */
const kinds = [
  ['reply', /[\\/]replies[\\/]\d{5}\.jsonl$/],
  ['video', /[\\/]video[\\/]\.incoming[\\/][^\\/]+\.part$/],
  ['image', /[\\/]\.incoming[\\/][^\\/]+\.part$/],
  ['manifest', /[\\/]manifest\.csv\.[0-9a-f]{8}\.part$/],
  ['record', /[\\/]run\.json\.[0-9a-f]{8}\.part$/],
  ['owner', /[\\/]lock\.json\.[0-9a-f]{8}\.part$/],
  ['log', /[\\/]run\.log$/],
  ['count', /[\\/]submissions$/],
  ['reserve', /[\\/]reserve$/],
  ['wal', /[\\/]state\.db-wal$/],
];
const kindOf = (path) => kinds.find(([, pattern]) => pattern.test(String(path)))?.[0];

let count = 0;
/** Whether this is the one: of a kill the n-th time, of a disk that fails every time from the n-th on. */
function reached(moment) {
  if (moment !== aim) return false;
  count += 1;
  return does === 'SIGKILL' ? count === first : count >= first;
}

let told = false;
function tell() {
  if (told) return;
  told = true;
  writeSync(2, `mishap: ${does} ${when} ${aim} ${first}\n`);
}

function die() {
  tell();
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}

function systemError(syscall, path) {
  tell();
  const says = { ENOSPC: 'no space left on device', EROFS: 'read-only file system', EIO: 'i/o error' }[does];
  const where = path === undefined ? '' : ` '${path}'`;
  return Object.assign(new Error(`${does}: ${says}, ${syscall}${where}`), {
    errno: -constants.errno[does],
    code: does,
    syscall,
    ...(path === undefined ? {} : { path }),
  });
}

/** Carries out one call, or what happens instead. Node tells a path only of calls that name one. */
async function around(moment, { syscall, path }, call) {
  if (!reached(moment)) return await call();
  if (does !== 'SIGKILL') throw systemError(syscall, path);
  if (when === 'before') die();
  await call();
  return die();
}

function aroundSync(moment, { syscall, path }, call) {
  if (!reached(moment)) return call();
  if (does !== 'SIGKILL') throw systemError(syscall, path);
  if (when === 'before') die();
  call();
  return die();
}

/** Whether opening a path with these flags may make the file. */
const makes = (flags = 'r') =>
  typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : flags[0] !== 'r';

fs.promises.open = async (path, flags = 'r', ...rest) => {
  const kind = kindOf(path);
  const opening = () => open(path, flags, ...rest);
  const handle = makes(flags)
    ? await recorded('create', { path }, () =>
        kind === undefined ? opening() : around(`${kind} open`, { syscall: 'open', path }, opening),
      )
    : await opening();
  const watch = (name, call, syscall) => {
    const plain = handle[name];
    handle[name] = (...given) =>
      recorded(call, { path }, () => {
        const work = () => plain.apply(handle, given);
        return kind === undefined ? work() : around(`${kind} ${call}`, { syscall }, work);
      });
  };
  watch('write', 'write', 'write');
  watch('writeFile', 'write', 'write');
  watch('sync', 'sync', 'fsync');
  return handle;
};

fs.promises.rename = (from, to) =>
  recorded('rename', { path: from, to }, () => {
    const kind = kindOf(from);
    const work = () => rename(from, to);
    return kind === undefined ? work() : around(`${kind} rename`, { syscall: 'rename', path: from }, work);
  });

fs.renameSync = (from, to) =>
  recordedSync('rename', { path: from, to }, () => {
    const kind = kindOf(from);
    const work = () => renameSync(from, to);
    return kind === undefined
      ? work()
      : aroundSync(`${kind} rename`, { syscall: 'rename', path: from }, work);
  });

/** One that makes several folders tells the first of them. */
fs.promises.mkdir = (path, options) => recorded('mkdir', { path }, () => mkdir(path, options));
fs.mkdirSync = (path, options) => recordedSync('mkdir', { path }, () => mkdirSync(path, options));

const openFiles = new Map();
fs.openSync = (path, flags, ...rest) => {
  const kind = kindOf(path);
  const opening = () => openSync(path, flags, ...rest);
  const watched = () =>
    kind === undefined ? opening() : aroundSync(`${kind} open`, { syscall: 'open', path }, opening);
  const file = makes(flags) ? recordedSync('create', { path }, watched) : watched();
  openFiles.set(file, path);
  return file;
};
fs.writeSync = (file, ...rest) => {
  const path = openFiles.get(file);
  const kind = path === undefined ? undefined : kindOf(path);
  if (kind === undefined) return writeSync(file, ...rest);
  return recordedSync('write', { path }, () =>
    aroundSync(`${kind} write`, { syscall: 'write' }, () => writeSync(file, ...rest)),
  );
};
/** A call of `node:fs` that calls back, as a promise. */
const promised = (call) =>
  new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value)));
  });
const calledBack = (work, done) => callbackify(work)(done);
fs.open = (path, flags, ...rest) => {
  const done = rest.pop();
  const kind = kindOf(path);
  if (kind === undefined || !makes(flags)) return callingBack.open(path, flags, ...rest, done);
  const opening = () => promised((back) => callingBack.open(path, flags, ...rest, back));
  const watched = async () => {
    const file = await around(`${kind} open`, { syscall: 'open', path }, opening);
    openFiles.set(file, path);
    return file;
  };
  return calledBack(() => recorded('create', { path }, watched), done);
};
fs.write = (file, ...rest) => {
  const path = openFiles.get(file);
  const kind = path === undefined ? undefined : kindOf(path);
  if (kind === undefined) return callingBack.write(file, ...rest);
  const done = rest.pop();
  const writing = () => promised((back) => callingBack.write(file, ...rest, back));
  const watched = () => around(`${kind} write`, { syscall: 'write' }, writing);
  return calledBack(() => recorded('write', { path }, watched), done);
};
fs.fsync = (file, done) => {
  const path = openFiles.get(file);
  const kind = path === undefined ? undefined : kindOf(path);
  const syncing = () => promised((back) => fsync(file, back));
  const watched = () =>
    kind === undefined ? syncing() : around(`${kind} sync`, { syscall: 'fsync' }, syncing);
  calledBack(() => recorded('sync', { path }, watched), done);
};
fs.rename = (from, to, done) => {
  const kind = kindOf(from);
  const naming = () => promised((back) => callingBack.rename(from, to, back));
  const watched = () =>
    kind === undefined ? naming() : around(`${kind} rename`, { syscall: 'rename', path: from }, naming);
  calledBack(() => recorded('rename', { path: from, to }, watched), done);
};
/** `end`: how far into the file it wrote. */
fs.writevSync = (file, pieces, position) => {
  const path = openFiles.get(file);
  const end = pieces.reduce((sum, { length }) => sum + length, position);
  return recordedSync('write', { path, end }, () =>
    aroundSync(`${kindOf(path)} write`, { syscall: 'write' }, () => writevSync(file, pieces, position)),
  );
};
fs.fdatasyncSync = (file) => {
  const path = openFiles.get(file);
  return recordedSync('sync', { path }, () =>
    aroundSync(`${kindOf(path)} sync`, { syscall: 'fdatasync' }, () => fdatasyncSync(file)),
  );
};
fs.fdatasync = (file, callback) => {
  const path = openFiles.get(file);
  const work = () =>
    new Promise((resolve, reject) => fdatasync(file, (error) => (error ? reject(error) : resolve())));
  const sync = () =>
    recorded('sync', { path }, () => around(`${kindOf(path)} sync`, { syscall: 'fdatasync' }, work));
  callbackify(sync)((error) => callback(error));
};
fs.fsyncSync = (file) => recordedSync('sync', { path: openFiles.get(file) }, () => fsyncSync(file));
syncBuiltinESMExports();

/** A driver whose COMMIT on the state can meet a mishap. A failing disk is SQLite's own doing, not an imitation. */
const watched = (DatabaseSync) =>
  class extends DatabaseSync {
    #isState;
    #path;
    /** Of the transaction that is open. */
    #jobs = [];

    constructor(location, ...rest) {
      super(location, ...rest);
      this.#path = String(location);
      this.#isState = /[\\/]state\.db$/.test(this.#path);
    }

    prepare(sql) {
      const statement = super.prepare(sql);
      if (calls === undefined || !this.#isState || !/^(?:INSERT INTO|UPDATE) jobs\b/.test(sql))
        return statement;
      return {
        run: (...values) => {
          const { key, status, artifacts, text } = JSON.parse(
            values.find((value) => String(value).startsWith('{')),
          );
          const files = artifacts.map(({ file }) => file);
          this.#jobs.push({ key, status, files, ...(text?.reply && { reply: text.reply }) });
          return statement.run(...values);
        },
      };
    }

    exec(sql) {
      if (calls === undefined || !this.#isState || sql !== 'COMMIT') return this.#execute(sql);
      // What this connection does to make a commit durable: 2 is FULL (https://sqlite.org/pragma.html#pragma_synchronous).
      const { synchronous } = super.prepare('PRAGMA synchronous').get();
      const jobs = this.#jobs;
      this.#jobs = [];
      return recordedSync('commit', { path: this.#path, synchronous, jobs }, () => this.#execute(sql));
    }

    #execute(sql) {
      if (!this.#isState || sql !== 'COMMIT' || !reached('state commit')) return super.exec(sql);
      if (does === 'SIGKILL') {
        if (when === 'after') super.exec(sql);
        return die();
      }
      tell();
      // From here on the file may not grow, or not be written at all.
      super.exec(does === 'ENOSPC' ? 'PRAGMA max_page_count = 1' : 'PRAGMA query_only = 1');
      return super.exec(sql);
    }
  };

// The packages of the command: it may be installed somewhere else.
const require = createRequire(process.argv[1] ?? import.meta.url);
const emitWarning = process.emitWarning.bind(process);
process.emitWarning = () => {};
if (isBuiltin('node:sqlite')) {
  const module = require('node:sqlite');
  module.DatabaseSync = watched(module.DatabaseSync);
}
process.emitWarning = emitWarning;
const name = '@photostructure/sqlite';
const module = require(name);
require.cache[require.resolve(name)].exports = { ...module, DatabaseSync: watched(module.DatabaseSync) };
