import { tablesSchema } from './tables.ts';
import { turnFunctions } from './turn-functions.ts';

/**
 * The tables of runs, sessions and slices. A holding of a slice is named `session/slice/epoch`: it is over once it was said to be, or its
 * session was.
 *
 * A commit holds the rows of its slices `FOR SHARE`. Whoever takes a slice over changes its epoch, and so waits for commits under
 * way; later ones of the former holder find another epoch. No clock takes part.
 */
const slices = `
  CREATE TABLE runs (
    run        int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    state      text NOT NULL DEFAULT 'open',
    invocation bigint NOT NULL DEFAULT 0,
    segments   int NOT NULL DEFAULT 0,
    started    timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE TABLE sessions (
    session bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name    text NOT NULL,
    started timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen    timestamptz NOT NULL DEFAULT clock_timestamp(),
    over    boolean NOT NULL DEFAULT false
  );
  CREATE TABLE slices (
    run          int NOT NULL REFERENCES runs ON DELETE CASCADE,
    n            int NOT NULL CHECK (n > 0),
    epoch        bigint NOT NULL DEFAULT 0,
    holder       bigint,
    done         boolean NOT NULL DEFAULT false,
    cells        text,
    lease_holder text,
    lease_until  timestamptz,
    not_before   timestamptz,
    -- How often somebody took it from a worker that had not let go of it.
    takeovers    int NOT NULL DEFAULT 0,
    PRIMARY KEY (run, n)
  ) WITH (fillfactor = 80);
  CREATE TABLE holds_over (
    run   int NOT NULL,
    slice int NOT NULL,
    epoch bigint NOT NULL,
    PRIMARY KEY (run, slice, epoch)
  );

  CREATE FUNCTION is_over(the_run int, sender text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM promptpress.sessions WHERE session = split_part(sender, '/', 1)::bigint AND over
      ) OR EXISTS (
        SELECT FROM promptpress.holds_over
        WHERE run = the_run AND slice = split_part(sender, '/', 2)::int AND epoch = split_part(sender, '/', 3)::bigint
      )
  $$;
`;

/**
 * The tables of a run's records.
 *
 * The indexes name no column that changes while a job is under way, but for \`open\`, which changes twice: so most updates are HOT, and
 * touch no index. None but the key's begins with \`run\`: a plan that was made for few rows must not take it for one that finds a
 * job. \`number\` orders jobs as they came. Slice 0 is nobody's: what is written without a slice.
 */
const records = `
  CREATE TABLE jobs (
    run        int NOT NULL,
    slice      int NOT NULL,
    rev        bigint NOT NULL,
    number     bigint NOT NULL,
    session    bigint NOT NULL,
    tokens     bigint NOT NULL,
    assumed    bigint NOT NULL,
    cost       float8 NOT NULL,
    possible   float8 NOT NULL,
    -- What was counted for the job of what may be spent: what its request under way may use is in it.
    charged_cost   float8 NOT NULL DEFAULT 0,
    charged_tokens bigint NOT NULL DEFAULT 0,
    attempts   int NOT NULL,
    unanswered int NOT NULL,
    open       boolean NOT NULL,
    trouble    boolean NOT NULL,
    root       boolean NOT NULL,
    status     text NOT NULL,
    key        text COLLATE "C" NOT NULL,
    code       text NOT NULL,
    slot       text NOT NULL,
    step       text NOT NULL,
    sender     text,
    doc        text NOT NULL,
    said       text,
    PRIMARY KEY (run, key)
  ) WITH (fillfactor = 75);
  CREATE INDEX jobs_open ON jobs (run, slice) WHERE open;
  CREATE INDEX jobs_trouble ON jobs (run, key) WHERE trouble;
  CREATE INDEX jobs_root ON jobs (run, key) WHERE root;
  CREATE INDEX jobs_slot ON jobs (hashtextextended(slot, 0), run);
  -- Of a few pages: who watches a run asks for what came last.
  CREATE INDEX jobs_number ON jobs USING brin (number) WITH (pages_per_range = 16);
  CREATE SEQUENCE turns CACHE 1;

  CREATE TABLE attempts (
    run    int NOT NULL,
    slice  int NOT NULL,
    rev    bigint NOT NULL,
    part   int NOT NULL,
    number bigint NOT NULL,
    key    text COLLATE "C" NOT NULL,
    task   text,
    doc    text NOT NULL,
    PRIMARY KEY (run, key, slice, rev, part)
  );
  CREATE INDEX attempts_task ON attempts (hashtextextended(task, 0), run) WHERE task IS NOT NULL;
  CREATE INDEX attempts_number ON attempts USING brin (number) WITH (pages_per_range = 16);

  CREATE TABLE facts_late (
    run       int NOT NULL,
    key       text COLLATE "C" NOT NULL,
    submitted bigint NOT NULL,
    hold      text COLLATE "C" NOT NULL,
    task      text,
    PRIMARY KEY (run, key, submitted, hold)
  );

  CREATE TABLE totals (
    run      int NOT NULL,
    slice    int NOT NULL,
    jobs     bigint NOT NULL DEFAULT 0,
    attempts bigint NOT NULL DEFAULT 0,
    tokens   bigint NOT NULL DEFAULT 0,
    assumed  bigint NOT NULL DEFAULT 0,
    cost     float8 NOT NULL DEFAULT 0,
    possible float8 NOT NULL DEFAULT 0,
    last     bigint NOT NULL DEFAULT 0,
    -- How often a job has failed for good; in the row of a slice without a status.
    failures bigint NOT NULL DEFAULT 0,
    status   text NOT NULL,
    code     text NOT NULL,
    PRIMARY KEY (run, slice, status, code)
  ) WITH (fillfactor = 50);

  CREATE TABLE facts (
    run   int NOT NULL,
    name  text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (run, name)
  );
  CREATE TABLE inputs (
    run    int NOT NULL,
    path   text NOT NULL,
    sha256 text NOT NULL,
    bytes  bigint NOT NULL,
    mtime  float8 NOT NULL,
    PRIMARY KEY (run, path)
  );
  CREATE TABLE replies (
    run     int NOT NULL,
    segment int NOT NULL,
    start   bigint NOT NULL,
    line    text NOT NULL,
    PRIMARY KEY (run, segment, start)
  );
`;

/** What the state of runs needs in the schema of an engine. */
export const stateSchema: string = slices + records + tablesSchema + turnFunctions;
