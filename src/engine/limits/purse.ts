/**
 * The shared allowance of a run (submissions, those of this invocation, cost, tokens) for all of its workers. `given` is the total ever
 * granted to a worker. `purse_spend` counts what it uses in the transaction of the intent itself, so the rest of a dead worker is exactly
 * known and can be granted to others.
 */
export const purseSchema = `
CREATE TABLE purse (
  run integer NOT NULL,
  kind text NOT NULL,
  most double precision NOT NULL,
  PRIMARY KEY (run, kind)
);
CREATE TABLE purse_worker (
  run integer NOT NULL,
  kind text NOT NULL,
  worker text NOT NULL,
  used double precision NOT NULL,
  PRIMARY KEY (run, kind, worker)
) WITH (fillfactor = 50);

-- What a dead worker has stays its own until its slices are taken over: before that its tasks and intents are nobody else's.
CREATE FUNCTION limits_worker_holds(p_session bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM promptpress.slices s WHERE s.holder = p_session AND NOT s.done)
$$;

-- Sets what a run may spend: a document of numbers by kind. A kind that is not in it has no bound. Those of an invocation begin at 0. The slices
-- of workers of earlier invocations are fenced by now: what these were given they cannot use.
CREATE FUNCTION purse_open(p_run integer, p_most jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM promptpress.purse WHERE run = p_run AND NOT p_most ? kind;
  INSERT INTO promptpress.purse (run, kind, most) SELECT p_run, e.key, e.value::double precision FROM jsonb_each_text(p_most) e
  ON CONFLICT (run, kind) DO UPDATE SET most = excluded.most;
  DELETE FROM promptpress.purse_worker WHERE run = p_run AND kind = 'invocation';
  UPDATE promptpress.sessions SET given = NULL WHERE run = p_run AND given IS NOT NULL;
END $$;

-- Counts what the intents of a transaction use. Part of the commit.
CREATE FUNCTION purse_spend(p_run integer, p_worker text, p_submits double precision, p_cost double precision,
  p_tokens double precision) RETURNS void LANGUAGE sql AS $$
  INSERT INTO promptpress.purse_worker (run, kind, worker, used)
  SELECT p_run, k.kind, p_worker, k.used
  FROM (VALUES ('cost', p_cost), ('invocation', p_submits), ('submits', p_submits), ('tokens', p_tokens)) AS k(kind, used)
  WHERE k.used <> 0 ORDER BY k.kind
  ON CONFLICT (run, kind, worker) DO UPDATE SET used = purse_worker.used + excluded.used;
$$;

-- Gives a worker a part of what its run may spend. Part of the heartbeat.
--   p_given  all that it was ever given, by kind
--   p_needs  by kind: holds (what it uses at most until it has the answer, of all it was given; the rest goes back), need (beside that, at least)
-- Returns by kind: given, unclaimed (what nobody has), elsewhere (what others have and have not used).
CREATE FUNCTION purse_ask(p_run integer, p_session bigint, p_given jsonb, p_needs jsonb) RETURNS jsonb LANGUAGE plpgsql STRICT AS $$
DECLARE
  part record;
  spent double precision;
  used double precision;
  elsewhere double precision;
  parts integer;
  given double precision;
  unclaimed double precision;
  found jsonb := '{}';
BEGIN
  -- A worker that only gives back takes no lock: nobody else is given what it has while it is heard. After a silence that may be otherwise.
  IF EXISTS (SELECT FROM jsonb_each(p_needs) n WHERE (n.value ->> 'need')::double precision > 0)
    OR EXISTS (SELECT FROM promptpress.sessions s WHERE s.session = p_session AND s.seen < clock_timestamp() - interval '5 seconds') THEN
    PERFORM pg_advisory_xact_lock(7, p_run);
  END IF;
  FOR part IN
    SELECT p.kind, p.most, (n.value ->> 'holds')::double precision AS holds, (n.value ->> 'need')::double precision AS need
    FROM promptpress.purse p JOIN jsonb_each(p_needs) n ON n.key = p.kind WHERE p.run = p_run
  LOOP
    -- In one statement: an intent that is committed between two of them would be neither spent nor left to its worker.
    SELECT coalesce(sum(w.used), 0), coalesce(sum(w.used) FILTER (WHERE w.worker = p_session::text), 0), o.elsewhere, o.parts
    INTO spent, used, elsewhere, parts
    FROM (
      SELECT coalesce(sum(greatest(0, (s.given ->> part.kind)::double precision - coalesce(w.used, 0))), 0) AS elsewhere,
        greatest(8, 2 * count(*)) AS parts
      FROM promptpress.sessions s LEFT JOIN promptpress.purse_worker w ON w.run = p_run AND w.kind = part.kind AND w.worker = s.session::text
      WHERE s.run = p_run AND s.session <> p_session
        AND ((NOT s.over AND s.seen > clock_timestamp() - interval '10 seconds') OR promptpress.limits_worker_holds(s.session))
    ) o LEFT JOIN promptpress.purse_worker w ON w.run = p_run AND w.kind = part.kind GROUP BY o.elsewhere, o.parts;
    -- While it was silent, others may have been given what it had.
    unclaimed := part.most - spent - elsewhere;
    given := greatest(used, least(coalesce((p_given ->> part.kind)::double precision, 0), part.holds, used + unclaimed));
    unclaimed := unclaimed - (given - used);
    IF part.need > 0 AND unclaimed + 1e-9 >= part.need THEN
      given := given + least(greatest(unclaimed, 0), greatest(part.need,
        CASE part.kind WHEN 'cost' THEN unclaimed / parts ELSE floor(unclaimed / parts) END));
      unclaimed := part.most - spent - elsewhere - (given - used);
    END IF;
    found := found || jsonb_build_object(part.kind, jsonb_build_object('given', given, 'unclaimed', unclaimed, 'elsewhere', elsewhere));
  END LOOP;
  RETURN found;
END $$;
`;
