import { allowanceSql } from './allowance-sql.ts';

/** What a dead worker has stays its own until its slices are taken over: before that its tasks and intents are nobody else's. */
const workersSql = `
CREATE OR REPLACE FUNCTION promptpress.limits_worker_holds(p_worker text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM promptpress.slices s WHERE s.holder = p_worker::bigint AND NOT s.done);
END $$;

-- Tasks that a worker has on the service, as its slices know them: what it intended to send is one. A text call is none; what kind a job
-- is of stands at the beginning of its record, which is not parsed: a reply may hold what PostgreSQL takes for no JSON.
CREATE OR REPLACE FUNCTION promptpress.limits_worker_tasks(p_worker text) RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT count(*)::integer FROM promptpress.slices s JOIN promptpress.jobs j ON j.run = s.run AND j.slice = s.n AND j.open
    WHERE s.holder = p_worker::bigint AND NOT s.done AND j.status IN ('submitting', 'running', 'modal')
      AND j.doc !~ '^\\{"key":"[^"]*","kind":"(generate|chat)"');
END $$;
`;

/** Tables and functions of the limits that all workers share. The table `slices` must be there before they are used. */
export const limitsSchema = [workersSql, allowanceSql].join('\n');
