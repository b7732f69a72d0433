import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LostTasks } from '../../../../src/run/scheduler/state/lost-tasks.ts';
import { epoch, imagineRecord } from '../../../rig/jobs.ts';

const submitted = (at: number) => imagineRecord({ submittedAt: epoch + at });

/** The service knows none of its tasks from this moment on. @returns when that was told, ms since the epoch of tests */
function forget(lost: LostTasks, at: number): number {
  for (const later of [0, 30_000, 59_999]) expect(lost.unknown(4, epoch + at + later)).toBeUndefined();
  expect(lost.unknown(4, epoch + at + 60_000)).toMatchObject({ code: 'tasks.forgotten' });
  return at + 60_000;
}

describe('tasks that a service does not know', () => {
  it('show that it has forgotten all after three reads over a minute, which is reported once', () => {
    const lost = new LostTasks();
    const at = forget(lost, 0);
    expect(lost.isForgetting).toBe(true);
    expect(lost.unknown(4, epoch + at + 600_000)).toBeUndefined();
    lost.found();
    expect(lost.isForgetting).toBe(false);
    forget(lost, at + 1_000_000);
  });

  it('are all forgotten at the third read that finds none, a minute after the first', () => {
    const lost = new LostTasks();
    expect([0, 30_000, 60_000].map((at) => lost.unknown(4, epoch + at)?.type)).toEqual([
      undefined,
      undefined,
      'run:notice',
    ]);
    const slower = new LostTasks();
    expect([0, 90_000].map((at) => slower.unknown(4, epoch + at))).toEqual([undefined, undefined]);
  });

  it('are not probes where they were submitted before it had forgotten all', () => {
    const lost = new LostTasks();
    const at = forget(lost, 0);
    for (let count = 0; count < 20; count += 1) expect(lost.lost(submitted(at - 1))).toBeUndefined();
    for (let count = 0; count < 4; count += 1) expect(lost.lost(submitted(at))).toBeUndefined();
    expect(lost.lost(submitted(at))).toMatchObject({ kind: 'stopped', code: 'tasks.forgotten' });
  });

  it('end the run after five new ones in a row, not counting those before one was found', () => {
    const lost = new LostTasks();
    let at = 0;
    for (let round = 0; round < 4; round += 1) {
      at = forget(lost, at + 1_000_000);
      for (let count = 0; count < 4; count += 1) expect(lost.lost(submitted(at))).toBeUndefined();
      lost.found(submitted(at));
    }
  });

  it('have free slots exactly where one is found that was submitted later', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 5 }), fc.nat(9), (found, asked) => {
        const lost = new LostTasks();
        for (const at of found) lost.found(submitted(at));
        lost.found();
        expect(lost.hasFoundLater(submitted(asked))).toBe(found.some((at) => at > asked));
      }),
    );
  });
});
