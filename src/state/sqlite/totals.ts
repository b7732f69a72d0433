import type { Database } from './sqlite.ts';

/** The amounts that one row of `jobs` adds to the totals. */
export interface SummedJob {
  readonly status: string;
  readonly code: string;
  readonly attempts: number;
  readonly cost: number;
  readonly tokens: number;
  readonly possible: number;
  readonly assumed: number;
}

/** The columns that are summed. */
export const summed = ['attempts', 'cost', 'tokens', 'possible', 'assumed'] as const;

/** The change of one row of `totals` by a commit; amounts below 0 are subtracted. */
type Change = { jobs: number } & Record<(typeof summed)[number], number>;

/** Changes the totals of a state together with its jobs. */
export interface TotalsWriter {
  /**
   * Replaces the amounts of a row of `jobs`: subtracts those of the row before, and adds the new ones.
   *
   * @param last the row before; undefined: there was none
   */
  replace(last: SummedJob | undefined, job: SummedJob): void;
  /** Writes the changes: one statement for each status and code. */
  write(): void;
}

/**
 * Prepares the totals, kept beside the jobs because counting a million rows is too slow for a status that is read every second.
 *
 * @returns a function that begins the changes of one transaction; call `replace` and `write` within the transaction
 */
export function totalsOf(database: Database): () => TotalsWriter {
  const names = summed.join(', ');
  const put = database.prepare(
    `INSERT INTO totals (status, code, jobs, ${names}) VALUES (?, ?, ?${', ?'.repeat(summed.length)})
     ON CONFLICT (status, code) DO UPDATE SET jobs = jobs + excluded.jobs,
       ${summed.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
  );
  return () => {
    const changes = new Map<string, Map<string, Change>>();
    const add = (job: SummedJob, times: 1 | -1): void => {
      const ofStatus = changes.get(job.status) ?? new Map<string, Change>();
      changes.set(job.status, ofStatus);
      const change = ofStatus.get(job.code) ?? {
        jobs: 0,
        attempts: 0,
        cost: 0,
        tokens: 0,
        possible: 0,
        assumed: 0,
      };
      ofStatus.set(job.code, change);
      change.jobs += times;
      for (const name of summed) change[name] += times * job[name];
    };
    return {
      replace: (last, job) => {
        if (last !== undefined) add(last, -1);
        add(job, 1);
      },
      write: () => {
        for (const [status, ofStatus] of changes)
          for (const [code, { jobs, ...sums }] of ofStatus)
            if (jobs !== 0 || summed.some((name) => sums[name] !== 0))
              put.run(status, code, jobs, ...summed.map((name) => sums[name]));
      },
    };
  };
}
