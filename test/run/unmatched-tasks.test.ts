import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/run/events.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';

const submittedAgain = (events: readonly RunEvent[]): number =>
  events.filter((event) => event.type === 'job:status' && event.timedOut).length;

describe('a task that timed out at the gateway', () => {
  it.each([
    ['Task timeout', 2],
    ['任务超时', 2],
    ['[Task timed out] nothing came', 2],
    ['上游任务超时（超过1小时）', 2],
    ['[Internal error] Something went wrong', 3],
  ])('is submitted again as often as its reason allows: %s', async (reason, submits) => {
    const here = await world(grid(3), { fails: () => reason });
    const { events } = here.run();
    expect(here.statuses()).toEqual({ failed: 3 });
    expect(here.service.submits).toHaveLength(3 * submits);
    expect(submittedAgain(events)).toBe(submits === 2 ? 3 : 0);
    const [failed] = here.store.withStatus('failed');
    expect(failed?.error?.code).toBe('task.failed');
    expect(failed?.error?.message.includes('double blanks')).toBe(submits === 2);
  });

  it('is never submitted again where the pipeline allows no resubmission', async () => {
    const here = await world(grid(3), { fails: () => 'Task timeout' });
    const { retry } = virtualSettings();
    here.run({ settings: virtualSettings({ retry: { ...retry, resubmits: 0 } }) });
    expect(here.service.submits).toHaveLength(3);
  });

  it('may be done by the second submission', async () => {
    const here = await world(grid(3), {
      fails: ({ number }) => (number <= 3 ? 'Task timeout' : undefined),
    });
    here.run();
    expect(here.statuses()).toEqual({ done: 3 });
    expect(here.service.submits).toHaveLength(6);
  });

  it('counts as paid again in the run that submits it again, and in no run that only decides it', async () => {
    const here = await world(grid(3), {
      fails: ({ number }) => (number <= 3 ? 'Task timeout' : undefined),
      duration: () => 31_000,
    });
    // The run ends while the first of them waits to be submitted again.
    const first = here.run({ settings: virtualSettings({ maxDurationMs: 36_200 }) });
    const decided = first.events.filter(({ type }) => type === 'job:retry').length;
    expect([decided, submittedAgain(first.events), here.service.submits.length]).toEqual([1, 0, 3]);
    const { events } = here.run();
    expect([submittedAgain(events), here.service.submits.length]).toEqual([3, 6]);
    expect(here.statuses()).toEqual({ done: 3 });
  });
});
