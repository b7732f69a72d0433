import { describe, expect, it } from 'vitest';
import { epoch } from '../rig/jobs.ts';
import { grid, world } from '../rig/world.ts';

const hour = 3_600_000;
const minute = 60_000;

describe('a machine that sleeps beside a run', () => {
  it('does not let a task time out that the run has hardly polled', async () => {
    // 25 min awake in all, 15 of them after the sleep of a night.
    const here = await world(grid(1), { duration: () => 8 * hour + 15 * minute });
    const { end, events } = here.run({ sleeps: { atMs: epoch + 10 * minute, forMs: 8 * hour } });
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 1 }]);
    const notices = events.flatMap((event) => (event.type === 'run:notice' ? [event] : []));
    expect(notices).toMatchObject([
      { code: 'run.slept', message: expect.stringContaining('stood still for 480 min') },
    ]);
  });

  it('lets a task time out that is unfinished for timeouts.task after the sleep', async () => {
    const here = await world(grid(1), { duration: () => 24 * hour });
    const { endedAt } = here.run({ sleeps: { atMs: epoch + 10 * minute, forMs: 8 * hour } });
    expect(here.statuses()).toEqual({ failed: 1 });
    expect([...here.store.withStatus('failed')][0]?.error?.code).toBe('task.timeout');
    expect(endedAt - epoch).toBeGreaterThanOrEqual(8 * hour + 30 * minute);
    expect(endedAt - epoch).toBeLessThan(8 * hour + 32 * minute);
  });

  it('is distinguished from a wait of the run', async () => {
    const here = await world(grid(1), { duration: () => 24 * hour });
    const { events, endedAt } = here.run();
    expect(events.some(({ type }) => type === 'run:notice')).toBe(false);
    expect(endedAt - epoch).toBeLessThan(21 * minute);
  });
});
