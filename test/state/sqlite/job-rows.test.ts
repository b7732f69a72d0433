import { describe, expect, it } from 'vitest';
import type { JobErrorCode } from '../../../src/pipeline/diagnostics/job-errors.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Driver } from '../../../src/state/sqlite/driver.ts';
import { openState } from '../../../src/state/state.ts';
import type { StateStore } from '../../../src/state/store.ts';
import { drivers, freshFolder } from '../places.ts';
import { jobRecord } from '../records.ts';

/** A driver that notes what is asked of the table of jobs by a key, an insert that finds a row too, and which columns are set. */
function noting(driver: Driver): { readonly driver: Driver; readonly take: () => readonly string[] } {
  let noted: string[] = [];
  const note = (sql: string): void => {
    const columns = /^UPDATE jobs SET (.*) WHERE/.exec(sql)?.[1]?.replaceAll(' = ?', '');
    if (columns !== undefined) noted.push(`set ${columns.split(', doc')[1]?.slice(2) ?? columns}`);
    else if (sql.startsWith('INSERT INTO jobs')) noted.push('insert');
    else if (sql.startsWith('SELECT status, code, root')) noted.push('read');
    else if (sql.includes('FROM jobs LEFT JOIN texts')) noted.push('get');
  };
  return {
    take: () => noted.splice(0),
    driver: {
      ...driver,
      open: (location, given) => {
        const raw = driver.open(location, given);
        return {
          exec: (sql) => raw.exec(sql),
          close: () => raw.close(),
          prepare: (sql) => {
            const statement = raw.prepare(sql);
            return {
              get: (...values) => {
                note(sql);
                return statement.get(...values);
              },
              all: (...values) => {
                note(sql);
                return statement.all(...values);
              },
              iterate: (...values) => statement.iterate(...values),
              run: (...values) => {
                note(sql);
                return statement.run(...values);
              },
            };
          },
        };
      },
    },
  };
}

describe.each(drivers.map((driver) => [driver.name, driver] as const))('rows of jobs with %s', (_, given) => {
  function opened() {
    const { driver, take } = noting(given);
    const directory = freshFolder();
    const open = (): StateStore => openState(directory, { driver });
    const state = open();
    const commit = (record: JobRecord, store = state): readonly string[] => {
      take();
      store.commit({ records: [record], attempts: [] });
      return take();
    };
    return { state, open, commit };
  }

  it('are not read while a job is in work, and only their changed columns are set', () => {
    const { state, commit } = opened();
    expect(commit(jobRecord('a', 'submitting'))).toEqual(['insert']);
    expect(commit(jobRecord('a', 'submitting', { attempts: 1 }))).toEqual(['set ']);
    expect(commit(jobRecord('a', 'running', { attempts: 1 }))).toEqual(['set status, code']);
    expect(commit(jobRecord('a', 'done', { attempts: 1 }))).toEqual(['set status, code']);
    // It is settled: nobody keeps it in memory.
    expect(commit(jobRecord('a', 'done', { attempts: 2 }))).toEqual(['insert', 'read', 'set ']);
    expect(state.get('a')).toMatchObject({ status: 'done', attempts: 2 });
    state.close();
  });

  it('are counted by the code of their last failure, of the same status too', () => {
    const { state, commit } = opened();
    const failed = (code: JobErrorCode): JobRecord =>
      jobRecord('a', 'failed', { error: { code, message: '' } });
    commit(failed('task.failed'));
    expect(commit(failed('task.timeout'))).toEqual(['insert', 'read', 'set status, code']);
    expect(state.totals().codes).toEqual({ failed: { 'task.timeout': 1 }, 'in-doubt': {} });
    state.close();
  });

  it('are found by another slot once their job has moved there', async () => {
    const { state, commit } = opened();
    const origin = { cell: 2, step: 'grid', branch: '', slot: 'elsewhere' };
    commit(jobRecord('a', 'running'));
    expect(commit(jobRecord('a', 'running', { origin }))).toEqual(['set status, code, root, slot']);
    expect((await state.reader.keysOfSlots(['slot-a', 'elsewhere'])).get('elsewhere')).toEqual(['a']);
    state.close();
  });

  it('are read again after a failed commit, and after a restart', () => {
    const { state, open, commit } = opened();
    commit(jobRecord('a', 'submitting'));
    const endless: Record<string, unknown> = {};
    endless['self'] = endless;
    const broken = { ...jobRecord('b', 'done'), result: endless } as unknown as JobRecord;
    expect(() => state.commit({ records: [jobRecord('a', 'running'), broken], attempts: [] })).toThrow(
      'circular structure',
    );
    expect(commit(jobRecord('a', 'submitting'))).toEqual(['insert', 'read', 'set ']);
    expect(state.totals().jobs.submitting).toBe(1);
    state.close();
    const again = open();
    expect(commit(jobRecord('a', 'running'), again)).toEqual(['insert', 'read', 'set status, code']);
    expect(again.totals().jobs).toMatchObject({ submitting: 0, running: 1 });
    again.close();
  });

  it('are given in their latest form', () => {
    const { state, open } = opened();
    state.commit({ records: [jobRecord('one', 'done')], attempts: [] });
    state.close();
    const again = open();
    expect(again.get('one')?.status).toBe('done');
    again.commit({ records: [jobRecord('one', 'failed')], attempts: [] });
    expect(again.get('one')?.status).toBe('failed');
    again.close();
    expect(() => again.get('one')).toThrow(/not open|finalized|closed/);
  });
});
