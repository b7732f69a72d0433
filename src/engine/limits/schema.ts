/**
 * What all workers share of a service and of a run's budget.
 *
 * Of the limits of a service (`submit`, `text`, `poll`, `download`, `tokens`, `tasks`) the row of each session says what its worker holds, uses
 * and wants. What they hold together is never above a limit. A part falls only once its worker has said that it uses no more; that of a worker
 * which is not heard of is over when all that it may have sent by it has left the window, and of its tasks those count that its slices have open.
 *
 * Of what a run may spend (submissions, those of this invocation, cost, tokens) each worker is given a part, all that it was ever given. What it
 * uses is counted by `purse_spend` in the transaction of the intent itself, so what a worker that died has not used is exactly there for others.
 */
export const limitsSchema = `
-- Tasks that a service was found to accept; no row: it refused none. Tasks that began at once since then, and so many before one more is tried.
CREATE TABLE accepted_tasks (
  service text PRIMARY KEY,
  accepted integer NOT NULL,
  began integer NOT NULL DEFAULT 0,
  tried_after integer NOT NULL DEFAULT 0,
  patience integer NOT NULL DEFAULT 1,
  is_trying boolean NOT NULL DEFAULT false
);
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

-- Tasks that a worker has on the service, as its slices know them: what it intended to send is one. A text call is none; what kind a job
-- is of stands at the beginning of its record, which is not parsed: a reply may hold what PostgreSQL takes for no JSON.
CREATE FUNCTION limits_worker_tasks(p_session bigint) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT count(*)::integer FROM promptpress.slices s JOIN promptpress.jobs j ON j.run = s.run AND j.slice = s.n AND j.open
  WHERE s.holder = p_session AND NOT s.done AND j.status IN ('submitting', 'running', 'modal')
    AND j.doc !~ '^\\{"key":"[^"]*","kind":"(generate|chat)"'
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
  PERFORM pg_advisory_xact_lock(7, p_run);
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

-- Notes what all workers together find out of the tasks that a service accepts at once.
--   p_is_full  it refused one more since the worker asked last; null: it does not count them any more
--   p_began    tasks that began at once since then
CREATE FUNCTION accept_tasks(p_service text, p_limit integer, p_used integer, p_is_full boolean, p_began integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  known promptpress.accepted_tasks%ROWTYPE;
BEGIN
  SELECT * INTO known FROM promptpress.accepted_tasks WHERE service = p_service;
  IF p_is_full THEN
    INSERT INTO promptpress.accepted_tasks (service, accepted, tried_after) VALUES (p_service, greatest(1, least(p_limit, p_used)), 80)
    ON CONFLICT (service) DO UPDATE SET accepted = greatest(1, least(known.accepted, p_used)), began = 0, is_trying = false,
      patience = CASE WHEN known.is_trying THEN least(4, 2 * known.patience) ELSE 1 END,
      tried_after = 80 * CASE WHEN known.is_trying THEN least(4, 2 * known.patience) ELSE 1 END;
  ELSIF p_is_full IS NULL OR known.accepted >= p_limit THEN
    DELETE FROM promptpress.accepted_tasks WHERE service = p_service;
  ELSIF known.began + p_began >= known.tried_after AND p_used >= known.accepted THEN
    UPDATE promptpress.accepted_tasks SET accepted = known.accepted + 1, began = 0, is_trying = true,
      patience = CASE WHEN known.is_trying THEN 1 ELSE known.patience END,
      tried_after = CASE WHEN known.is_trying THEN known.accepted ELSE known.tried_after END
    WHERE service = p_service;
  ELSIF p_began > 0 THEN
    UPDATE promptpress.accepted_tasks SET began = known.began + p_began WHERE service = p_service;
  END IF;
  RETURN (SELECT accepted FROM promptpress.accepted_tasks WHERE service = p_service);
END $$;

-- The heartbeat of a worker: it says what it has and wants, and asks for its parts.
--   p_asked  number of this question: an earlier one that comes late changes nothing
--   p_kinds  by kind: limit, holds (the most that it uses until it has the answer), used, want, unit, target (what is fair for it), window (ms)
--   p_needs  as purse_ask has them; null: what it was given of the run's budget stays
-- Returns what all of the service have, its own row among them, and the number of the question before; nothing where the session is over.
CREATE FUNCTION share(p_session bigint, p_token uuid, p_service text, p_asked bigint, p_kinds jsonb, p_needs jsonb)
RETURNS TABLE (session bigint, age double precision, shares jsonb, now double precision, before bigint, spending jsonb) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  now_ms double precision;
  tasks jsonb := p_kinds -> 'tasks';
  accepted integer;
  was record;
  mine jsonb;
  parts jsonb;
  others jsonb;
  locked boolean;
BEGIN
  SELECT coalesce(s.shares, '{}') AS shares, coalesce(s.given, '{}') AS given, s.asked, s.run INTO was
  FROM promptpress.sessions s WHERE s.session = p_session;
  -- Only what rises is above the limit with the parts of others. It rises with a later heartbeat where another worker's rises in this moment:
  -- nobody waits but who needs a part of the budget, or must not be unheard.
  locked := CASE
    WHEN p_needs IS NOT NULL OR (tasks IS NOT NULL AND (tasks ->> 'full')::boolean IS DISTINCT FROM false)
      OR ((tasks ->> 'began')::integer > 0 AND EXISTS (SELECT FROM promptpress.accepted_tasks a WHERE a.service = p_service))
    THEN pg_advisory_xact_lock(hashtextextended(p_service, 7)) IS NOT NULL
    WHEN EXISTS (SELECT FROM jsonb_each(p_kinds) e
      WHERE (e.value ->> 'target')::double precision > coalesce((was.shares -> e.key ->> 'granted')::double precision, 0))
    THEN pg_try_advisory_xact_lock(hashtextextended(p_service, 7))
    ELSE false END;
  IF locked THEN
    SELECT coalesce(jsonb_object_agg(o.key, jsonb_build_object('claimed', o.claimed, 'used', o.used)), '{}') INTO others FROM (
      SELECT e.key, sum(c.used) AS used, sum(CASE
        WHEN e.key <> 'tasks' THEN CASE WHEN t.age > 5000 + (e.value ->> 'window')::double precision THEN 0 ELSE greatest(c.granted, c.used) END
        WHEN t.age > 10000 THEN promptpress.limits_worker_tasks(s.session) ELSE greatest(c.granted, c.used) END) AS claimed
      FROM promptpress.sessions s CROSS JOIN LATERAL (SELECT extract(epoch FROM clock_timestamp() - s.seen) * 1000 AS age) t
      CROSS JOIN LATERAL jsonb_each(s.shares) e
      CROSS JOIN LATERAL (SELECT (e.value ->> 'granted')::double precision AS granted, (e.value ->> 'used')::double precision AS used) c
      WHERE s.service = p_service AND s.shared AND s.session <> p_session GROUP BY e.key
    ) o;
    IF tasks IS NOT NULL THEN
      accepted := promptpress.accept_tasks(p_service, (tasks ->> 'limit')::integer,
        (coalesce((others -> 'tasks' ->> 'used')::double precision, 0) + (tasks ->> 'used')::double precision)::integer,
        (tasks ->> 'full')::boolean, (tasks ->> 'began')::integer);
    END IF;
    parts := promptpress.purse_ask(was.run, p_session, was.given, p_needs);
  END IF;
  now_ms := extract(epoch FROM clock_timestamp()) * 1000;
  SELECT jsonb_object_agg(e.key, e.value || jsonb_build_object('granted', g.has, 'since',
    CASE WHEN (h.had >= h.unit) = (g.has >= h.unit) THEN coalesce((was.shares -> e.key ->> 'since')::double precision, now_ms) ELSE now_ms END)) INTO mine
  FROM jsonb_each(p_kinds) e
  CROSS JOIN LATERAL (SELECT coalesce((was.shares -> e.key ->> 'granted')::double precision, 0) AS had, (e.value ->> 'unit')::double precision AS unit,
    least((e.value ->> 'limit')::double precision, CASE e.key WHEN 'tasks' THEN accepted END) AS most) h
  -- What is used may be more than was granted: calls took more tokens than they were estimated to.
  CROSS JOIN LATERAL (SELECT greatest(least(h.had, (e.value ->> 'holds')::double precision), (e.value ->> 'used')::double precision,
    least((e.value ->> 'target')::double precision,
      CASE WHEN locked THEN h.most - coalesce((others -> e.key ->> 'claimed')::double precision, 0) ELSE h.had END)) AS has) g;
  UPDATE promptpress.sessions s SET seen = clock_timestamp(), service = p_service, asked = p_asked, shares = mine, shared = p_service <> '',
    given = coalesce((SELECT jsonb_object_agg(e.key, e.value -> 'given') FROM jsonb_each(parts) e), s.given)
  WHERE s.session = p_session AND s.token = p_token AND NOT s.over AND s.asked < p_asked;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF p_asked % 16 = 1 THEN
    UPDATE promptpress.sessions s SET shared = false, shares = NULL WHERE s.session IN (
      SELECT o.session FROM promptpress.sessions o
      WHERE o.service = p_service AND o.shared AND o.session <> p_session AND promptpress.limits_worker_tasks(o.session) = 0
        AND extract(epoch FROM o.seen) * 1000 + 10000 + (SELECT coalesce(max((e.value ->> 'window')::double precision), 0) FROM jsonb_each(o.shares) e) < now_ms
      FOR UPDATE SKIP LOCKED
    );
  END IF;
  RETURN QUERY SELECT s.session, t.age, CASE WHEN t.age > 10000 AND s.shares ? 'tasks' THEN jsonb_set(jsonb_set(s.shares, '{tasks,used}', '0'),
      '{tasks,granted}', to_jsonb(promptpress.limits_worker_tasks(s.session))) ELSE s.shares END, now_ms, was.asked, parts
  FROM promptpress.sessions s CROSS JOIN LATERAL (SELECT now_ms - extract(epoch FROM s.seen)::double precision * 1000 AS age) t
  WHERE s.session = p_session OR (s.service = p_service AND s.shared);
END $$;
`;
