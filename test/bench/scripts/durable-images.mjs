/**
 * The floor of a run: what `images.mjs` does, with no more than durability asks for. A job's intent is committed before its request
 * leaves, its task id before the task is looked at, its result before the download, its end behind it; all that is decided in a turn
 * is one transaction, which waits for others where it would take most of the time, as it does in a run. An image is written under
 * another name, synced and renamed, and its folder synced once for all that wait for it. A task is looked at once more before its
 * button is pressed. Nothing is planned, resumed, retried, limited or checked.
 * node durable-images.mjs CELLS AT_ONCE
 */
import { createHash } from 'node:crypto';
import { close, fsync, mkdirSync, open, openSync, rename, write } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { Agent, request } from 'undici';

const { PROMPTPRESS_BASE_URL: base, PROMPTPRESS_API_KEY: key } = process.env;
const [cells, atOnce] = process.argv.slice(2).map(Number);
const dispatcher = new Agent({ connections: atOnce });
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

const require = createRequire(import.meta.url);
const { DatabaseSync } = require(isBuiltin('node:sqlite') ? 'node:sqlite' : '@photostructure/sqlite');
const database = new DatabaseSync('state.db');
database.exec(`
  PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4096;
  CREATE TABLE jobs (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, status TEXT NOT NULL, doc TEXT NOT NULL) STRICT;
  CREATE TABLE attempts (id INTEGER PRIMARY KEY, job INTEGER NOT NULL, task TEXT NOT NULL) STRICT;
`);
const begin = database.prepare('INSERT INTO jobs VALUES (?, ?, ?, ?)');
const change = database.prepare('UPDATE jobs SET status = ?, doc = ? WHERE id = ?');
const attempt = database.prepare('INSERT INTO attempts (job, task) VALUES (?, ?)');

const longestPauseMs = 8;
let writes = [];
let underWay = 0;
let endedAt = 0;
let tookMs = 0;
let isDue = false;
let timer;

/** Resolves when the rows are durable. */
const committed = (...rows) =>
  new Promise((resolve) => {
    writes.push({ rows, resolve });
    if (isDue) return;
    const restMs = endedAt + Math.min(longestPauseMs, 3 * tookMs) - performance.now();
    if (restMs > 0 && writes.length * 4 < underWay) timer ??= setTimeout(atEndOfTurn, restMs);
    else atEndOfTurn();
  });

function atEndOfTurn() {
  clearTimeout(timer);
  timer = undefined;
  isDue = true;
  setImmediate(commit);
}

function commit() {
  isDue = false;
  const turn = writes;
  writes = [];
  const from = performance.now();
  database.exec('BEGIN IMMEDIATE');
  for (const { rows } of turn) for (const [statement, ...values] of rows) statement.run(...values);
  database.exec('COMMIT');
  endedAt = performance.now();
  tookMs += (endedAt - from - tookMs) / 8;
  for (const { resolve } of turn) resolve();
}

async function send(url, options) {
  underWay += 1;
  try {
    const response = await request(url, { dispatcher, ...options });
    if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`);
    return await (options === undefined ? response.body.arrayBuffer() : response.body.json());
  } finally {
    underWay -= 1;
  }
}

const post = (path, body) => send(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
const fetched = (task) => send(`${base}/img/task/${task}/fetch`, { method: 'GET', headers });

const files = {
  open: promisify(open),
  write: promisify(write),
  sync: promisify(fsync),
  close: promisify(close),
  rename: promisify(rename),
};
mkdirSync('images/.incoming', { recursive: true });
const folder = openSync('images', 'r');
let running;
let next;

/** One sync for all whose names are there when it begins. */
function folderSynced() {
  if (running === undefined) {
    running = files.sync(folder).finally(() => {
      running = undefined;
    });
    return running;
  }
  next ??= running.then(() => {
    next = undefined;
    return folderSynced();
  });
  return next;
}

async function save(url, name) {
  const bytes = Buffer.from(await send(url));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const file = await files.open(`images/.incoming/${name}`, 'wx');
  await files.write(file, bytes);
  await files.sync(file);
  await files.close(file);
  await files.rename(`images/.incoming/${name}`, `images/${name}`);
  await folderSynced();
  return { name, bytes: bytes.length, sha256 };
}

let ids = 0;

async function job(path, body) {
  ids += 1;
  const id = ids;
  const doc = { path, body };
  const hash = createHash('sha256').update(JSON.stringify(doc)).digest('hex').slice(0, 32);
  await committed([begin, id, hash, 'submitting', JSON.stringify(doc)]);
  const { code, result, description } = await post(path, body);
  if (code !== 1) throw new Error(description);
  doc.task = result;
  await committed([change, 'running', JSON.stringify(doc), id], [attempt, id, result]);
  doc.result = await fetched(result);
  if (doc.result.status !== 'SUCCESS') throw new Error(doc.result.failReason);
  await committed([change, 'saving', JSON.stringify(doc), id]);
  doc.file = await save(doc.result.imageUrl, `${hash}.png`);
  await committed([change, 'done', JSON.stringify(doc), id]);
  return result;
}

async function cell(n) {
  const prompt = `a fox in picture ${n}, ink drawing --ar 3:2`;
  const grid = await job('/img/submit/imagine', { botType: 'IMG_JOURNEY', prompt });
  const { buttons } = await fetched(grid);
  const { customId } = buttons.find(({ label }) => label === 'U1');
  await job('/img/submit/action', { taskId: grid, customId });
}

const limit = pLimit(atOnce);
await Promise.all(Array.from({ length: cells }, (_, n) => limit(() => cell(n + 1))));
await dispatcher.close();
database.close();
