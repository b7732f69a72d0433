/**
 * Loaded into the built command line before anything else (`node --import`): at one moment of its work on the disk it
 * kills its own process, or lets the disk fail from there on. Plain JavaScript, because Node 20 runs it as it is.
 *
 * MISHAP: `{ "moment": "image rename", "n": 3, "when": "before", "does": "SIGKILL" }`, see mishap.ts. What it does, it
 * first says on standard error in a line that begins `mishap: `.
 */
import fs from 'node:fs';
import { createRequire, isBuiltin, syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';

const { moment: aim, n: first = 1, when = 'before', does } = JSON.parse(process.env['MISHAP'] ?? '{}');
delete process.env['MISHAP'];
const { writeSync, openSync, renameSync } = fs;
const { open, rename } = fs.promises;

/** What a path within a run directory is. */
const kinds = [
  ['answer', /[\\/]text[\\/]\.incoming[\\/][^\\/]+\.answer\.\d+\.part$/],
  ['text', /[\\/]text[\\/]\.incoming[\\/][^\\/]+\.part$/],
  ['video', /[\\/]video[\\/]\.incoming[\\/][^\\/]+\.part$/],
  ['image', /[\\/]\.incoming[\\/][^\\/]+\.part$/],
  ['manifest', /[\\/]manifest\.csv\.[0-9a-f]{8}\.part$/],
  ['record', /[\\/]run\.json\.[0-9a-f]{8}\.part$/],
  ['owner', /[\\/]lock\.json\.new$/],
  ['log', /[\\/]run\.log$/],
  ['count', /[\\/]submissions$/],
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
  const says = { ENOSPC: 'no space left on device', EROFS: 'read-only file system' }[does];
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

fs.promises.open = async (path, flags = 'r', ...rest) => {
  const kind = kindOf(path);
  if (kind === undefined || flags === 'r') return await open(path, flags, ...rest);
  const handle = await around(`${kind} open`, { syscall: 'open', path }, () => open(path, flags, ...rest));
  const writing = (name) => {
    const call = handle[name];
    handle[name] = (...given) =>
      around(`${kind} write`, { syscall: 'write' }, () => call.apply(handle, given));
  };
  writing('write');
  writing('writeFile');
  const { sync } = handle;
  handle.sync = () => around(`${kind} sync`, { syscall: 'fsync' }, () => sync.call(handle));
  return handle;
};

fs.promises.rename = async (from, to) => {
  const kind = kindOf(from);
  if (kind === undefined) return await rename(from, to);
  return await around(`${kind} rename`, { syscall: 'rename', path: from }, () => rename(from, to));
};

fs.renameSync = (from, to) => {
  const kind = kindOf(from);
  if (kind === undefined) return renameSync(from, to);
  return aroundSync(`${kind} rename`, { syscall: 'rename', path: from }, () => renameSync(from, to));
};

const openFiles = new Map();
fs.openSync = (path, flags, ...rest) => {
  const kind = kindOf(path);
  if (kind === undefined) return openSync(path, flags, ...rest);
  const file = aroundSync(`${kind} open`, { syscall: 'open', path }, () => openSync(path, flags, ...rest));
  openFiles.set(file, kind);
  return file;
};
fs.writeSync = (file, ...rest) => {
  const kind = openFiles.get(file);
  if (kind === undefined) return writeSync(file, ...rest);
  return aroundSync(`${kind} write`, { syscall: 'write' }, () => writeSync(file, ...rest));
};
syncBuiltinESMExports();

/** A driver whose COMMIT on the state can meet a mishap. A failing disk is SQLite's own doing, not an imitation. */
const watched = (DatabaseSync) =>
  class extends DatabaseSync {
    #isState;

    constructor(location, ...rest) {
      super(location, ...rest);
      this.#isState = /[\\/]state\.db$/.test(String(location));
    }

    exec(sql) {
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

const require = createRequire(import.meta.url);
const { emitWarning } = process;
process.emitWarning = () => {};
if (isBuiltin('node:sqlite')) {
  const module = require('node:sqlite');
  module.DatabaseSync = watched(module.DatabaseSync);
}
process.emitWarning = emitWarning;
const name = '@photostructure/sqlite';
const module = require(name);
require.cache[require.resolve(name)].exports = { ...module, DatabaseSync: watched(module.DatabaseSync) };
