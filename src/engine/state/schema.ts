import { tablesSchema } from './tables.ts';
import { turnFunctions } from './turn-functions.ts';

/**
 * The tables of runs, sessions and slices. A lease of a slice is named `session/slice/epoch`: it is over once it, or its session, is marked
 * as over.
 *
 * Of a run, `fed_upto` is the number of the last cell that is in a slice. Slice numbers are never used twice, so that unfinished jobs of a
 * slice of an earlier invocation keep an owner of their own; `first_slice` is the first of the invocation. `begun` and `failed_before` say
 * when the invocation began, and how many failures were counted until then; `redos_failed`, `grids_cut` and `timed_out` are totals of its
 * workers. `lead_epoch` and `lead_until`: which process leads the run, and when its lease expires; `carer` and `cared_until`: which worker
 * takes care of a run without a coordinator.
 *
 * Of a session, `lease_ms` is its lease: other processes compute from it when the session is over. `ended`: the session has ended itself,
 * or its process is known to be gone, so nothing more comes from it; one that is only `over` may still receive the answer to a text call.
 * `service` to `given` are its worker's shares of limits and budgets (`limits/`).
 *
 * Of a slice that is done, `below_doubt` says that jobs in its cells wait for an unconfirmed one, in any slice. A slice of groups
 * (`deal.ts`) `waits` until all slices before it are done that have a `last_cell`, from number `waits_from` on.
 *
 * Rows that show who is alive change often, and in place.
 *
 * A commit holds the rows of its slices `FOR SHARE`. A worker that takes a slice over changes its epoch, and so waits for commits in
 * flight; later ones of the former holder find another epoch. No clock is involved.
 */
const slices = `
  CREATE TABLE runs (
    run        int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    state      text NOT NULL DEFAULT 'open',
    invocation bigint NOT NULL DEFAULT 0,
    segments   int NOT NULL DEFAULT 0,
    started    timestamptz NOT NULL DEFAULT clock_timestamp(),
    spec       text,
    fed        boolean NOT NULL DEFAULT false,
    fed_upto   bigint NOT NULL DEFAULT 0,
    next_slice int NOT NULL DEFAULT 1,
    first_slice int NOT NULL DEFAULT 1,
    ended      text,
    begun      timestamptz NOT NULL DEFAULT clock_timestamp(),
    failed_before bigint NOT NULL DEFAULT 0,
    redos_failed  bigint NOT NULL DEFAULT 0,
    grids_cut  bigint NOT NULL DEFAULT 0,
    timed_out  bigint NOT NULL DEFAULT 0,
    lead_epoch bigint NOT NULL DEFAULT 0,
    lead_until timestamptz,
    carer      text,
    cared_until timestamptz
  ) WITH (fillfactor = 50);
  CREATE TABLE sessions (
    session bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name    text NOT NULL,
    started timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen    timestamptz NOT NULL DEFAULT clock_timestamp(),
    over    boolean NOT NULL DEFAULT false,
    ended   boolean NOT NULL DEFAULT false,
    run     int,
    lease_ms int NOT NULL DEFAULT 30000,
    token   uuid NOT NULL DEFAULT gen_random_uuid(),
    service text,
    shared  boolean NOT NULL DEFAULT false,
    asked   bigint NOT NULL DEFAULT 0,
    shares  jsonb,
    given   jsonb
  ) WITH (fillfactor = 50);
  CREATE INDEX sessions_run ON sessions (run);
  CREATE INDEX sessions_shared ON sessions (service) WHERE shared;
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
    below_doubt  boolean NOT NULL DEFAULT false,
    last_cell    bigint,
    waits_from   int,
    PRIMARY KEY (run, n)
  ) WITH (fillfactor = 80);
  CREATE INDEX slices_open ON slices (run, n) WHERE NOT done;
  -- Empty but for plans with groups.
  CREATE INDEX slices_last_cell ON slices (run, last_cell, n) WHERE last_cell IS NOT NULL;
  -- Few: who watches a run sums them each second.
  CREATE INDEX slices_takeovers ON slices (run) WHERE takeovers > 0;
  CREATE TABLE leases_over (
    run   int NOT NULL,
    slice int NOT NULL,
    epoch bigint NOT NULL,
    PRIMARY KEY (run, slice, epoch)
  );

  CREATE FUNCTION waits(the_run int, from_n int, before_n int) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT from_n IS NOT NULL AND EXISTS (
      SELECT FROM promptpress.slices
      WHERE run = the_run AND n >= from_n AND n < before_n AND NOT done AND last_cell IS NOT NULL
    )
  $$;

  CREATE FUNCTION is_over(the_run int, sender text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM promptpress.sessions WHERE session = split_part(sender, '/', 1)::bigint AND over
      ) OR EXISTS (
        SELECT FROM promptpress.leases_over
        WHERE run = the_run AND slice = split_part(sender, '/', 2)::int AND epoch = split_part(sender, '/', 3)::bigint
      )
  $$;

  CREATE FUNCTION receives_nothing(the_run int, sender text, text_ms bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM promptpress.sessions s WHERE s.session = split_part(sender, '/', 1)::bigint
          AND (s.ended OR (s.over AND s.seen + (1.5 * s.lease_ms + text_ms) * interval '1 ms' < clock_timestamp()))
      ) OR EXISTS (
        SELECT FROM promptpress.leases_over
        WHERE run = the_run AND slice = split_part(sender, '/', 2)::int AND epoch = split_part(sender, '/', 3)::bigint
      )
  $$;
`;

/**
 * The tables of a run's records.
 *
 * The indexes name no column that changes while a job is in progress, except `open`, which changes twice: so most updates are HOT and touch
 * no index. None but the key's begins with `run`: a plan made for few rows must not choose another index to find a job. `number` orders
 * jobs by their creation. Slice 0 has no holder: it stands for writes without a slice.
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
    lease     text COLLATE "C" NOT NULL,
    task      text,
    -- What was heard late of a text call.
    answer    text,
    PRIMARY KEY (run, key, submitted, lease)
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
    invocation bigint NOT NULL DEFAULT 0,
    -- Why the coordinator cannot use the file.
    error  text,
    -- A copy lies in the place of the run.
    shared boolean NOT NULL DEFAULT false,
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

/** The part of an engine's schema for the state of runs. */
export const stateSchema: string = slices + records + tablesSchema + turnFunctions;
