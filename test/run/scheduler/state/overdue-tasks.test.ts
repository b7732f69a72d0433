import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OverdueTasks } from '../../../../src/run/scheduler/state/overdue-tasks.ts';
import { imagineRecord, job } from '../../../rig/jobs.ts';

const times = fc.record({ looksMs: fc.integer({ min: 1, max: 20 }) });

describe('tasks past their deadlines', () => {
  it('are read in the order of their times, and never once their slots are freed', () => {
    fc.assert(
      fc.property(fc.array(times, { maxLength: 6 }), (all) => {
        const tasks = new OverdueTasks();
        // Tasks are kept one after the other, each for the same time: the first one gives its place back first.
        for (const [at, { looksMs }] of all.entries())
          tasks.keep(job(imagineRecord({ key: `k${at}` })), at + 10, at + looksMs);
        const looks: { key: string; at: number }[] = [];
        for (let look = tasks.nextLook; look !== undefined; look = tasks.nextLook) {
          looks.push({ key: look.job.record.key, at: look.at });
          tasks.looks();
        }
        expect(looks.map(({ at }) => at)).toEqual(looks.map(({ at }) => at).toSorted((a, b) => a - b));
        expect(looks.map(({ key }) => key).sort()).toEqual(
          all.flatMap(({ looksMs }, at) => (looksMs < 10 ? [`k${at}`] : [])),
        );
        expect(tasks.size).toBe(all.length);
      }),
    );
  });

  it('keep their slots until their times, and are not read once they have none', () => {
    const tasks = new OverdueTasks();
    for (const at of [1, 2, 3]) tasks.keep(job(imagineRecord({ key: `k${at}` })), at * 10, at);
    expect([tasks.size, tasks.givesBackAt]).toEqual([3, 10]);
    tasks.giveBackDue(9);
    expect(tasks.size).toBe(3);
    tasks.giveBackDue(10);
    expect([tasks.size, tasks.givesBackAt, tasks.nextLook?.job.record.key]).toEqual([2, 20, 'k2']);
    tasks.giveBack('k2');
    expect([tasks.size, tasks.givesBackAt, tasks.nextLook?.job.record.key]).toEqual([1, 30, 'k3']);
    tasks.giveBackDue(30);
    expect([tasks.size, tasks.givesBackAt, tasks.nextLook]).toEqual([0, undefined, undefined]);
  });
});
