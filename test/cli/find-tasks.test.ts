import { describe, expect, it } from 'vitest';
import { findingsText, findTasks } from '../../src/cli/find-tasks.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Answer, Task } from '../../src/service/answer.ts';
import { imagineRecord, textRecord } from '../rig/jobs.ts';
import { memoryStore } from '../rig/memory-store.ts';

const never = new AbortController().signal;
const task = (id: string, tag?: string, state: Task['state'] = 'success'): Task => ({
  id,
  state,
  status: 'SUCCESS',
  buttons: [],
  ...(tag === undefined ? {} : { tag }),
});

async function find(records: readonly JobRecord[], listed: Answer<readonly Task[]>, known: string[] = []) {
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
const listed = (...tasks: readonly Task[]): Answer<readonly Task[]> => ({ ok: true, value: tasks });

describe('tasks of jobs in doubt', () => {
  it.each(['in-doubt', 'submitting'] as const)('are taken on by their tag: %s', async (status) => {
    const { store, found } = await find([doubtful({ status })], listed(task('T0'), task('T7', 'aa11')));
    expect(found).toEqual({ doubtful: 1, adopted: 1 });
    expect(store.get('aa11')).toMatchObject({ status: 'running', taskId: 'T7', attempts: 1, cost: 0.04 });
    expect(store.attempts('aa11').at(-1)).toMatchObject({ outcome: 'user.adopted', taskId: 'T7', at: 99 });
  });

  it('are not those of its earlier submissions', async () => {
    const tasks = listed(task('T1', 'aa11'), task('T7', 'aa11'));
    const { store, found } = await find([doubtful()], tasks, ['T1']);
    expect(found.adopted).toBe(1);
    expect(store.get('aa11')?.taskId).toBe('T7');
  });

  it('are left alone where there is none, or no telling which', async () => {
    const none = await find([doubtful()], listed(task('T7', 'another'), task('T8')));
    expect(none.found).toEqual({ doubtful: 1, adopted: 0 });
    const two = await find([doubtful()], listed(task('T7', 'aa11'), task('T8', 'aa11')));
    expect(two.found).toEqual({ doubtful: 1, adopted: 0 });
    expect(two.store.get('aa11')).toEqual(doubtful());
    expect(findingsText(two.found)).toContain('1 stays in doubt');
  });

  const answered = (status: 'in-doubt' | 'submitting' = 'in-doubt'): JobRecord =>
    doubtful({ status, taskId: 'T3', cost: 0.04, modal: { taskId: 'T3', sent: 1 } });

  it.each(['in-doubt', 'submitting'] as const)(
    'are what a lost answer to a modal began, and not the modals: %s',
    async (status) => {
      const tasks = listed(task('T3', 'aa11', 'modal'), task('T5', 'aa11', 'modal'), task('T7', 'aa11'));
      const { store, found } = await find([answered(status)], tasks);
      expect(found).toEqual({ doubtful: 1, adopted: 1 });
      expect(store.get('aa11')).toMatchObject({ status: 'running', taskId: 'T7', attempts: 1, cost: 0.04 });
      expect(store.attempts('aa11').at(-1)).toMatchObject({ outcome: 'user.adopted', taskId: 'T7' });
    },
  );

  it.each([
    ['only the modal itself, whatever it shows', [task('T3', 'aa11')]],
    ['another modal', [task('T7', 'aa11', 'modal')]],
    ['several that could be its own', [task('T7', 'aa11'), task('T8', 'aa11', 'unfinished')]],
    ['one that the history knows', [task('T1', 'aa11')]],
  ])('leave a job whose modal was sent to the run: %s', async (_, tasks) => {
    const { store, found } = await find([answered()], listed(...tasks), ['T1']);
    expect(found).toEqual({ doubtful: 1, adopted: 0 });
    expect(store.get('aa11')).toEqual(answered());
  });

  it('are not looked for where nothing is in doubt, or only a text', async () => {
    const { found, asked } = await find(
      [imagineRecord({ status: 'done' }), textRecord({ status: 'submitting' })],
      listed(task('T7', 'aa11')),
    );
    expect(found).toEqual({ doubtful: 0, adopted: 0 });
    expect(asked).toBe(0);
  });

  it('stay in doubt where the service lists none, with its reason', async () => {
    const { store, found } = await find([doubtful()], {
      ok: false,
      error: { code: 'service.no-listing', class: 'permanent', message: 'It lists no tasks.' },
    });
    expect(store.get('aa11')).toEqual(doubtful());
    expect(findingsText(found)).toBe(
      '--in-doubt find: 1 job in doubt could not be looked for. It lists no tasks.',
    );
  });
});
