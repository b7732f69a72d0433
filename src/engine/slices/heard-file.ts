import { hash, randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../run/clock.ts';
import type { HeardPort } from '../../run/ports.ts';
import { makeFolders } from '../../state/files/folders.ts';
import { type Database, databaseFiles, openDatabase, sqliteCode } from '../../state/sqlite/sqlite.ts';
import type { LateFact } from '../../state/store.ts';
import type { EnginePool } from '../postgres/pool.ts';
import type { ReplyLine } from '../state/reply-lines.ts';
import { noteLateFacts } from './late-facts.ts';
import type { WorkerSession } from './session.ts';

/** What a process keeps at most, bytes: about what it may have under way. */
const mostBytes = 64 * 1024 * 1024;

/** A file without a table that is younger may be about to be taken by who made it, ms. */
const youngMs = 60_000;

/** Facts that are offered together. */
const atOnce = 64;

/**
 * The process takes the lock of the file and keeps it until it dies, however it does. So who finds the file without a lock knows that all of
 * its sessions are over, and that nothing more is heard from them. They stand here by their random names: after an older database was restored, a
 * number may be that of a session which lives.
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
 * What one process has heard of paid requests while its engine is away: in memory until that has lasted for a moment, then on this
 * machine's disk, for its user alone to read. Where the process dies before it could tell, the next one of this user does.
 */
export class HeardFile {
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
  /** Files of dead processes whose facts could not be told yet. */
  readonly #found = new Map<string, Database>();

  /**
   * @param folder for files of this user's workers
   * @param say tells the user what is not kept
   * @param clock Unix ms, as the times of files
   * @throws the error of the file system or of SQLite
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

  /** A session of this process begins; until it ends its requests may be under way. */
  begin({ token }: Pick<WorkerSession, 'token'>): void {
    this.#sessions.add(token);
    this.#database.prepare('INSERT INTO sessions VALUES (?)').run(token);
  }

  end({ token }: Pick<WorkerSession, 'token'>): void {
    this.#sessions.delete(token);
    this.#database.prepare('DELETE FROM sessions WHERE token = ?').run(token);
  }

  /** @param lines the whole replies that are not written yet */
  ofRun(run: number, lines: () => readonly ReplyLine[]): HeardPort {
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
        // While the engine is there facts are kept in memory: those that the file has are soon durable, however many are heard meanwhile.
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
        // An earlier fact may have brought a line: it is there once.
        for (const { segment, start, line } of lines)
          bytes += Buffer.byteLength(line) * put.run(run, segment, start, line);
        if (this.#bytes + bytes > mostBytes) throw new Error('there is room for 64 MB');
        return bytes;
      });
    } catch (error) {
      this.#drop((error as Error).message);
    }
  }

  #drop(why: string): void {
    this.#dropped += 1;
    // Each is told from memory once the engine is back, where this process lives until then.
    if (this.#dropped === 1)
      this.#say(
        `Answers that are heard while the engine is away are no longer kept in ${this.#file}: ${why}. They are lost if this process ends before the engine is back.`,
      );
  }

  /**
   * Tells what dead processes of this user have kept, and that their sessions are over.
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
        // Where none of the sessions is known, the database is older, and their places are those of others.
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
    // What was heard is told first: whoever waits for a session goes on once that is over.
    await pool.query('UPDATE promptpress.sessions SET over = true, ended = true WHERE token = ANY ($1)', [
      tokens,
    ]);
  }

  /** Leaves the file to others where something in it was not told, or a session is not known to be over. */
  close(): void {
    this.#unlisten();
    if (this.#noted.length + this.#sessions.size === 0) remove(this.#file);
    this.#database.close();
    for (const database of this.#found.values()) database.close();
  }
}

/** The file of a process that is dead; undefined: it lives, or may be about to begin. */
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
    // Busy: its process lives. It may be gone since, too.
    if (code === 5 || code === 14 || (error as { code?: unknown }).code === 'ENOENT') return undefined;
    // Its process died before it had made a table.
    if (code === 1 && now - statSync(file).mtimeMs > youngMs) remove(file);
    return undefined;
  }
}

function remove(file: string): void {
  for (const name of databaseFiles(file)) rmSync(name, { force: true });
}
