import { asked } from '../../rig/postgres/asked.ts';
import type { MadeTask } from './service-process.ts';

/** What the engine has of a run that does not end. */
export async function unfinished(url: string): Promise<string> {
  const questions = [
    'SELECT run, state, invocation, fed, fed_upto, ended FROM promptpress.runs',
    'SELECT status, step, slice, key, sender FROM promptpress.jobs WHERE open OR trouble',
    'SELECT n, epoch, holder, lease_holder, lease_until - clock_timestamp() AS lease, not_before FROM promptpress.slices WHERE NOT done',
    'SELECT session, name, clock_timestamp() - seen AS silent FROM promptpress.sessions WHERE NOT over',
    'SELECT application_name, state, wait_event, query FROM pg_stat_activity WHERE datname = current_database()',
  ];
  const rows: string[] = [];
  for (const question of questions)
    for (const row of await asked(url, question)) rows.push(JSON.stringify(row));
  return rows.join('\n');
}

/** What the engine and the service have of some jobs, as lines. */
export async function evidenceOf(
  url: string,
  keys: readonly string[],
  tasks: readonly MadeTask[],
): Promise<readonly string[]> {
  if (keys.length === 0) return [];
  const wanted = new Set(keys);
  const questions = {
    job: 'SELECT status, step, slice, rev, session, sender, doc FROM promptpress.jobs WHERE key = ANY($1)',
    attempt:
      'SELECT key, slice, rev, number, doc FROM promptpress.attempts WHERE key = ANY($1) ORDER BY key, number',
    fact: 'SELECT key, submitted, lease, task FROM promptpress.facts_late WHERE key = ANY($1)',
    slice:
      'SELECT n, epoch, holder, done, takeovers FROM promptpress.slices WHERE n IN (SELECT slice FROM promptpress.attempts WHERE key = ANY($1))',
  };
  const lines = tasks.filter(({ tag }) => wanted.has(tag)).map((task) => `task ${JSON.stringify(task)}`);
  for (const [name, question] of Object.entries(questions))
    for (const row of await asked(url, question, [keys])) lines.push(`${name} ${JSON.stringify(row)}`);
  return lines;
}
