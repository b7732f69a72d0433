/** Marks a file as promptpress's state (`PRAGMA application_id`): "PPst" in ASCII. */
export const applicationId = 0x50507374;

/** `PRAGMA application_id` of states written before 0.1.0, which this release does not read. */
export const formerApplicationId = 0x50507273;

/** Version of {@link stateSchema} (`PRAGMA user_version`). */
export const stateVersion = 1;

/**
 * The declarations of a state.
 *
 * A job's row has an integer id beside its key, so that wide documents lie in the order in which they came and the indexes with keys
 * stay narrow. The columns beside `doc` are searched and summed. Texts of models lie in `texts` (`job` is the id of the job's row), so
 * that reading or changing jobs does not load them.
 *
 * `jobs_open` leaves out finished jobs: it grows with the work in flight and the failures only, not with the directory. Most jobs are
 * roots: `jobs_child` has the few others in the order in which they came, and all other keys are roots (`query.ts`). `jobs_slot` begins
 * with a part of a slot: two of a million slots seldom begin alike, and a query compares the whole.
 *
 * `totals` are kept beside the jobs, because counting a million rows is too slow for a status that is read every second. A writer of
 * jobs changes them once a commit (`totals.ts`).
 *
 * `inputs` are the files that the pipeline names, `redos` the jobs that the user wants to redo, in all orders ever: `state` is the
 * position in the list of states (`redo-order.ts`), `asked` names the requested set of jobs.
 */
export const stateSchema = `
  CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY,
    key      TEXT NOT NULL UNIQUE,
    status   TEXT NOT NULL,
    code     TEXT NOT NULL,
    root     INTEGER NOT NULL,
    slot     TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    cost     REAL NOT NULL,
    tokens   INTEGER NOT NULL,
    possible REAL NOT NULL,
    assumed  INTEGER NOT NULL,
    doc      TEXT NOT NULL
  ) STRICT;
  CREATE INDEX jobs_open ON jobs (status, key, code) WHERE status <> 'done';
  CREATE INDEX jobs_child ON jobs (root) WHERE root = 0;
  CREATE INDEX jobs_slot ON jobs (substr(slot, 1, 8));

  CREATE TABLE texts (
    job INTEGER PRIMARY KEY,
    doc TEXT NOT NULL
  ) STRICT;

  CREATE TABLE totals (
    status   TEXT NOT NULL,
    code     TEXT NOT NULL,
    jobs     INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    cost     REAL NOT NULL,
    tokens   INTEGER NOT NULL,
    possible REAL NOT NULL,
    assumed  INTEGER NOT NULL,
    PRIMARY KEY (status, code)
  ) WITHOUT ROWID, STRICT;

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

  CREATE TABLE inputs (
    path   TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    bytes  INTEGER NOT NULL,
    mtime  REAL NOT NULL
  ) WITHOUT ROWID, STRICT;

  CREATE TABLE redos (
    key   TEXT PRIMARY KEY,
    state INTEGER NOT NULL,
    asked TEXT NOT NULL
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX redos_open ON redos (state, key) WHERE state < 3;
`;
