import { describe, expect, it } from 'vitest';
import { TaskOwners } from '../../../../src/run/scheduler/state/task-owners.ts';
import { imagineRecord } from '../../../rig/jobs.ts';

describe('the jobs that got a task id', () => {
  it('are known while one of them is active, however many ids come after it, and otherwise among the latest', () => {
    const owners = new TaskOwners((key) => key === 'active');
    owners.note({ key: 'active', taskId: 'T1' });
    owners.note({ key: 'past', taskId: 'T2' });
    for (let count = 0; count < 4094; count += 1) owners.note({ key: `k${count}`, taskId: `N${count}` });
    const rivalsOf = (taskId: string) => owners.rivals(imagineRecord({ key: 'new', taskId }));
    expect([rivalsOf('T1'), rivalsOf('T2')]).toEqual([['active'], ['past']]);
    for (let count = 0; count < 4096; count += 1) owners.note({ key: `l${count}`, taskId: `M${count}` });
    expect([rivalsOf('T1'), rivalsOf('T2')]).toEqual([['active'], []]);
  });

  it('exclude the job that asks', () => {
    const owners = new TaskOwners(() => true);
    for (const key of ['a', 'b', 'a', 'c']) owners.note({ key, taskId: 'T1' });
    owners.note({ key: 'd' });
    expect(owners.rivals(imagineRecord({ key: 'b', taskId: 'T1' }))).toEqual(['a', 'c']);
    expect(owners.rivals(imagineRecord({ key: 'b', taskId: 'T9' }))).toEqual([]);
  });
});

it('a service shows its tasks under their ids once one is shown under the id that it was requested by', () => {
  const task = { id: 'T1', state: 'unfinished', status: 'IN_PROGRESS', buttons: [] } as const;
  const owners = new TaskOwners(() => true);
  expect(owners.showsIds).toBe(false);
  owners.shown({ ...task, isOther: true });
  expect(owners.showsIds).toBe(false);
  owners.shown(task);
  expect(owners.showsIds).toBe(true);
});
