/**
 * What all workers of a service share. For each of its limits (`submit`, `text`, `poll`, `download`, `tokens`, `tasks`), the row of each
 * session says what its worker holds, uses and wants, and what it was granted. All grants together never exceed the limit. A share shrinks
 * only once its worker has said that it uses no more. The share of a silent worker ends when everything that it may have sent with it has
 * left the window; of its tasks, those still count that are open in its slices.
 */
export const sharesSchema = `
-- Tasks that a service was found to accept; no row: it refused none. Tasks that began at once since then. One more is tried after 80 times
-- patience of them; without patience, after as many as are accepted.
CREATE TABLE accepted_tasks (
  service text PRIMARY KEY,
  accepted integer NOT NULL,
  began integer NOT NULL DEFAULT 0,
  patience integer NOT NULL DEFAULT 1,
  is_trying boolean NOT NULL DEFAULT false
);

-- Tasks that a worker has on the service, as its slices know them: what it intended to send is one. A text call is none; what kind a job
-- is of stands at the beginning of its record, which is not parsed: a reply may hold what PostgreSQL takes for no JSON.
CREATE FUNCTION limits_worker_tasks(p_session bigint) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT count(*)::integer FROM promptpress.slices s JOIN promptpress.jobs j ON j.run = s.run AND j.slice = s.n AND j.open
  WHERE s.holder = p_session AND NOT s.done AND j.status IN ('submitting', 'running', 'modal')
    -- Of a run that nobody goes on with: no task is worked on for so long.
    AND EXISTS (SELECT FROM promptpress.sessions w WHERE w.session = p_session AND w.seen > clock_timestamp() - interval '3 hours')
    AND j.doc !~ '^\\{"key":"[^"]*","kind":"(generate|chat)"'
$$;

-- Notes what all workers together find out of the tasks that a service accepts at once.
--   p_is_full  it refused one more since the worker asked last; null: it does not count them any more
--   p_began    tasks that began at once since then
CREATE FUNCTION accept_tasks(p_service text, p_limit integer, p_used integer, p_is_full boolean, p_began integer)
RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO promptpress.accepted_tasks AS a (service, accepted) SELECT p_service, greatest(1, least(p_limit, p_used)) WHERE p_is_full
  ON CONFLICT (service) DO UPDATE SET accepted = greatest(1, least(a.accepted, p_used)), began = 0, is_trying = false,
    patience = CASE WHEN a.is_trying THEN least(4, 2 * greatest(1, a.patience)) ELSE 1 END;
  UPDATE promptpress.accepted_tasks SET began = began + p_began WHERE service = p_service AND p_began > 0 AND NOT p_is_full;
  UPDATE promptpress.accepted_tasks SET accepted = accepted + 1, began = 0, is_trying = true, patience = CASE WHEN is_trying THEN 0 ELSE patience END
  WHERE service = p_service AND p_used >= accepted AND NOT p_is_full AND began >= CASE patience WHEN 0 THEN accepted ELSE 80 * patience END;
  -- Until a run with more room is told that the service accepts as much.
  DELETE FROM promptpress.accepted_tasks WHERE service = p_service AND (p_is_full IS NULL OR (NOT p_is_full AND accepted >= greatest(p_limit, (
    SELECT max((s.shares -> 'tasks' ->> 'limit')::integer) FROM promptpress.sessions s WHERE s.service = p_service AND s.shared))));
  RETURN (SELECT accepted FROM promptpress.accepted_tasks WHERE service = p_service);
END $$;

-- What a worker wants and has of a limit; since: Unix ms, since when it has had as much as its unit, or has lacked it.
CREATE TYPE share_member AS (id bigint, want double precision, unit double precision, granted double precision, since double precision);

-- The part of a limit that is fair for one worker: each has its unit, and what is left is divided evenly, to who wants least first. Where there
-- is not a unit for each, they take turns of 20 s: first who began its turn lately, then who has waited longest. Whoever wants nothing has one of
-- what nobody wants, to begin with.
CREATE FUNCTION fair_share(p_limit double precision, p_members share_member[], p_id bigint, p_now double precision)
RETURNS double precision LANGUAGE plpgsql STRICT AS $$
DECLARE
  free double precision;
  more double precision;
  idle double precision := 0;
  m record;
BEGIN
  FOR m IN
    SELECT s.*, count(*) OVER () - row_number() OVER (ORDER BY s.want, s.id) + 1 AS parts, max(s.upto) OVER () AS units FROM (
      SELECT x.id, x.want, x.unit, u.part, sum(u.part) OVER (ORDER BY CASE WHEN x.granted < x.unit THEN 1 WHEN p_now - x.since < 20000 THEN 0 ELSE 2 END,
        CASE WHEN x.granted < x.unit THEN x.since END, x.id) AS upto
      FROM unnest(p_members) x
      CROSS JOIN LATERAL (SELECT CASE WHEN x.want > 0 THEN least(x.unit, x.want, p_limit) ELSE 0 END AS part) u
    ) s WHERE s.upto <= p_limit ORDER BY s.want, s.id
  LOOP
    free := coalesce(free, p_limit - m.units);
    more := greatest(0, least(m.want - m.part, floor(free / m.parts)));
    free := free - more;
    IF m.id = p_id AND m.want > 0 THEN
      RETURN m.part + more;
    END IF;
    idle := CASE WHEN m.id = p_id THEN least(1, m.unit) ELSE idle END;
  END LOOP;
  RETURN CASE WHEN free >= idle THEN idle ELSE 0 END;
END $$;

-- The heartbeat of a worker: it says what it has and wants, and asks for its parts.
--   p_asked  number of this question: an earlier one that comes late changes nothing
--   p_kinds  by kind: limit, holds (the most that it uses until it has the answer), used, want, unit, window (ms); without a limit nothing is shared
--   p_needs  as purse_ask has them; null: what it was given of the run's budget stays
-- Returns the number of the question before, its parts (granted, fair), and what purse_ask returns; nothing where the session is over.
CREATE FUNCTION share(p_session bigint, p_token uuid, p_service text, p_asked bigint, p_kinds jsonb, p_needs jsonb)
RETURNS TABLE (before bigint, shares jsonb, spending jsonb) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  tasks jsonb := p_kinds -> 'tasks';
  locked boolean := false;
  is_full boolean;
  began integer;
  accepted integer;
  now_ms double precision;
  was record;
  mine jsonb;
  rises boolean;
  parts jsonb;
BEGIN
  LOOP
    now_ms := extract(epoch FROM clock_timestamp()) * 1000;
    -- What it was granted a worker uses for 5 s. While it was silent for longer, others may have been granted the same: it begins anew.
    SELECT CASE WHEN s.seen > clock_timestamp() - interval '5 seconds' THEN coalesce(s.shares, '{}') ELSE '{}' END AS shares,
      s.shares -> 'tasks' AS tasks, coalesce(s.given, '{}') AS given, s.asked, s.run INTO was
    FROM promptpress.sessions s WHERE s.session = p_session;
    began := (tasks ->> 'began')::integer - coalesce((was.tasks ->> 'began')::integer, 0);
    is_full := CASE WHEN (tasks ->> 'counted')::boolean OR NOT coalesce((was.tasks ->> 'counted')::boolean, true)
      THEN (tasks ->> 'refused')::integer > coalesce((was.tasks ->> 'refused')::integer, 0) END;
    IF locked AND tasks IS NOT NULL THEN
      accepted := promptpress.accept_tasks(p_service, (tasks ->> 'limit')::integer, (tasks ->> 'used')::integer + (
          SELECT coalesce(sum((s.shares -> 'tasks' ->> 'used')::integer), 0)::integer FROM promptpress.sessions s
          WHERE s.service = p_service AND s.shared AND s.session <> p_session), is_full, began);
    ELSE
      SELECT a.accepted INTO accepted FROM promptpress.accepted_tasks a WHERE a.service = p_service;
    END IF;
    SELECT jsonb_object_agg(e.key, e.value || jsonb_build_object('granted', g.has, 'fair', f.fair,
        'since', CASE WHEN (h.had >= h.unit) = (g.has >= h.unit) THEN h.since ELSE now_ms END)), bool_or(least(f.fair, h.most - o.claimed) > h.had)
    INTO mine, rises
    FROM jsonb_each(p_kinds) e
    CROSS JOIN LATERAL (SELECT least((e.value ->> 'limit')::double precision, CASE e.key WHEN 'tasks' THEN accepted END) AS most,
      coalesce((was.shares -> e.key ->> 'granted')::double precision, 0) AS had, (e.value ->> 'unit')::double precision AS unit,
      coalesce((was.shares -> e.key ->> 'since')::double precision, now_ms) AS since) h
    -- What others have of it, that of silent ones apart, and what those want that are not silent.
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(c.claimed), 0) AS claimed, coalesce(sum(c.claimed) FILTER (WHERE t.age > 3000), 0) AS silent,
        array_agg(ROW(s.session, coalesce(m.want, 0), m.unit, m.granted, m.since)::promptpress.share_member) FILTER (WHERE t.age <= 3000) AS members
      FROM promptpress.sessions s CROSS JOIN LATERAL (SELECT extract(epoch FROM clock_timestamp() - s.seen) * 1000 AS age) t
      CROSS JOIN LATERAL jsonb_to_record(s.shares -> e.key) AS m(want float8, unit float8, granted float8, used float8, since float8, "window" float8)
      CROSS JOIN LATERAL (SELECT CASE WHEN e.key = 'tasks' AND t.age > 10000 THEN promptpress.limits_worker_tasks(s.session)
        WHEN e.key <> 'tasks' AND t.age > 5000 + m.window THEN 0 ELSE greatest(m.granted, m.used) END AS claimed) c
      WHERE h.most IS NOT NULL AND s.service = p_service AND s.shared AND s.session <> p_session
    ) o
    CROSS JOIN LATERAL (SELECT promptpress.fair_share(h.most - o.silent,
      o.members || ROW(p_session, (e.value ->> 'want')::double precision, h.unit, h.had, h.since)::promptpress.share_member, p_session, now_ms) AS fair) f
    -- What is used may be more than was granted: calls took more tokens than they were estimated to.
    CROSS JOIN LATERAL (SELECT greatest(least(h.had, (e.value ->> 'holds')::double precision), (e.value ->> 'used')::double precision,
      least(f.fair, CASE WHEN locked THEN h.most - o.claimed ELSE h.had END)) AS has) g;
    EXIT WHEN locked;
    -- Only what rises is above the limit with the parts of others. It rises with a later heartbeat where another worker's rises in this moment:
    -- nobody waits but who must not be unheard.
    IF (tasks IS NOT NULL AND is_full IS NOT FALSE) OR (began > 0 AND accepted IS NOT NULL) THEN
      locked := pg_advisory_xact_lock(hashtextextended(p_service, 7)) IS NOT NULL;
    ELSE
      EXIT WHEN rises IS NOT TRUE OR NOT pg_try_advisory_xact_lock(hashtextextended(p_service, 7));
      locked := true;
    END IF;
  END LOOP;
  parts := promptpress.purse_ask(was.run, p_session, was.given, p_needs);
  UPDATE promptpress.sessions s SET seen = clock_timestamp(), service = p_service, asked = p_asked, shares = mine, shared = p_service <> '',
    given = coalesce((SELECT jsonb_object_agg(e.key, e.value -> 'given') FROM jsonb_each(parts) e), s.given)
  WHERE s.session = p_session AND s.token = p_token AND NOT s.over AND s.asked < p_asked;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF p_asked % 16 = 1 THEN
    UPDATE promptpress.sessions s SET shared = false WHERE s.session IN (
      SELECT o.session FROM promptpress.sessions o WHERE o.service = p_service AND o.shared AND o.session <> p_session
        -- In this order: the tasks of those that are there are not looked for.
        AND CASE WHEN o.seen < clock_timestamp() - interval '10 seconds' THEN o.seen < clock_timestamp() - interval '1 ms' * (10000 +
          (SELECT coalesce(max((e.value ->> 'window')::double precision), 0) FROM jsonb_each(o.shares) e))
          AND promptpress.limits_worker_tasks(o.session) = 0 END
      FOR UPDATE OF o SKIP LOCKED
    );
  END IF;
  RETURN QUERY SELECT was.asked, mine, parts;
END $$;
`;
