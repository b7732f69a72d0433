import { hash, randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../run/clock.ts';
import type { ResultLog } from '../../run/ports.ts';
import { makeFolders } from '../../state/files/folders.ts';
import { type Database, databaseFiles, openDatabase, sqliteCode } from '../../state/sqlite/sqlite.ts';
import type { LateFact } from '../../state/store.ts';
import type { EnginePool } from '../postgres/pool.ts';
import type { ReplyLine } from '../state/reply-lines.ts';
import { noteLateFacts } from './late-facts.ts';
import type { WorkerSession } from './session.ts';

/** Largest size of the results that a process keeps, bytes: about its requests in flight. */
const maxBytes = 64 * 1024 * 1024;

/** Age up to which a file without a table may still be in use by the process that created it, ms. */
const youngMs = 60_000;

/** Number of facts offered together. */
const atOnce = 64;

/**
 * The process locks the file until it dies in any way. So a file without a lock belongs to a dead process: all its sessions are over, and
 * no more results come from them. Sessions are stored by their random names, because after an older database was restored, a number may
 * belong to a live session.
 */
const schema = `
  PRAGMA journal_mode = TRUNCATE; PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL;
  BEGIN EXCLUSIVE;
  CREATE TABLE sessions (token TEXT PRIMARY KEY);
  CREATE TABLE heard (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, fact TEXT NOT NULL);
  CREATE TABLE lines (run INTEGER NOT NULL, segment INTEGER NOT NULL, start INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (run, segment, start));
  COMMIT`;

interface Noted {
  readonly id: number;
  readonly run: number;
  readonly fact: LateFact;
}

/**
 * Keeps one process's results of paid requests while its engine is unavailable: first in memory, after a moment on this machine's disk,
 * readable only by its user. If the process dies before it could write them to the engine, the next process of this user does.
 */
export class ReceivedFile {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #file: string;
  readonly #database: Database;
  readonly #say: (text: string) => void;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #lines = new Map<number, () => readonly ReplyLine[]>();
  readonly #sessions = new Set<string>();
  #noted: Noted[] = [];
  #ids = 0;
  #bytes = 0;
  #dropped = 0;
  #isAway = false;
  readonly #unlisten: () => void;
  /** Files of dead processes whose facts could not be written yet. */
  readonly #found = new Map<string, Database>();

  /**
   * @param folder for files of this user's workers
   * @param say tells the user which results cannot be kept
   * @param clock Unix ms, as in file times
   * @throws any error of the file system or of SQLite
   */
  constructor(folder: string, pool: EnginePool, say: (text: string) => void, clock: Pick<Clock, 'now'>) {
    makeFolders(folder, 0o700);
    this.#folder = folder;
    this.#say = say;
    this.#clock = clock;
    this.#prefix = `heard-${hash('sha256', pool.shown, 'hex').slice(0, 16)}-`;
    this.#file = join(folder, `${this.#prefix}${randomBytes(8).toString('hex')}.db`);
    this.#database = openDatabase(this.#file);
    this.#database.exec(schema);
    this.#unlisten = pool.troubles.onTrouble(({ kind }) => {
      this.#isAway = kind !== 'back';
      if (this.#isAway) for (const noted of this.#noted) this.#write(noted);
    });
  }

  /** Notes a new session of this process; until it ends its requests may be in flight. */
  begin({ token }: Pick<WorkerSession, 'token'>): void {
    this.#sessions.add(token);
    this.#database.prepare('INSERT INTO sessions VALUES (?)').run(token);
  }

  end({ token }: Pick<WorkerSession, 'token'>): void {
    this.#sessions.delete(token);
    this.#database.prepare('DELETE FROM sessions WHERE token = ?').run(token);
  }

  /** Returns the port that keeps the results of a run. @param lines returns the whole replies that are not written yet */
  ofRun(run: number, lines: () => readonly ReplyLine[]): ResultLog {
    this.#lines.set(run, lines);
    return {
      note: (fact) => {
        this.#ids += 1;
        const noted = { id: this.#ids, run, fact };
        this.#noted.push(noted);
        if (this.#isAway) this.#write(noted);
        return noted.id;
      },
      durable: (upTo) => {
        const isWritten = (noted: Noted): boolean => noted.run === run && noted.id <= upTo;
        if (!this.#noted.some(isWritten)) return;
        this.#noted = this.#noted.filter((noted) => !isWritten(noted));
        if (this.#bytes === 0) return;
        // While the engine is available, facts stay in memory: those in the file are soon durable, however many arrive meanwhile.
        this.#delete(`heard WHERE run = ${run} AND id <= ${upTo}`, 'fact');
        this.#delete(
          `lines WHERE run = ${run} AND NOT EXISTS (SELECT 1 FROM heard WHERE run = ${run})`,
          'line',
        );
      },
    };
  }

  #delete(rows: string, text: 'fact' | 'line'): void {
    const gone = this.#database.prepare<{ bytes: number }>(
      `DELETE FROM ${rows} RETURNING length(CAST(${text} AS BLOB)) AS bytes`,
    );
    for (const { bytes } of gone.all()) this.#bytes -= bytes;
  }

  #write({ id, run, fact }: Noted): void {
    const text = JSON.stringify(fact);
    const lines = this.#lines.get(run)?.() ?? [];
    try {
      this.#bytes += this.#database.transaction(() => {
        let bytes =
          Buffer.byteLength(text) *
          this.#database.prepare('INSERT OR IGNORE INTO heard VALUES (?, ?, ?)').run(id, run, text);
        const put = this.#database.prepare('INSERT OR IGNORE INTO lines VALUES (?, ?, ?, ?)');
        // An earlier fact may have stored the same line: it is stored once.
        for (const { segment, start, line } of lines)
          bytes += Buffer.byteLength(line) * put.run(run, segment, start, line);
        if (this.#bytes + bytes > maxBytes) throw new Error('there is room for 64 MB');
        return bytes;
      });
    } catch (error) {
      this.#drop((error as Error).message);
    }
  }

  #drop(why: string): void {
    this.#dropped += 1;
    // Each result is written from memory once the engine is back, if this process lives until then.
    if (this.#dropped === 1)
      this.#say(
        `Answers that arrive while the engine is away are no longer kept in ${this.#file}: ${why}. They are lost if this process ends before the engine is back.`,
      );
  }

  /**
   * Writes the results kept by dead processes of this user to the engine, and ends their sessions.
   *
   * @throws EngineError
   */
  async sweep(pool: EnginePool): Promise<void> {
    for (const name of readdirSync(this.#folder)) {
      const file = join(this.#folder, name);
      if (!name.startsWith(this.#prefix) || !name.endsWith('.db') || file === this.#file) continue;
      const database = this.#found.get(file) ?? ofDead(file, this.#clock.now());
      if (database === undefined) continue;
      this.#found.set(file, database);
      await this.#tell(pool, database);
      remove(file);
      database.close();
      this.#found.delete(file);
    }
  }

  async #tell(pool: EnginePool, database: Database): Promise<void> {
    const sessions = database.prepare<{ token: string }>('SELECT token FROM sessions').all();
    const tokens = sessions.map(({ token }) => token);
    const lines = database.prepare<{ run: number; segment: number; start: number; line: string }>(
      'SELECT run, segment, start, line FROM lines',
    );
    for (const { run, ...line } of lines.all())
      await pool.query(
        // Where none of the sessions is known, the database is older, and their places in the replies belong to others.
        `INSERT INTO promptpress.replies SELECT run, $2, $3, $4 FROM promptpress.runs
         WHERE run = $1 AND EXISTS (SELECT FROM promptpress.sessions WHERE token = ANY ($5)) ON CONFLICT DO NOTHING`,
        [run, line.segment, line.start, line.line, tokens],
      );
    const rows = database
      .prepare<{ run: number; fact: string }>('SELECT run, fact FROM heard ORDER BY id')
      .all();
    for (const run of new Set(rows.map((row) => row.run))) {
      const facts = rows.filter((row) => row.run === run).map(({ fact }) => JSON.parse(fact) as LateFact);
      for (let from = 0; from < facts.length; from += atOnce)
        await noteLateFacts(pool, run, facts.slice(from, from + atOnce));
    }
    // The results are written first: a process that waits for a session continues once the session is over.
    await pool.query('UPDATE promptpress.sessions SET over = true, ended = true WHERE token = ANY ($1)', [
      tokens,
    ]);
  }

  /** Leaves the file to later processes where a result was not written or a session is not known to be over. */
  close(): void {
    this.#unlisten();
    if (this.#noted.length + this.#sessions.size === 0) remove(this.#file);
    this.#database.close();
    for (const database of this.#found.values()) database.close();
  }
}

/** Returns the file of a dead process; undefined where the process lives or may be starting. */
function ofDead(file: string, now: number): Database | undefined {
  let database: Database | undefined;
  try {
    database = openDatabase(file, { busyTimeoutMs: 0 });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    database.exec('SELECT token FROM sessions LIMIT 0');
    return database;
  } catch (error) {
    database?.close();
    const code = sqliteCode(error);
    // Locked: its process lives. The file may also be gone by now.
    if (code === 5 || code === 14 || (error as { code?: unknown }).code === 'ENOENT') return undefined;
    // Its process died before it had created a table.
    if (code === 1 && now - statSync(file).mtimeMs > youngMs) remove(file);
    return undefined;
  }
}

function remove(file: string): void {
  for (const name of databaseFiles(file)) rmSync(name, { force: true });
}
