/**
 * What the workers of a service have of its limits, in the rows of their sessions: by kind (`submit`, `text`, `poll`, `download`, `tokens`, `tasks`)
 * what each holds, uses and wants. What they hold together is never above a limit. A part falls only once its worker has said that it uses no
 * more; that of a worker which is not heard of is over when all that it may have sent by it has left the window, and of its tasks those count
 * that its slices have open.
 */
export const sharesSql = `
ALTER TABLE promptpress.sessions ADD COLUMN service text, ADD COLUMN asked bigint NOT NULL DEFAULT 0, ADD COLUMN shares jsonb,
  ADD COLUMN shared boolean NOT NULL DEFAULT false;
CREATE INDEX sessions_shared ON promptpress.sessions (service) WHERE shared;
DROP FUNCTION IF EXISTS promptpress.pace_reserve, promptpress.rooms_ask, promptpress.rooms_leave;
DROP TABLE IF EXISTS promptpress.pace, promptpress.rooms_worker, promptpress.rooms;

-- Tasks that a service was found to accept; no row: it refused none. Tasks that began at once since then, and so many before one more is tried.
CREATE TABLE promptpress.accepted_tasks (
  service text PRIMARY KEY,
  accepted integer NOT NULL,
  began integer NOT NULL DEFAULT 0,
  tried_after integer NOT NULL DEFAULT 0,
  patience integer NOT NULL DEFAULT 1,
  is_trying boolean NOT NULL DEFAULT false
);

`;

/** The functions of shares; `token`: the random name of a session. */
export const sharesFunctions = `
ALTER TABLE promptpress.sessions ADD COLUMN token uuid NOT NULL DEFAULT gen_random_uuid();
DROP FUNCTION IF EXISTS promptpress.share(bigint, text, bigint, jsonb);

-- Notes what all workers together find out of the tasks that a service accepts at once.
--   p_is_full  it refused one more since the worker asked last; null: it does not count them any more
--   p_began    tasks that began at once since then
CREATE OR REPLACE FUNCTION promptpress.accept_tasks(p_service text, p_limit integer, p_used integer, p_is_full boolean, p_began integer)
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

-- Says what a worker has and wants, and asks for its parts. It shows that the worker is there.
--   p_asked  number of this question: an earlier one that comes late changes nothing
--   p_kinds  by kind: limit, holds (the most that it uses until it has the answer), used, want, unit, target (what is fair for it), window (ms)
-- Returns what all of the service have, its own row among them, and the number of the question before; nothing where the session is over.
CREATE FUNCTION promptpress.share(p_session bigint, p_token uuid, p_service text, p_asked bigint, p_kinds jsonb)
RETURNS TABLE (session bigint, age double precision, shares jsonb, now double precision, before bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  now_ms double precision;
  accepted integer;
  was record;
  mine jsonb := '{}';
  others jsonb;
  kind record;
  had double precision;
  has double precision;
  most double precision;
  unit double precision;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_service, 7));
  SELECT coalesce(s.shares, '{}') AS shares, s.asked INTO was FROM promptpress.sessions s
  WHERE s.session = p_session AND s.token = p_token AND NOT s.over AND s.asked < p_asked;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  now_ms := extract(epoch FROM clock_timestamp()) * 1000;
  IF p_asked % 16 = 1 THEN
    UPDATE promptpress.sessions s SET shared = false, shares = NULL
    WHERE s.service = p_service AND s.shared AND s.session <> p_session
      AND extract(epoch FROM s.seen) * 1000 + 10000 + (SELECT coalesce(max((e.value ->> 'window')::double precision), 0) FROM jsonb_each(s.shares) e) < now_ms
      AND promptpress.limits_worker_tasks(s.session::text) = 0;
  END IF;
  SELECT coalesce(jsonb_object_agg(o.key, o.claimed), '{}'), coalesce(sum(o.used) FILTER (WHERE o.key = 'tasks'), 0)
  INTO others, most FROM (
    SELECT e.key, sum(c.used) AS used, sum(CASE
      WHEN e.key <> 'tasks' THEN CASE WHEN t.age > 5000 + (e.value ->> 'window')::double precision THEN 0 ELSE greatest(c.granted, c.used) END
      WHEN t.age > 10000 THEN promptpress.limits_worker_tasks(s.session::text) ELSE greatest(c.granted, c.used) END) AS claimed
    FROM promptpress.sessions s CROSS JOIN LATERAL (SELECT now_ms - extract(epoch FROM s.seen) * 1000 AS age) t
    CROSS JOIN LATERAL jsonb_each(s.shares) e
    CROSS JOIN LATERAL (SELECT (e.value ->> 'granted')::double precision AS granted, (e.value ->> 'used')::double precision AS used) c
    WHERE s.service = p_service AND s.shared AND s.session <> p_session GROUP BY e.key
  ) o;
  IF p_kinds ? 'tasks' THEN
    accepted := promptpress.accept_tasks(p_service, (p_kinds -> 'tasks' ->> 'limit')::integer,
      (most + (p_kinds -> 'tasks' ->> 'used')::double precision)::integer,
      (p_kinds -> 'tasks' ->> 'full')::boolean, (p_kinds -> 'tasks' ->> 'began')::integer);
  END IF;
  FOR kind IN SELECT e.key, e.value FROM jsonb_each(p_kinds) e LOOP
    had := coalesce((was.shares -> kind.key ->> 'granted')::double precision, 0);
    most := (kind.value ->> 'limit')::double precision;
    IF kind.key = 'tasks' THEN
      most := least(most, coalesce(accepted, most));
    END IF;
    unit := (kind.value ->> 'unit')::double precision;
    -- What is used may be more than was granted: calls took more tokens than they were estimated to.
    has := greatest(least(had, (kind.value ->> 'holds')::double precision), (kind.value ->> 'used')::double precision,
      least((kind.value ->> 'target')::double precision, most - coalesce((others ->> kind.key)::double precision, 0)));
    mine := mine || jsonb_build_object(kind.key, kind.value || jsonb_build_object('granted', has, 'since',
      CASE WHEN (had >= unit) = (has >= unit) THEN coalesce((was.shares -> kind.key ->> 'since')::double precision, now_ms) ELSE now_ms END));
  END LOOP;
  UPDATE promptpress.sessions s SET seen = clock_timestamp(), service = p_service, asked = p_asked, shares = mine, shared = p_service <> ''
  WHERE s.session = p_session;
  RETURN QUERY SELECT s.session, t.age, CASE WHEN t.age > 10000 AND s.shares ? 'tasks' THEN jsonb_set(jsonb_set(s.shares, '{tasks,used}', '0'),
      '{tasks,granted}', to_jsonb(promptpress.limits_worker_tasks(s.session::text))) ELSE s.shares END, now_ms, was.asked
  FROM promptpress.sessions s CROSS JOIN LATERAL (SELECT now_ms - extract(epoch FROM s.seen)::double precision * 1000 AS age) t
  WHERE s.session = p_session OR (s.service = p_service AND s.shared);
END $$;
`;
