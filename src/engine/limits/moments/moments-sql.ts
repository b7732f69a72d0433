/**
 * The rates of a service, one row for each route. `next_ms` is the first moment that nobody has; all times are the server's, in Unix ms.
 * A worker reserves moments that lie at most 400 ms ahead, so whoever ends with moments in hand wastes no more than those.
 *
 * Requests leave some time after their moments: the earliest `early_ms`, the others up to `late_ms`, and up to 20 ms after the earliest in any
 * case. Moments are spaced so that no window holds more than it may even then. What leaves later moves the later moments by as much.
 * `late_ms` rises while more than one request in `count` leaves later, and falls otherwise.
 */
export const momentsSql = `
CREATE TABLE IF NOT EXISTS promptpress.pace (
  service text NOT NULL,
  route text NOT NULL,
  next_ms double precision NOT NULL DEFAULT 0,
  spacing_ms double precision NOT NULL DEFAULT 0,
  paused_until_ms double precision NOT NULL DEFAULT 0,
  largest double precision NOT NULL DEFAULT 0,
  largest_at_ms double precision NOT NULL DEFAULT 0,
  sent_per_ms double precision NOT NULL DEFAULT 0,
  sent_at_ms double precision NOT NULL DEFAULT 0,
  early_ms double precision NOT NULL DEFAULT 0,
  late_ms double precision NOT NULL DEFAULT 20,
  PRIMARY KEY (service, route)
) WITH (fillfactor = 50);

-- Reserves moments on several routes of a service, and notes what its workers tell.
--   per_ms, count   of the limit; null: none
--   most            moments that the worker wants
--   cost            what one moment costs: 1, or the tokens of a call
--   credit          what earlier moments cost too much (negative: too little)
--   pause_ms        how long the requests of this worker rest, from now: for those who look
--   sent            requests that this worker has sent since it asked last
--   earliest        how late the earliest of them left, ms; null: not known
--   latest, later   how late the latest of them left, ms, and how many left later than their moments allow
CREATE OR REPLACE FUNCTION promptpress.pace_reserve(p_service text, p_asks jsonb)
RETURNS TABLE (route text, now_ms double precision, base_ms double precision, spacing double precision, given integer,
  next_at_ms double precision, late_ms double precision) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  horizon constant double precision := 400;
  -- The least time from early to late, and the growth of it for each request that leaves later.
  least_spread constant double precision := 20;
  growth constant double precision := 4;
  memory constant double precision := 10000;
  ask record;
  held promptpress.pace%ROWTYPE;
  forgotten double precision;
  spread double precision;
  unit double precision;
  base double precision;
BEGIN
  -- Everybody locks the rows in the same order.
  FOR ask IN
    SELECT * FROM jsonb_to_recordset(p_asks) AS a(route text, per_ms double precision, count double precision, most integer,
      cost double precision, credit double precision, pause_ms double precision, sent double precision,
      earliest double precision, latest double precision, later double precision)
    ORDER BY a.route
  LOOP
    SELECT * INTO held FROM promptpress.pace p WHERE p.service = p_service AND p.route = ask.route FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO promptpress.pace (service, route) VALUES (p_service, ask.route) ON CONFLICT DO NOTHING;
      SELECT * INTO held FROM promptpress.pace p WHERE p.service = p_service AND p.route = ask.route FOR UPDATE;
    END IF;
    -- Read after the lock: whoever had it before has reserved by an earlier moment.
    now_ms := extract(epoch FROM clock_timestamp()) * 1000;

    IF ask.pause_ms > 0 THEN
      held.paused_until_ms := greatest(held.paused_until_ms, now_ms + least(ask.pause_ms, 3600000));
    END IF;
    -- The server's clock went back.
    held.paused_until_ms := least(held.paused_until_ms, now_ms + 3600000);
    held.sent_per_ms := held.sent_per_ms * exp(-least(700, greatest(0, now_ms - held.sent_at_ms) / memory)) + ask.sent / memory;
    held.sent_at_ms := now_ms;
    IF ask.cost > held.largest OR now_ms - held.largest_at_ms > coalesce(ask.per_ms, 60000) THEN
      held.largest := ask.cost;
      held.largest_at_ms := now_ms;
    END IF;

    forgotten := growth * ask.sent / greatest(1, coalesce(ask.count, 1));
    -- Who leaves earlier than the others comes nearer to those that left before.
    held.early_ms := least(held.early_ms + forgotten, ask.earliest);
    -- Moments that nobody wanted may be followed by requests that leave earlier than those before them.
    IF held.next_ms < now_ms THEN
      held.early_ms := 0;
    END IF;
    held.late_ms := greatest(least_spread, held.late_ms - forgotten,
      least(held.late_ms - forgotten + growth * ask.later, ask.latest));
    -- A lateness that no spacing can pay for is paid for by the requests that have it.
    held.late_ms := least(held.late_ms, held.early_ms + greatest(least_spread, ask.per_ms / 2));
    spread := greatest(least_spread, held.late_ms - held.early_ms);

    -- One too many would lie in a window where calls cost more than 1: the first one of the window was paid for before it.
    unit := CASE WHEN ask.count IS NULL THEN NULL
      ELSE (ask.per_ms + spread) / (ask.count - least(held.largest - 1, ask.count / 2)) * (1 + 1e-9) END;

    base_ms := NULL;
    spacing := NULL;
    given := 0;
    IF unit IS NOT NULL THEN
      spacing := unit * ask.cost;
      IF held.next_ms > now_ms + horizon + greatest(spacing, held.spacing_ms) THEN
        held.next_ms := now_ms + horizon + greatest(spacing, held.spacing_ms);
      END IF;
      -- Moments that nobody wanted pay for nothing.
      IF ask.credit < 0 THEN
        held.next_ms := greatest(held.next_ms, now_ms);
      END IF;
      held.next_ms := held.next_ms - coalesce(ask.credit, 0) * unit;
      base := greatest(held.next_ms, now_ms);
      IF ask.most > 0 AND base <= now_ms + horizon THEN
        given := least(ask.most, floor((now_ms + horizon - base) / spacing)::integer + 1);
        base_ms := base;
        held.next_ms := base + given * spacing;
      END IF;
      held.spacing_ms := greatest(spacing, held.next_ms - now_ms - horizon);
    END IF;

    UPDATE promptpress.pace p SET next_ms = held.next_ms, spacing_ms = held.spacing_ms, paused_until_ms = held.paused_until_ms,
      largest = held.largest, largest_at_ms = held.largest_at_ms, sent_per_ms = held.sent_per_ms, sent_at_ms = held.sent_at_ms,
      early_ms = held.early_ms, late_ms = held.late_ms
    WHERE p.service = p_service AND p.route = ask.route;

    route := ask.route;
    next_at_ms := held.next_ms;
    -- The spread may fall by this much while the requests of one window leave.
    late_ms := held.early_ms + greatest(least_spread, spread - growth);
    RETURN NEXT;
  END LOOP;
END $$;
`;
