import { expect, it } from 'vitest';
import { EndedTasks } from '../../../../src/run/scheduler/state/ended-tasks.ts';
import { epoch, imagineRecord } from '../../../rig/jobs.ts';

const at = (s: number) => imagineRecord({ submittedAt: epoch + s * 1000 });

it('knows when a task was first overtaken by a later one of its kind', () => {
  const ended = new EndedTasks();
  ended.note(at(2), epoch + 50_000);
  ended.note(at(1), epoch + 60_000);
  ended.note(at(5), epoch + 70_000);
  expect([0, 1, 2, 4, 5, 9].map((s) => ended.overtakenAt(at(s)))).toEqual([
    epoch + 50_000,
    epoch + 50_000,
    epoch + 70_000,
    epoch + 70_000,
    undefined,
    undefined,
  ]);
  expect(ended.overtakenAt({ ...at(0), speed: 'turbo' })).toBeUndefined();
});

it('knows the same after any number of tasks that ended behind later ones', () => {
  const ended = new EndedTasks();
  ended.note(at(100), epoch);
  for (let n = 0; n < 300; n += 1) ended.note(at(n % 50), epoch + n);
  expect(ended.overtakenAt(at(60))).toBe(epoch);
});
