import { describe, expect, it } from 'vitest';
import type { SendTimes, SharedLimits } from '../../../src/run/ports.ts';
import { admitCells } from '../../../src/run/scheduler/cell-admission.ts';
import { dispatch } from '../../../src/run/scheduler/dispatch.ts';
import { epoch } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import { paidKeys, type SchedulerRig, schedulerRig } from './scheduler-rig.ts';

const limits = { tasks: 9, requests: 9 };
const rigOf = (shared: SharedLimits): Promise<SchedulerRig> =>
  schedulerRig(grid(9), { limits }, () => undefined, { shared });

/** How many submissions leave now. */
function sent({ state }: SchedulerRig): number {
  admitCells(state);
  dispatch(state);
  const commit = state.outbox.take();
  state.outbox.onDurable();
  return paidKeys(commit).length;
}

describe('limits that a run shares with others', () => {
  it('begin no more tasks than are granted, and more once the grant grows', async () => {
    const taskSlots = { granted: 2 };
    const rig = await rigOf({ taskSlots });
    expect(sent(rig)).toBe(2);
    taskSlots.granted = 5;
    expect(sent(rig)).toBe(3);
    taskSlots.granted = 99;
    expect(sent(rig)).toBe(4);
  });

  it('let submissions be sent at the given times, and no others', async () => {
    const used: number[] = [];
    let next = epoch + 1000;
    const submit: SendTimes = {
      nextAt: () => next,
      take: (now) => {
        used.push(now);
        next = now + 5000;
      },
    };
    const rig = await rigOf({ sendTimes: { submit } });
    expect(sent(rig)).toBe(0);
    rig.state.now = epoch + 1000;
    expect([sent(rig), used]).toEqual([1, [epoch + 1000]]);
    expect(rig.state.routes.nextAt(rig.state.now)).toBe(epoch + 6000);
  });

  it('make a run wait while the allowance is empty, and continue once it is refilled', async () => {
    let left = 1;
    const rig = await rigOf({ allowance: { refusal: () => (left > 0 ? void (left -= 1) : 'wait') } });
    expect(sent(rig)).toBe(1);
    left = 2;
    expect([sent(rig), rig.state.routes.nextAt(epoch)]).toEqual([0, undefined]);
    rig.state.routes.release();
    expect([sent(rig), rig.state.lifecycle.isEnding]).toEqual([2, false]);
  });

  it('end a run whose allowance is used up for good', async () => {
    const end = { kind: 'budget', code: 'budget.submits', message: 'Nothing is left.' } as const;
    const rig = await rigOf({ allowance: { refusal: () => end } });
    expect([sent(rig), rig.state.lifecycle.isEnding]).toEqual([0, true]);
  });

  it('are told the number of tasks in flight, and what is reserved and spent', async () => {
    const tasks: number[] = [];
    const spent: string[] = [];
    const rig = await rigOf({
      taskSlots: { granted: 2, note: (count) => void tasks.push(count) },
      allowance: {
        refusal: () => undefined,
        note: (before, after) =>
          void (after.attempts > before.attempts && spent.push(`${before.status} ${after.status}`)),
      },
    });
    expect(sent(rig)).toBe(2);
    expect(Math.max(...tasks)).toBe(2);
    expect(spent).toEqual(['pending submitting', 'pending submitting']);
  });
});
