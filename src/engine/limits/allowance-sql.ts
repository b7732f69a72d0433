/**
 * What a run may spend, by kind: submissions, those of this invocation, cost, tokens. Each worker is given a part. What it uses is counted
 * by `purse_spend` in the transaction of the intent itself, so what a worker that died has not used goes back exactly.
 */
export const allowanceSql = `
CREATE TABLE IF NOT EXISTS promptpress.purse (
  run integer NOT NULL,
  kind text NOT NULL,
  most double precision NOT NULL,
  PRIMARY KEY (run, kind)
);
-- The worker '' has used what workers used that are over.
CREATE TABLE IF NOT EXISTS promptpress.purse_worker (
  run integer NOT NULL,
  kind text NOT NULL,
  worker text NOT NULL,
  asked bigint NOT NULL DEFAULT 0,
  given double precision NOT NULL DEFAULT 0,
  used double precision NOT NULL DEFAULT 0,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run, kind, worker)
) WITH (fillfactor = 50);

-- Sets what a run may spend: a document of numbers by kind. A kind that is not in it has no bound. Kinds in p_fresh begin at 0.
CREATE OR REPLACE FUNCTION promptpress.purse_open(p_run integer, p_most jsonb, p_fresh text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM promptpress.purse WHERE run = p_run AND NOT p_most ? kind;
  INSERT INTO promptpress.purse (run, kind, most) SELECT p_run, e.key, e.value::double precision FROM jsonb_each_text(p_most) e
  ON CONFLICT (run, kind) DO UPDATE SET most = excluded.most;
  DELETE FROM promptpress.purse_worker WHERE run = p_run AND kind = ANY (p_fresh);
END $$;

-- Counts what the intents of a transaction use. Part of the commit.
CREATE OR REPLACE FUNCTION promptpress.purse_spend(p_run integer, p_worker text, p_submits double precision, p_cost double precision,
  p_tokens double precision) RETURNS void LANGUAGE sql AS $$
  INSERT INTO promptpress.purse_worker (run, kind, worker, used)
  SELECT p_run, k.kind, p_worker, k.used
  FROM (VALUES ('cost', p_cost), ('invocation', p_submits), ('submits', p_submits), ('tokens', p_tokens)) AS k(kind, used)
  WHERE k.used <> 0 ORDER BY k.kind
  ON CONFLICT (run, kind, worker) DO UPDATE SET used = purse_worker.used + excluded.used;
$$;

-- Asks for a part of each kind in p_asks: {kind, asked, holds, need}.
--   asked   number of this question: an earlier one that comes late changes nothing
--   holds   what the worker uses at most until it has the answer, of all it was ever given; the rest goes back
--   need    what it wants beside that, at least
-- Returns all that the worker was ever given, what nobody has, what others have and have not used, and whether it was not known.
CREATE OR REPLACE FUNCTION promptpress.purse_ask(p_run integer, p_worker text, p_asks jsonb)
RETURNS TABLE (kind text, given double precision, unclaimed double precision, elsewhere double precision, is_new boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  ask record;
  most double precision;
  mine promptpress.purse_worker%ROWTYPE;
  others double precision;
BEGIN
  FOR ask IN
    SELECT * FROM jsonb_to_recordset(p_asks) AS a(kind text, asked bigint, holds double precision, need double precision) ORDER BY a.kind
  LOOP
    SELECT p.most INTO most FROM promptpress.purse p WHERE p.run = p_run AND p.kind = ask.kind FOR UPDATE;
    CONTINUE WHEN NOT FOUND;
    INSERT INTO promptpress.purse_worker (run, kind, worker) VALUES (p_run, ask.kind, p_worker) ON CONFLICT DO NOTHING;
    -- What workers had that are over goes back: none of their intents can be committed any more.
    WITH gone AS (
      DELETE FROM promptpress.purse_worker w WHERE w.run = p_run AND w.kind = ask.kind AND w.worker NOT IN ('', p_worker)
        AND w.seen_at < clock_timestamp() - interval '10 seconds' AND NOT promptpress.limits_worker_holds(w.worker)
      RETURNING w.used
    )
    INSERT INTO promptpress.purse_worker (run, kind, worker, used)
    SELECT p_run, ask.kind, '', sum(g.used) FROM gone g HAVING count(*) > 0
    ON CONFLICT ON CONSTRAINT purse_worker_pkey DO UPDATE SET used = purse_worker.used + excluded.used;
    -- Locked, so that no intent of this worker changes it meanwhile.
    SELECT * INTO mine FROM promptpress.purse_worker w WHERE w.run = p_run AND w.kind = ask.kind AND w.worker = p_worker FOR UPDATE;
    SELECT coalesce(sum(w.used), 0), coalesce(sum(greatest(0, w.given - w.used)), 0) INTO others, elsewhere
    FROM promptpress.purse_worker w WHERE w.run = p_run AND w.kind = ask.kind AND w.worker <> p_worker;
    is_new := mine.asked = 0;
    IF mine.asked < ask.asked THEN
      mine.given := least(mine.given, ask.holds);
      unclaimed := most - others - elsewhere - greatest(mine.given, mine.used);
      IF ask.need > 0 AND unclaimed + 1e-9 >= ask.need THEN
        mine.given := greatest(mine.given, mine.used) + least(greatest(unclaimed, 0), greatest(ask.need,
          CASE ask.kind WHEN 'cost' THEN unclaimed / 8 ELSE floor(unclaimed / 8) END));
      END IF;
      UPDATE promptpress.purse_worker w SET asked = ask.asked, given = mine.given, seen_at = clock_timestamp()
      WHERE w.run = p_run AND w.kind = ask.kind AND w.worker = p_worker;
    END IF;
    kind := ask.kind;
    given := mine.given;
    unclaimed := most - others - elsewhere - greatest(mine.given, mine.used);
    RETURN NEXT;
  END LOOP;
END $$;
`;
