import type { Database } from './sqlite.ts';

/** Marks a file as promptpress's state (`PRAGMA application_id`): "PPrs" in ASCII. */
export const applicationId = 0x50507273;

/** Takes a database from one schema version to the next, within a transaction. */
export type Migration = (database: Database) => void;

/**
 * Version 1.
 *
 * A job's row has an integer id beside its key, so that wide documents lie in the order in which they came and the
 * indexes that hold keys stay narrow. The columns beside `doc` are what is searched and summed.
 *
 * `jobs_open` leaves out finished jobs: it stays as small as the work in flight and the failures, whatever the size
 * of the directory. `totals` is kept by triggers, because counting a million rows is too slow for a status that asks
 * every second.
 */
const create: Migration = (database) => {
  database.exec(`
    CREATE TABLE jobs (
      id       INTEGER PRIMARY KEY,
      key      TEXT NOT NULL UNIQUE,
      status   TEXT NOT NULL,
      code     TEXT NOT NULL,
      root     INTEGER NOT NULL,
      slot     TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      cost     REAL NOT NULL,
      doc      TEXT NOT NULL
    ) STRICT;
    CREATE INDEX jobs_open ON jobs (status, key, code) WHERE status <> 'done';
    CREATE INDEX jobs_slot ON jobs (slot);
    CREATE INDEX jobs_root ON jobs (key) WHERE root = 1;

    CREATE TABLE totals (
      status   TEXT NOT NULL,
      code     TEXT NOT NULL,
      jobs     INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      cost     REAL NOT NULL,
      PRIMARY KEY (status, code)
    ) WITHOUT ROWID, STRICT;
    CREATE TRIGGER jobs_added AFTER INSERT ON jobs BEGIN
      INSERT INTO totals VALUES (NEW.status, NEW.code, 1, NEW.attempts, NEW.cost)
        ON CONFLICT DO UPDATE
        SET jobs = jobs + 1, attempts = attempts + excluded.attempts, cost = cost + excluded.cost;
    END;
    CREATE TRIGGER jobs_removed AFTER DELETE ON jobs BEGIN
      UPDATE totals SET jobs = jobs - 1, attempts = attempts - OLD.attempts, cost = cost - OLD.cost
        WHERE status = OLD.status AND code = OLD.code;
    END;
    CREATE TRIGGER jobs_replaced AFTER UPDATE ON jobs BEGIN
      UPDATE totals SET jobs = jobs - 1, attempts = attempts - OLD.attempts, cost = cost - OLD.cost
        WHERE status = OLD.status AND code = OLD.code;
      INSERT INTO totals VALUES (NEW.status, NEW.code, 1, NEW.attempts, NEW.cost)
        ON CONFLICT DO UPDATE
        SET jobs = jobs + 1, attempts = attempts + excluded.attempts, cost = cost + excluded.cost;
    END;

    CREATE TABLE attempts (
      id  INTEGER PRIMARY KEY,
      key TEXT NOT NULL,
      doc TEXT NOT NULL
    ) STRICT;
    CREATE INDEX attempts_key ON attempts (key);

    CREATE TABLE facts (
      name  TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) WITHOUT ROWID, STRICT;
  `);
};

/**
 * Version 2: what text jobs bring. `tokens` is what their answers are known to have taken; jobs of version 1 took none.
 * `inputs` are the files that the pipeline names.
 */
const addText: Migration = (database) => {
  database.exec(`
    ALTER TABLE jobs ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE totals ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;

    DROP TRIGGER jobs_added;
    DROP TRIGGER jobs_removed;
    DROP TRIGGER jobs_replaced;
    CREATE TRIGGER jobs_added AFTER INSERT ON jobs BEGIN
      INSERT INTO totals VALUES (NEW.status, NEW.code, 1, NEW.attempts, NEW.cost, NEW.tokens)
        ON CONFLICT DO UPDATE
        SET jobs = jobs + 1, attempts = attempts + excluded.attempts, cost = cost + excluded.cost,
          tokens = tokens + excluded.tokens;
    END;
    CREATE TRIGGER jobs_removed AFTER DELETE ON jobs BEGIN
      UPDATE totals SET jobs = jobs - 1, attempts = attempts - OLD.attempts, cost = cost - OLD.cost,
          tokens = tokens - OLD.tokens
        WHERE status = OLD.status AND code = OLD.code;
    END;
    CREATE TRIGGER jobs_replaced AFTER UPDATE ON jobs BEGIN
      UPDATE totals SET jobs = jobs - 1, attempts = attempts - OLD.attempts, cost = cost - OLD.cost,
          tokens = tokens - OLD.tokens
        WHERE status = OLD.status AND code = OLD.code;
      INSERT INTO totals VALUES (NEW.status, NEW.code, 1, NEW.attempts, NEW.cost, NEW.tokens)
        ON CONFLICT DO UPDATE
        SET jobs = jobs + 1, attempts = attempts + excluded.attempts, cost = cost + excluded.cost,
          tokens = tokens + excluded.tokens;
    END;

    CREATE TABLE inputs (
      path   TEXT PRIMARY KEY,
      sha256 TEXT NOT NULL,
      bytes  INTEGER NOT NULL,
      mtime  REAL NOT NULL
    ) WITHOUT ROWID, STRICT;
  `);
};

/** Version 3: possible cost of submissions without a response. Jobs of earlier versions do not have it. */
const addPossibleCost: Migration = (database) => {
  database.exec(`
    ALTER TABLE jobs ADD COLUMN possible REAL NOT NULL DEFAULT 0;
    ALTER TABLE totals ADD COLUMN possible REAL NOT NULL DEFAULT 0;

    DROP TRIGGER jobs_added;
    DROP TRIGGER jobs_removed;
    DROP TRIGGER jobs_replaced;
    CREATE TRIGGER jobs_added AFTER INSERT ON jobs BEGIN
      INSERT INTO totals VALUES (NEW.status, NEW.code, 1, NEW.attempts, NEW.cost, NEW.tokens, NEW.possible)
        ON CONFLICT DO UPDATE
        SET jobs = jobs + 1, attempts = attempts + excluded.attempts, cost = cost + excluded.cost,
          tokens = tokens + excluded.tokens, possible = possible + excluded.possible;
    END;
    CREATE TRIGGER jobs_removed AFTER DELETE ON jobs BEGIN
      UPDATE totals SET jobs = jobs - 1, attempts = attempts - OLD.attempts, cost = cost - OLD.cost,
          tokens = tokens - OLD.tokens, possible = possible - OLD.possible
        WHERE status = OLD.status AND code = OLD.code;
    END;
    CREATE TRIGGER jobs_replaced AFTER UPDATE ON jobs BEGIN
      UPDATE totals SET jobs = jobs - 1, attempts = attempts - OLD.attempts, cost = cost - OLD.cost,
          tokens = tokens - OLD.tokens, possible = possible - OLD.possible
        WHERE status = OLD.status AND code = OLD.code;
      INSERT INTO totals VALUES (NEW.status, NEW.code, 1, NEW.attempts, NEW.cost, NEW.tokens, NEW.possible)
        ON CONFLICT DO UPDATE
        SET jobs = jobs + 1, attempts = attempts + excluded.attempts, cost = cost + excluded.cost,
          tokens = tokens + excluded.tokens, possible = possible + excluded.possible;
    END;
  `);
};

/**
 * Version 4: estimated tokens of replies without a token count. Records also say from now on which results they were made
 * from: an earlier release would redo a job and leave the jobs that came from it.
 */
const addAssumedTokens: Migration = (database) => {
  database.exec(`
    ALTER TABLE jobs ADD COLUMN assumed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE totals ADD COLUMN assumed INTEGER NOT NULL DEFAULT 0;

    DROP TRIGGER jobs_added;
    DROP TRIGGER jobs_removed;
    DROP TRIGGER jobs_replaced;
    CREATE TRIGGER jobs_added AFTER INSERT ON jobs BEGIN
      INSERT INTO totals VALUES (NEW.status, NEW.code, 1, NEW.attempts, NEW.cost, NEW.tokens, NEW.possible, NEW.assumed)
        ON CONFLICT DO UPDATE
        SET jobs = jobs + 1, attempts = attempts + excluded.attempts, cost = cost + excluded.cost,
          tokens = tokens + excluded.tokens, possible = possible + excluded.possible,
          assumed = assumed + excluded.assumed;
    END;
    CREATE TRIGGER jobs_removed AFTER DELETE ON jobs BEGIN
      UPDATE totals SET jobs = jobs - 1, attempts = attempts - OLD.attempts, cost = cost - OLD.cost,
          tokens = tokens - OLD.tokens, possible = possible - OLD.possible, assumed = assumed - OLD.assumed
        WHERE status = OLD.status AND code = OLD.code;
    END;
    CREATE TRIGGER jobs_replaced AFTER UPDATE ON jobs BEGIN
      UPDATE totals SET jobs = jobs - 1, attempts = attempts - OLD.attempts, cost = cost - OLD.cost,
          tokens = tokens - OLD.tokens, possible = possible - OLD.possible, assumed = assumed - OLD.assumed
        WHERE status = OLD.status AND code = OLD.code;
      INSERT INTO totals VALUES (NEW.status, NEW.code, 1, NEW.attempts, NEW.cost, NEW.tokens, NEW.possible, NEW.assumed)
        ON CONFLICT DO UPDATE
        SET jobs = jobs + 1, attempts = attempts + excluded.attempts, cost = cost + excluded.cost,
          tokens = tokens + excluded.tokens, possible = possible + excluded.possible,
          assumed = assumed + excluded.assumed;
    END;
  `);
};

/** Version 5: whoever commits jobs changes the totals with them (`totals.ts`), once a commit and not once a row. */
const dropTriggers: Migration = (database) => {
  database.exec(`
    DROP TRIGGER jobs_added;
    DROP TRIGGER jobs_removed;
    DROP TRIGGER jobs_replaced;
  `);
};

/**
 * Version 6: what models said lies in a table of its own, so that whoever reads or changes jobs does not carry it along. Jobs of earlier
 * versions have it in their documents. `job` is the id of the job's row.
 */
const addTexts: Migration = (database) => {
  database.exec(`
    CREATE TABLE texts (
      job INTEGER PRIMARY KEY,
      doc TEXT NOT NULL
    ) STRICT;
  `);
};

/**
 * Version 7: fewer entries on pages of their own. Keys and slots are hashes, so that each index over them costs a new job a page of
 * the log.
 *
 * `jobs_root` is gone: most jobs are roots. `jobs_child` has the few others in the order in which they came, and roots are the keys
 * that it leaves (`query.ts`). `jobs_slot` begins with less than a slot: two of a million slots seldom begin alike, and a query
 * compares the whole.
 */
const narrowIndexes: Migration = (database) => {
  database.exec(`
    DROP INDEX jobs_root;
    DROP INDEX jobs_slot;
    CREATE INDEX jobs_child ON jobs (root) WHERE root = 0;
    CREATE INDEX jobs_slot ON jobs (substr(slot, 1, 8));
  `);
};

/**
 * Version 8: the jobs that the user wants made anew (`redo-order.ts`), in all orders that ever were. `state` is the place in the list of
 * states; `asked` names the set of jobs that was asked for.
 */
const addRedos: Migration = (database) => {
  database.exec(`
    CREATE TABLE redos (
      key   TEXT PRIMARY KEY,
      state INTEGER NOT NULL,
      asked TEXT NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX redos_open ON redos (state, key) WHERE state < 3;
  `);
};

/**
 * The earliest version that this release can read as it lies: what later ones added may be missing. An older one must be
 * brought up to date first.
 */
export const earliestReadable = 2;

/** The migration at index i leads to version i + 1. Entries are never changed, only added. */
export const migrations: readonly Migration[] = [
  create,
  addText,
  addPossibleCost,
  addAssumedTokens,
  dropTriggers,
  addTexts,
  narrowIndexes,
  addRedos,
];
