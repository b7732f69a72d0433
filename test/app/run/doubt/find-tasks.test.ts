import { describe, expect, it } from 'vitest';
import { findingsText, findTasks } from '../../../../src/app/run/doubt/find-tasks.ts';
import type { JobRecord } from '../../../../src/plan/job.ts';
import type { Task } from '../../../../src/service/image-service.ts';
import type { ServiceResult } from '../../../../src/service/result.ts';
import { imagineRecord, textRecord } from '../../../rig/jobs.ts';
import { memoryStore } from '../../../rig/memory-store.ts';

const never = new AbortController().signal;
const task = (id: string, tag?: string, state: Task['state'] = 'success'): Task => ({
  id,
  state,
  status: 'SUCCESS',
  buttons: [],
  ...(tag === undefined ? {} : { tag }),
});

const at = (submittedAt: number, tag?: string): Task => ({ ...task(`T${submittedAt}`, tag), submittedAt });

async function find(
  records: readonly JobRecord[],
  listed: ServiceResult<readonly Task[]>,
  known: string[] = [],
) {
  const store = memoryStore();
  store.commit({
    records,
    attempts: known.map((taskId) => ({ key: 'aa11', at: 1, outcome: 'accepted', taskId })),
  });
  let asked = 0;
  const service = {
    listTasks: () => {
      asked += 1;
      return Promise.resolve(listed);
    },
  };
  const found = await findTasks(store, service, { imagine: 0.04 }, () => 99, never);
  return { store, found, asked };
}

const doubtful = (changes: Partial<JobRecord> = {}): JobRecord =>
  imagineRecord({
    status: 'in-doubt',
    attempts: 1,
    submittedAt: 5,
    error: { code: 'connection.lost', message: 'No answer came.' },
    ...changes,
  });
const listed = (...tasks: readonly Task[]): ServiceResult<readonly Task[]> => ({ ok: true, value: tasks });

describe('tasks of jobs in doubt', () => {
  it.each(['in-doubt', 'submitting'] as const)('are adopted by their tag: %s', async (status) => {
    const { store, found } = await find([doubtful({ status })], listed(task('T0'), task('T7', 'aa11')));
    expect(found).toEqual({ doubtful: 1, adopted: 1, unused: [] });
    expect(store.get('aa11')).toMatchObject({ status: 'running', taskId: 'T7', attempts: 1, cost: 0.04 });
    // The try that nobody heard of stays in the history, with its time.
    const tries = status === 'submitting' ? [{ outcome: 'unanswered', at: 5 }] : [];
    expect(store.attempts('aa11')).toMatchObject([
      ...tries,
      { outcome: 'user.adopted', taskId: 'T7', at: 99 },
    ]);
  });

  it('are not those of the job’s earlier submissions', async () => {
    const tasks = listed(task('T1', 'aa11'), task('T7', 'aa11'));
    const { store, found } = await find([doubtful()], tasks, ['T1']);
    expect(found.adopted).toBe(1);
    expect(store.get('aa11')?.taskId).toBe('T7');
  });

  it('stay in doubt if no task is listed', async () => {
    const none = await find([doubtful()], listed(task('T7', 'another'), task('T8')));
    expect(none.found).toMatchObject({ doubtful: 1, adopted: 0, unused: [] });
    expect(none.store.get('aa11')).toEqual(doubtful());
    expect(findingsText(none.found)).toContain('1 stays in doubt');
  });

  it.each([
    ['empty', [], 'is empty: that does not show that no task was made'],
    ['without tags', [task('T1')], 'has 1 task, but none has a tag'],
    ['without times', [task('T1', 'x')], 'so it may be incomplete'],
    ['of impossible times', [at(0, 'x'), at(1e300)], 'so it may be incomplete'],
    ['younger than the job', [at(6, 'x'), at(7)], 'has 2 tasks, the oldest of 1970-01-01T00:00:00.006Z'],
    ['younger than the job', [at(6, 'x'), at(7)], 'the list may be cut off'],
    ['older than the job', [at(7), at(4, 'x'), task('T')], 'most likely no task was made'],
  ])('are not there: it says how much a list means that is %s', async (_, tasks, words) => {
    const { found } = await find([doubtful(), doubtful({ key: 'bb', submittedAt: 9 })], listed(...tasks));
    expect(findingsText(found)).toContain(words);
  });

  it('may be several, one for each try: the most advanced one is adopted, the others are named', async () => {
    const tries = doubtful({ attempts: 3, doubtful: { count: 3, cost: 0.12, since: 5 } });
    const { store, found } = await find(
      [tries],
      listed(task('T6', 'aa11', 'failure'), task('T8', 'aa11', 'unfinished'), task('T7', 'aa11')),
    );
    expect(found).toEqual({ doubtful: 1, adopted: 1, unused: [{ job: 'aa11', taskIds: ['T8', 'T6'] }] });
    const { taskId, cost, doubtful: left } = store.get('aa11') ?? {};
    expect([taskId, cost, left?.count, left?.cost?.toFixed(2)]).toEqual(['T7', 0.04, 2, '0.08']);
    expect(store.attempts('aa11').map(({ outcome, taskId: id }) => [outcome, id])).toEqual([
      ['user.adopted', 'T7'],
      ['found.unused', 'T8'],
      ['found.unused', 'T6'],
    ]);
    expect(findingsText(found)).toContain('Of aa11 the service has made 3 tasks');
    expect(findingsText(found)).toContain('T8, T6');
  });

  it('are named ten at a time, however many are listed; the history has all of them', async () => {
    const many = Array.from({ length: 10_000 }, (_, at) => task(`T${10_000 + at}`, 'aa11'));
    const { store, found } = await find([doubtful()], listed(...many));
    const text = findingsText(found);
    expect(text).toContain('T10001, T10002');
    expect(text).toContain('T10010 and 9989 more');
    expect(text).not.toContain('T10011');
    expect(store.attempts('aa11')).toHaveLength(10_000);
  });

  it('are not those of another run directory, which are older than the job’s submission', async () => {
    const at = 1_700_000_000_000;
    const other = { ...task('T1', 'aa11'), submittedAt: at - 300_001 };
    const own = { ...task('T7', 'aa11'), submittedAt: at - 300_000 };
    const late = doubtful({ submittedAt: at });
    expect((await find([late], listed(other))).found.adopted).toBe(0);
    expect((await find([late], listed(other, own))).store.get('aa11')?.taskId).toBe('T7');
    // The first of its tries counts, not the last.
    const tries = doubtful({ submittedAt: at + 900_000, doubtful: { count: 2, since: at } });
    expect((await find([tries], listed(own))).found.adopted).toBe(1);
  });

  const answered = (status: 'in-doubt' | 'submitting' = 'in-doubt'): JobRecord =>
    doubtful({ status, taskId: 'T3', cost: 0.04, modal: { taskId: 'T3', sent: 1 } });

  it.each(['in-doubt', 'submitting'] as const)(
    'are the tasks that a lost confirmation began, and not the modals: %s',
    async (status) => {
      const tasks = listed(task('T3', 'aa11', 'modal'), task('T5', 'aa11', 'modal'), task('T7', 'aa11'));
      const { store, found } = await find([answered(status)], tasks);
      expect(found).toEqual({ doubtful: 1, adopted: 1, unused: [] });
      expect(store.get('aa11')).toMatchObject({ status: 'running', taskId: 'T7', attempts: 1, cost: 0.04 });
      expect(store.attempts('aa11').at(-1)).toMatchObject({ outcome: 'user.adopted', taskId: 'T7' });
    },
  );

  it.each([
    ['only the modal itself, whatever it shows', [task('T3', 'aa11')]],
    ['another modal', [task('T7', 'aa11', 'modal')]],
    ['one that the history knows', [task('T1', 'aa11')]],
  ])('leave a job whose modal was sent to the run: %s', async (_, tasks) => {
    const { store, found } = await find([answered()], listed(...tasks), ['T1']);
    expect(found).toMatchObject({ doubtful: 1, adopted: 0, unused: [] });
    expect(store.get('aa11')).toEqual(answered());
  });

  it('are not searched if no job is in doubt, or only a text call', async () => {
    const { found, asked } = await find(
      [imagineRecord({ status: 'done' }), textRecord({ status: 'submitting' })],
      listed(task('T7', 'aa11')),
    );
    expect(found).toEqual({ doubtful: 0, adopted: 0, unused: [] });
    expect(asked).toBe(0);
  });

  it('stay in doubt if the service lists no tasks, with its reason', async () => {
    const { store, found } = await find([doubtful()], {
      ok: false,
      error: { code: 'service.no-listing', class: 'permanent', message: 'It lists no tasks.' },
    });
    expect(store.get('aa11')).toEqual(doubtful());
    expect(findingsText(found)).toBe(
      '--in-doubt find: 1 job in doubt could not be searched. It lists no tasks.',
    );
  });
});
