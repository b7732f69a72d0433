import { writerColumns } from './rows.ts';

/** Columns of `jobs` that are summed in `totals`. */
const sums = ['attempts', 'cost', 'tokens', 'possible', 'assumed'] as const;

/** Columns with the spending counted for a job. */
const charges = ['charged_cost', 'charged_tokens'] as const;

const each = (template: (name: string) => string): string => sums.map(template).join(', ');

const columns =
  'key text, slice int, rev bigint, seen_slice int, seen_rev bigint, status text, code text, root boolean, slot text, step text, ' +
  'attempts int, cost float8, tokens bigint, possible float8, assumed bigint, unanswered int, sender text, unheard text, ' +
  'charged_cost float8, charged_tokens bigint, redo smallint, fails boolean';

const lineRows = (text: string): string => `unnest(string_to_array(${text}, E'\\n'))`;

/** SQL: writes late facts; known ones stay unchanged. @param facts the expression of their JSON */
export const noteFacts = (run: string, facts: string): string =>
  `INSERT INTO promptpress.facts_late AS f (run, key, submitted, lease, task, answer)
   SELECT ${run}, h.key, h.submitted, h.lease, h.task, h.answer
   FROM json_to_recordset(${facts}) AS h(key text, submitted bigint, lease text, task text, answer text)
   ORDER BY h.key, h.submitted, h.lease
   ON CONFLICT (run, key, submitted, lease) DO UPDATE
   SET task = coalesce(f.task, excluded.task), answer = coalesce(f.answer, excluded.answer)`;

const isOpen = "k.status IN ('pending', 'submitting', 'running', 'modal', 'saving')";
const isTrouble = "k.status IN ('failed', 'in-doubt')";

/**
 * The SQL function for one turn, as one statement of the client: its fencing values, records, attempts, totals, replies and facts.
 *
 * A record is written where its key is new, where its own slice wrote it last and no later, or where its job waits and the record is as the
 * client saw it. A turn repeated because its answer was lost changes nothing. The settings avoid a plan that is fast for a small table
 * only: each key is looked up by the index, in order, so that two turns never wait for one another.
 */
const commitFunction = `
  CREATE FUNCTION commit_turn(
    the_run int, the_session bigint, the_worker text, held int[], epochs bigint[],
    records json, docs text, sayings text, tries json, try_docs text, places json, lines text, heard json, kept json, submits bigint
  ) RETURNS json LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
  AS $$
  DECLARE
    mine int[] := '{}';
    refused text[] := '{}';
    others json;
    base bigint;
    sent bigint := 0;
    fell bigint := 0;
    spent record;
  BEGIN
    IF cardinality(held) > 0 THEN
      SELECT coalesce(array_agg(locked.n), '{}') INTO mine
      FROM (
        SELECT s.n, s.epoch, s.holder FROM promptpress.slices s WHERE s.run = the_run AND s.n = ANY(held) ORDER BY s.n FOR SHARE
      ) AS locked
      -- After an older database was put back, slices are fed whose numbers and epochs somebody else may hold who was cut off.
      WHERE locked.epoch = epochs[array_position(held, locked.n)] AND locked.holder = the_session;
    END IF;

    IF records IS NOT NULL THEN
      base := nextval('promptpress.turns') << 20;
      WITH given AS MATERIALIZED (
        SELECT r.*, nullif(r.saying, '') AS said FROM ROWS FROM (
          json_to_recordset(records) AS (${columns}), ${lineRows('docs')}, ${lineRows('sayings')}
        ) WITH ORDINALITY AS r(key, slice, rev, seen_slice, seen_rev, status, code, root, slot, step,
          attempts, cost, tokens, possible, assumed, unanswered, sender, unheard,
          charged_cost, charged_tokens, redo, fails, doc, saying, place)
        WHERE r.slice = 0 OR r.slice = ANY(mine)
        ORDER BY r.key COLLATE "C"
      ), known AS MATERIALIZED (
        SELECT g.*, old.* FROM given g LEFT JOIN LATERAL (
          SELECT j.ctid AS row, j.slice AS was_slice, j.rev AS was_rev, j.status AS was_status, j.code AS was_code,
            ${[...sums, ...charges].map((name) => `j.${name} AS was_${name}`).join(', ')}
          FROM promptpress.jobs j WHERE j.run = the_run AND j.key = g.key OFFSET 0
        ) AS old ON true
      ), replaced AS (
        UPDATE promptpress.jobs j SET
          slice = k.slice, rev = k.rev, session = the_session, status = k.status, code = k.code, root = k.root, slot = k.slot,
          step = k.step, unanswered = k.unanswered, sender = k.sender, doc = k.doc, said = k.said, open = ${isOpen}, trouble = ${isTrouble},
          ${[...sums, ...charges].map((name) => `${name} = k.${name}`).join(', ')}
        FROM known k
        WHERE j.ctid = k.row AND j.run = the_run AND j.key = k.key AND (
          (k.was_slice = k.slice AND (k.was_rev = k.rev OR (k.slice <> 0 AND k.was_rev < k.rev)))
          OR (k.was_slice = k.seen_slice AND k.was_rev = k.seen_rev
            AND (k.slice = 0 OR k.was_status IN ('done', 'failed', 'in-doubt', 'pending', 'modal'))))
          -- The answer to a text call that was taken over is known by now: it is not made again.
          AND NOT (k.status = 'submitting' AND k.unheard IS NOT NULL AND EXISTS (
            SELECT FROM promptpress.facts_late f WHERE f.run = the_run AND f.key = k.key AND f.answer IS NOT NULL
              AND f.submitted || '/' || f.lease = ANY (string_to_array(k.unheard, ' '))))
        RETURNING k.key, k.slice, k.status, k.code, ${each((name) => `k.${name}`)}, j.number,
          k.was_status, k.was_code, ${each((name) => `k.was_${name}`)}
      ), added AS (
        INSERT INTO promptpress.jobs AS j (run, key, number, slice, rev, session, status, code, root, slot, step, unanswered,
          sender, doc, said, open, trouble, ${[...sums, ...charges].join(', ')})
        SELECT the_run, k.key, base + k.place, k.slice, k.rev, the_session, k.status, k.code, k.root, k.slot, k.step, k.unanswered,
          k.sender, k.doc, k.said, ${isOpen}, ${isTrouble}, ${[...sums, ...charges].map((name) => `k.${name}`).join(', ')}
        FROM known k WHERE k.row IS NULL
        ON CONFLICT (run, key) DO NOTHING
        RETURNING key, slice, status, code, ${each((name) => name)}, number
      ), changes AS MATERIALIZED (
        SELECT slice, status, code, 1 AS jobs, ${each((name) => name)}, number FROM replaced
        UNION ALL
        SELECT slice, was_status, was_code, -1, ${each((name) => `-was_${name}`)}, 0 FROM replaced
        UNION ALL
        SELECT slice, status, code, 1, ${each((name) => name)}, number FROM added
      ), summed AS (
        INSERT INTO promptpress.totals AS t (run, slice, status, code, jobs, ${each((name) => name)}, last)
        SELECT the_run, slice, status, code, sum(jobs), ${each((name) => `sum(${name})`)}, max(number)
        FROM changes GROUP BY slice, status, code
        HAVING sum(jobs) <> 0 OR ${sums.map((name) => `sum(${name}) <> 0`).join(' OR ')}
        ORDER BY slice, status, code
        ON CONFLICT (run, slice, status, code) DO UPDATE SET jobs = t.jobs + excluded.jobs,
          ${each((name) => `${name} = t.${name} + excluded.${name}`)}, last = greatest(t.last, excluded.last)
      ), written AS MATERIALIZED (
        SELECT key FROM replaced UNION ALL SELECT key FROM added
      )
      SELECT coalesce(sum(k.attempts - coalesce(k.was_attempts, 0)) FILTER (WHERE w), 0) AS attempts,
        -- A turn that is executed once more finds itself, and has spent nothing.
        coalesce(sum(k.charged_cost - coalesce(k.was_charged_cost, 0)) FILTER (WHERE w), 0) AS cost,
        coalesce(sum(k.charged_tokens - coalesce(k.was_charged_tokens, 0)) FILTER (WHERE w), 0) AS tokens,
        count(*) FILTER (WHERE w AND k.fails AND k.was_status IS DISTINCT FROM 'failed') AS failures,
        count(k.redo) FILTER (WHERE w) AS redos,
        coalesce(array_agg(k.key) FILTER (WHERE NOT w), '{}') AS refused
      INTO spent
      FROM (SELECT *, key IN (SELECT key FROM written) AS w FROM known OFFSET 0) AS k;
      sent := spent.attempts;
      fell := spent.failures;
      refused := spent.refused;
      IF spent.redos > 0 THEN
        UPDATE promptpress.redos o SET state = r.redo
        FROM (
          SELECT * FROM json_to_recordset(records) AS given(key text, slice int, redo smallint)
          WHERE redo IS NOT NULL AND (slice = 0 OR slice = ANY(mine)) AND key <> ALL(refused) ORDER BY key COLLATE "C" OFFSET 0
        ) AS r
        WHERE o.run = the_run AND o.key = r.key AND o.state < 2;
      END IF;
    END IF;

    IF tries IS NOT NULL THEN
      INSERT INTO promptpress.attempts (run, key, slice, rev, part, number, task, doc)
      SELECT the_run, t.key, t.slice, t.rev, t.part, nextval('promptpress.turns'), t.task, t.doc
      FROM ROWS FROM (
        json_to_recordset(tries) AS (key text, slice int, rev bigint, part int, task text), ${lineRows('try_docs')}
      ) AS t(key, slice, rev, part, task, doc)
      WHERE (t.slice = 0 OR t.slice = ANY(mine)) AND t.key <> ALL(refused)
      ON CONFLICT DO NOTHING;
    END IF;
    IF lines IS NOT NULL THEN
      INSERT INTO promptpress.replies SELECT the_run, l.segment, l.start, l.line
      FROM ROWS FROM (json_to_recordset(places) AS (segment int, start bigint), ${lineRows('lines')}) AS l(segment, start, line)
      ON CONFLICT DO NOTHING;
    END IF;
    IF heard IS NOT NULL THEN
      ${noteFacts('the_run', 'heard')};
    END IF;
    DELETE FROM promptpress.facts WHERE run = the_run AND name = 'run.fingerprint';
    IF kept IS NOT NULL THEN
      INSERT INTO promptpress.facts AS f SELECT the_run, k.name, k.value
      FROM json_to_recordset(kept) AS k(name text, value text) ORDER BY k.name
      ON CONFLICT (run, name) DO UPDATE SET value = excluded.value WHERE f.value <> excluded.value;
    END IF;
    IF cardinality(held) > 0 THEN
      submits := sent;
    END IF;
    IF submits <> 0 OR fell <> 0 THEN
      INSERT INTO promptpress.totals AS t (run, slice, status, code, attempts, failures)
      VALUES (the_run, coalesce(mine[1], 0), '', '', submits, fell)
      ON CONFLICT (run, slice, status, code) DO UPDATE SET attempts = t.attempts + excluded.attempts,
        failures = t.failures + excluded.failures;
    END IF;
    IF the_worker IS NOT NULL AND records IS NOT NULL THEN
      IF sent <> 0 OR spent.cost <> 0 OR spent.tokens <> 0 THEN
        PERFORM promptpress.purse_spend(the_run, the_worker, sent, spent.cost, spent.tokens);
      END IF;
    END IF;
    IF cardinality(refused) > 0 THEN
      SELECT json_agg(other) INTO others
      FROM unnest(refused) AS r(key) CROSS JOIN LATERAL (
        SELECT ${writerColumns('0')} FROM promptpress.jobs j WHERE j.run = the_run AND j.key = r.key OFFSET 0
      ) AS other;
    END IF;
    RETURN json_build_object('mine', mine, 'others', others);
  END $$;
`;

/** Adds the sums of a finished slice to one row of the run, so that few rows stay, however many slices there were. */
const fold = `
  CREATE FUNCTION fold_totals(the_run int, the_slice int) RETURNS void LANGUAGE sql AS $$
    WITH gone AS (
      DELETE FROM promptpress.totals WHERE run = the_run AND slice = the_slice RETURNING *
    )
    INSERT INTO promptpress.totals AS t (run, slice, status, code, jobs, ${each((name) => name)}, failures, last)
    SELECT run, -1, status, code, jobs, ${each((name) => name)}, failures, last FROM gone ORDER BY status, code
    ON CONFLICT (run, slice, status, code) DO UPDATE SET jobs = t.jobs + excluded.jobs,
      ${each((name) => `${name} = t.${name} + excluded.${name}`)},
      failures = t.failures + excluded.failures, last = greatest(t.last, excluded.last)
  $$;
`;

/** SQL functions that write to the tables of a run. */
export const turnFunctions: string = commitFunction + fold;
