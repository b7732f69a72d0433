import { describe, expect, it } from 'vitest';
import { failure } from '../rig/failure.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';

const minutes = 60_000;
const unknown = failure('service.task-unknown', 'retry', { status: 200 });
const settings = virtualSettings({ limits: { tasks: 5, requests: 16 } });

/** A service that has forgotten the tasks of its first submissions, and knows those from a moment on. */
const forgetting = (lost: number, knowsFrom = 0) => {
  const ids: string[] = [];
  return world(grid(20), {
    duration: () => 30_000,
    onFetch: (id, _n, at) => {
      if (!ids.includes(id)) ids.push(id);
      return ids.indexOf(id) < lost || (knowsFrom > 0 && at < knowsFrom) ? unknown : undefined;
    },
  });
};

describe('a service that has forgotten its tasks', () => {
  it('is reported within two minutes, and its slots are freed once a later task is found', async () => {
    const here = await forgetting(5);
    const said: number[] = [];
    const { endedAt } = here.run({
      settings,
      onEvent: (event, at) => {
        if (event.type === 'run:notice' && event.code === 'tasks.forgotten') said.push(at);
      },
    });
    const begunAt = here.service.submits[0]?.at ?? 0;
    expect(said).toHaveLength(1);
    expect((said[0] ?? 0) - begunAt).toBeLessThan(2 * minutes);
    expect(here.statuses()).toEqual({ done: 15, failed: 5 });
    expect([...here.store.withStatus('failed')].map(({ error }) => error?.code)).toEqual(
      Array.from({ length: 5 }, () => 'task.timeout'),
    );
    // All others are done long before the lost ones are given up.
    const lastAt = Math.max(...here.service.submits.map(({ at }) => at));
    expect(lastAt - begunAt).toBeLessThan(10 * minutes);
    expect(endedAt - begunAt).toBeLessThan(23 * minutes);
  });

  it('gets one new task at a time, and none after five that it does not know', async () => {
    const here = await forgetting(1000);
    const { end } = here.run({ settings });
    expect(end).toMatchObject({ kind: 'stopped', code: 'tasks.forgotten' });
    expect(here.service.submits).toHaveLength(10);
    const at = here.service.submits.map((submit) => submit.at).slice(5);
    for (const [n, next] of at.slice(1).entries())
      expect(next - (at[n] ?? 0)).toBeGreaterThanOrEqual(minutes);
  });

  it('is not assumed where only some tasks are lost', async () => {
    const here = await forgetting(2);
    const { events } = here.run({ settings });
    expect(here.statuses()).toEqual({ done: 18, failed: 2 });
    expect(events.filter((event) => event.type === 'run:notice')).toEqual([]);
  });

  it('loses nothing where it remembers its tasks again', async () => {
    const here = await world(grid(8), {
      onFetch: (_id, _n, at) => (at < 1_700_000_000_000 + 3 * minutes ? unknown : undefined),
    });
    expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 8 });
  });
});
