/**
 * What a run is made of, and how far its cells were fed: `fed_upto` is the number of the last cell that is in a slice. The numbers of
 * slices are never used twice, so that what a slice of an earlier invocation left has an owner of its own. `begun` and `failed_before` are of
 * the invocation: when it began, and how many failures were counted until then; so is `first_slice`, from which on its slices are
 * numbered. `redos_failed` and `grids_cut` are what its workers have told of it. `lease_ms` is a worker's own lease: by it others
 * reckon when it is over.
 */
export const slicesSchema = `
  ALTER TABLE runs ADD COLUMN spec text, ADD COLUMN fed boolean NOT NULL DEFAULT false, ADD COLUMN fed_upto bigint NOT NULL DEFAULT 0,
    ADD COLUMN next_slice int NOT NULL DEFAULT 1, ADD COLUMN first_slice int NOT NULL DEFAULT 1, ADD COLUMN ended text,
    ADD COLUMN begun timestamptz NOT NULL DEFAULT clock_timestamp(), ADD COLUMN failed_before bigint NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN redos_failed bigint NOT NULL DEFAULT 0, ADD COLUMN grids_cut bigint NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN run int, ADD COLUMN lease_ms int NOT NULL DEFAULT 30000;
  ALTER TABLE inputs ADD COLUMN invocation bigint NOT NULL DEFAULT 0;
  CREATE INDEX slices_open ON slices (run, n) WHERE NOT done;
  -- Few: who watches a run sums them each second.
  CREATE INDEX slices_takeovers ON slices (run) WHERE takeovers > 0;
  CREATE INDEX sessions_run ON sessions (run);
`;

/** `below_doubt`: of a slice that is done, some cell has jobs left that wait for one in doubt, of whichever slice. */
export const belowDoubtSchema = 'ALTER TABLE slices ADD COLUMN below_doubt boolean NOT NULL DEFAULT false';

/** `timed_out`: what workers have told of an invocation, as `grids_cut`. */
export const timedOutSchema = 'ALTER TABLE runs ADD COLUMN timed_out bigint NOT NULL DEFAULT 0';

/**
 * `lead_epoch` and `lead_until`: which process leads a run, and until when it need not show that it is there; `carer` and `cared_until`: which
 * worker does what is to be done for a run that nobody leads. Rows that show who is there change often, and in place.
 */
export const liveSchema = `
  ALTER TABLE runs ADD COLUMN lead_epoch bigint NOT NULL DEFAULT 0, ADD COLUMN lead_until timestamptz,
    ADD COLUMN carer text, ADD COLUMN cared_until timestamptz;
  ALTER TABLE runs SET (fillfactor = 50);
  ALTER TABLE sessions SET (fillfactor = 50);
`;
