/**
 * Tasks that the workers of a service may have in flight. Each has a number of its own, and the numbers together are never above the
 * limit. A number falls only once its worker has said that it uses no more than that; of a worker that is not heard of, the tasks count that
 * its slices have open.
 */
export const roomsSql = `
CREATE TABLE IF NOT EXISTS promptpress.rooms (
  service text PRIMARY KEY,
  -- Tasks that the service was found to accept; null: it refused none.
  accepted integer,
  -- Tasks that began at once since then, and so many before one more is tried.
  began integer NOT NULL DEFAULT 0,
  tried_after integer NOT NULL DEFAULT 0,
  patience integer NOT NULL DEFAULT 1,
  is_trying boolean NOT NULL DEFAULT false
);
CREATE TABLE IF NOT EXISTS promptpress.rooms_worker (
  service text NOT NULL REFERENCES promptpress.rooms ON DELETE CASCADE,
  worker text NOT NULL,
  asked bigint NOT NULL DEFAULT 0,
  granted integer NOT NULL DEFAULT 0,
  used integer NOT NULL DEFAULT 0,
  wanted integer NOT NULL DEFAULT 0,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Since when it has had no room; null: it has some.
  lacks_since timestamptz,
  PRIMARY KEY (service, worker)
) WITH (fillfactor = 50);

-- Asks for room.
--   asked    number of this question: an earlier one that comes late changes nothing
--   holds    the most that the worker uses until it has the answer
--   used     tasks that it has
--   wanted   tasks that it would have if it could; 0: it had no use for room, and gets one of what nobody wants
--   is_full  the service refused one more task since the worker asked last; null: it does not count those of this worker any more
--   began    tasks that began at once since then
-- Returns what it may use, and what it should come down to when its tasks end.
CREATE OR REPLACE FUNCTION promptpress.rooms_ask(p_service text, p_worker text, p_asked bigint, p_limit integer, p_holds integer, p_used integer,
  p_wanted integer, p_is_full boolean, p_began integer)
RETURNS TABLE (granted integer, target integer, accepted integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  room promptpress.rooms%ROWTYPE;
  mine promptpress.rooms_worker%ROWTYPE;
  other record;
  most integer;
  left_over integer;
  asking integer;
  wanting integer;
  others integer;
  share integer;
BEGIN
  INSERT INTO promptpress.rooms (service) VALUES (p_service) ON CONFLICT DO NOTHING;
  SELECT * INTO room FROM promptpress.rooms r WHERE r.service = p_service FOR UPDATE;
  INSERT INTO promptpress.rooms_worker (service, worker) VALUES (p_service, p_worker) ON CONFLICT DO NOTHING;
  SELECT * INTO mine FROM promptpress.rooms_worker w WHERE w.service = p_service AND w.worker = p_worker;
  IF mine.asked >= p_asked THEN
    RETURN QUERY SELECT mine.granted, mine.granted, room.accepted;
    RETURN;
  END IF;
  UPDATE promptpress.rooms_worker w SET asked = p_asked, granted = least(w.granted, p_holds), used = p_used, wanted = p_wanted,
    seen_at = clock_timestamp(),
    lacks_since = CASE WHEN least(w.granted, p_holds) + p_used = 0 THEN coalesce(w.lacks_since, clock_timestamp()) END
  WHERE w.service = p_service AND w.worker = p_worker RETURNING w.* INTO mine;
  -- Who is over has no task that anybody else does not count.
  DELETE FROM promptpress.rooms_worker w WHERE w.service = p_service AND w.seen_at < clock_timestamp() - interval '10 seconds'
    AND NOT promptpress.limits_worker_holds(w.worker);
  -- Who is silent for so long begins nothing new: what was granted counts for five seconds. Whoever takes its slices over needs room.
  UPDATE promptpress.rooms_worker w SET granted = silent.tasks, used = silent.tasks
  FROM (
    SELECT r.worker, promptpress.limits_worker_tasks(r.worker) AS tasks FROM promptpress.rooms_worker r
    WHERE r.service = p_service AND r.seen_at < clock_timestamp() - interval '10 seconds'
  ) AS silent
  WHERE w.service = p_service AND w.worker = silent.worker AND (w.granted, w.used) IS DISTINCT FROM (silent.tasks, silent.tasks);

  SELECT coalesce(sum(w.used), 0) INTO others FROM promptpress.rooms_worker w WHERE w.service = p_service;
  IF p_is_full THEN
    room.patience := CASE WHEN room.is_trying THEN least(4, 2 * room.patience) ELSE 1 END;
    room.accepted := greatest(1, least(coalesce(room.accepted, p_limit), others));
    room.began := 0;
    room.tried_after := 80 * room.patience;
    room.is_trying := false;
  ELSIF p_is_full IS NULL THEN
    room.accepted := NULL;
  ELSIF room.accepted IS NOT NULL THEN
    room.began := room.began + p_began;
    IF room.accepted >= p_limit THEN
      room.accepted := NULL;
    ELSIF room.began >= room.tried_after AND others >= room.accepted THEN
      IF room.is_trying THEN
        room.patience := 1;
        room.tried_after := room.accepted;
      END IF;
      room.accepted := room.accepted + 1;
      room.began := 0;
      room.is_trying := true;
    END IF;
  END IF;
  UPDATE promptpress.rooms r SET accepted = room.accepted, began = room.began, tried_after = room.tried_after, patience = room.patience,
    is_trying = room.is_trying WHERE r.service = p_service;

  -- What is fair: who wants least is served first, the others share what is left. Where that is less than one for each, those who have one
  -- keep it until another has waited for long: a run is not to wait for the end of another.
  most := least(p_limit, coalesce(room.accepted, p_limit));
  SELECT coalesce(sum(greatest(w.granted, w.used)), 0) INTO others
  FROM promptpress.rooms_worker w WHERE w.service = p_service AND w.worker <> p_worker;
  SELECT count(*) FILTER (WHERE w.seen_at > clock_timestamp() - interval '3 seconds'),
    most - coalesce(sum(greatest(w.granted, w.used)) FILTER (WHERE w.seen_at <= clock_timestamp() - interval '3 seconds'), 0)
  INTO asking, left_over FROM promptpress.rooms_worker w WHERE w.service = p_service;
  target := 0;
  SELECT count(*) INTO wanting FROM promptpress.rooms_worker w
  WHERE w.service = p_service AND w.seen_at > clock_timestamp() - interval '3 seconds' AND greatest(w.used, w.wanted) > 0;
  IF left_over < wanting THEN
    SELECT count(*) INTO target FROM (
      SELECT w.worker FROM promptpress.rooms_worker w
      WHERE w.service = p_service AND w.seen_at > clock_timestamp() - interval '3 seconds' AND greatest(w.used, w.wanted) > 0
      ORDER BY coalesce(w.lacks_since < clock_timestamp() - interval '5 seconds', false) DESC, w.used > 0 DESC, w.lacks_since, w.worker
      LIMIT greatest(0, left_over)
    ) AS first WHERE first.worker = p_worker;
    left_over := 0;
  ELSE
    FOR other IN
      SELECT w.worker, greatest(w.used, w.wanted) AS wants FROM promptpress.rooms_worker w
      WHERE w.service = p_service AND w.seen_at > clock_timestamp() - interval '3 seconds'
      ORDER BY wants, w.worker
    LOOP
      share := greatest(0, least(other.wants, left_over / asking));
      IF other.worker = p_worker THEN
        target := share;
      END IF;
      left_over := left_over - share;
      asking := asking - 1;
    END LOOP;
  END IF;
  IF target = 0 AND p_wanted = 0 AND left_over > 0 THEN
    target := 1;
  END IF;
  granted := greatest(mine.granted, least(target, most - others));
  UPDATE promptpress.rooms_worker w SET granted = rooms_ask.granted WHERE w.service = p_service AND w.worker = p_worker;
  accepted := room.accepted;
  RETURN NEXT;
END $$;

-- A worker ends, and none of its tasks is on the service for it: jobs of its slices that were not begun take room where they are.
CREATE OR REPLACE FUNCTION promptpress.rooms_leave(p_service text, p_worker text) RETURNS void LANGUAGE sql AS $$
  DELETE FROM promptpress.rooms_worker WHERE service = p_service AND worker = p_worker AND promptpress.limits_worker_tasks(p_worker) = 0;
$$;
`;
