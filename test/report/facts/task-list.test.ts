import { describe, expect, it } from 'vitest';
import { first, waysOut } from '../../../src/report/facts/in-doubt.ts';
import { listFacts, listWords } from '../../../src/report/facts/task-list.ts';

const at = Date.UTC(2026, 10, 1, 12);

describe('the facts of a list of tasks', () => {
  it('are its number of tasks, and of those with a tag', () => {
    expect(listFacts([{ tag: 'a' }, {}, { tag: 'b' }], [])).toEqual({ tasks: 3, tagged: 2 });
    expect(listFacts([], [])).toEqual({ tasks: 0, tagged: 0 });
  });

  it('are the earliest known time of its tasks, whatever a service sends for an unknown one', () => {
    const times = [undefined, 0, -1, at + 5, at, 9e15];
    const tasks = times.map((submittedAt) => (submittedAt === undefined ? {} : { submittedAt }));
    expect(listFacts(tasks, [])).toMatchObject({ oldest: at });
    expect(listFacts(tasks.slice(0, 3), [])).not.toHaveProperty('oldest');
  });

  it('are when the first submission of a job was sent, not its last', () => {
    const held = [{ submittedAt: at + 9, doubtful: { count: 2, since: at } }, { submittedAt: at + 3 }];
    expect(listFacts([], held)).toMatchObject({ sent: at });
    expect(listFacts([], held.slice(1))).toMatchObject({ sent: at + 3 });
  });

  it.each([
    [{ tasks: 0, tagged: 0 }, 'is empty: that does not show'],
    [{ tasks: 1, tagged: 0, oldest: at, sent: at }, 'has 1 task, but none has a tag'],
    [{ tasks: 2, tagged: 1, sent: at }, 'has 2 tasks without submission times'],
    [{ tasks: 2, tagged: 1, oldest: at }, 'has 2 tasks without submission times'],
    [{ tasks: 2, tagged: 2, oldest: at, sent: at }, 'most likely no task was made'],
    [{ tasks: 2, tagged: 2, oldest: at + 1, sent: at }, 'may be cut off: a task may still exist'],
  ])('say whether a task may exist that is not in it: %j', (facts, words) => {
    expect(listWords(facts)).toContain(words);
  });
});

it('ways out of doubt begin with those that cannot pay twice', () => {
  const commands = (find: string | undefined): readonly string[] =>
    waysOut('promptpress resolve a', find).map(({ command }) =>
      command.replace('promptpress resolve a ', ''),
    );
  expect(commands('run --in-doubt find')).toEqual([
    'run --in-doubt find',
    '--task TASK_ID',
    '--drop',
    '--retry',
  ]);
  expect(commands(undefined)).toEqual(['--task TASK_ID', '--drop', '--retry']);
});

it('the first items are read without the next one', async () => {
  let read = 0;
  async function* numbers(): AsyncGenerator<number> {
    for (; read < 9; read += 1) yield read;
  }
  expect([await first(2, numbers()), read]).toEqual([[0, 1], 1]);
});
