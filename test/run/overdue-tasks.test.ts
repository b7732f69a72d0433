import { describe, expect, it } from 'vitest';
import { failure } from '../rig/failure.ts';
import { type GatewayScript, ScriptedGateway } from '../rig/gateway/scripted-gateway.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';
import { endsOf, slicesRig } from './scheduler/slices/slices-rig.ts';

const minutes = 60_000;
const unknown = failure('service.task-unknown', 'retry', { status: 200 });

/** A run of four cells with a slot for one task, of which the first lasts so long. */
async function oneOverdue(lastsMs: number, script: GatewayScript = {}, limits = {}) {
  const here = await world(grid(4), {
    duration: ({ number }) => (number === 1 ? lastsMs : 1000),
    ...script,
  });
  const settings = virtualSettings({ limits: { tasks: 1, requests: 4, ...limits } });
  const { end } = here.run({ settings });
  const [first, second] = here.service.submits.map(({ at }) => at);
  const begunAt = first ?? 0;
  return {
    here,
    end,
    /** When the second task was begun, in minutes after the first one. */
    secondAfter: ((second ?? 0) - begunAt) / minutes,
    /** Looks at the first task after its deadline, and before the second task began. */
    looks: here.service.fetchTimes.filter((at) => at > begunAt + 20.5 * minutes && at < (second ?? 0)).length,
  };
}

describe('a task past its deadline', () => {
  it('keeps its slot for another timeouts.task where reads show it at work, and is read rarely', async () => {
    const { here, end, secondAfter, looks } = await oneOverdue(1000 * minutes);
    expect(end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 3, failed: 1 });
    expect(secondAfter).toBeGreaterThanOrEqual(40);
    expect(secondAfter).toBeLessThan(41);
    expect(looks).toBe(9);
  });

  it('gives its slot back at the read that shows its end, and stays timed out', async () => {
    const { here, secondAfter, looks } = await oneOverdue(23 * minutes);
    expect(secondAfter).toBeGreaterThan(23);
    expect(secondAfter).toBeLessThan(25);
    expect(looks).toBe(2);
    expect(here.statuses()).toEqual({ done: 3, failed: 1 });
    expect([...here.store.withStatus('failed')][0]?.error?.code).toBe('task.timeout');
    // The next run sees how it ended, as ever.
    here.run();
    expect([here.statuses(), here.service.submits.length]).toEqual([{ done: 4 }, 4]);
  });

  it('gives its slot back at the read that shows its failure', async () => {
    const { here, secondAfter } = await oneOverdue(23 * minutes, {
      fails: ({ number }) => (number === 1 ? 'odd words' : undefined),
    });
    expect(secondAfter).toBeGreaterThan(23);
    expect(secondAfter).toBeLessThan(25);
    expect(here.statuses()).toEqual({ done: 3, failed: 1 });
  });

  it('gives its slot back at the read that finds it unknown', async () => {
    let firstAt = 0;
    const { here, secondAfter } = await oneOverdue(1000 * minutes, {
      onFetch: (_id, fetches, at) => {
        if (fetches === 1 && firstAt === 0) firstAt = at;
        return at > firstAt + 21 * minutes && at < firstAt + 23 * minutes ? unknown : undefined;
      },
    });
    expect(secondAfter).toBeGreaterThan(21);
    expect(secondAfter).toBeLessThan(23);
    expect(here.statuses()).toEqual({ done: 3, failed: 1 });
  });

  it('keeps its slot where a read fails', async () => {
    let shown = 0;
    const { secondAfter } = await oneOverdue(1000 * minutes, {
      onFetch: (_id, _fetches, at) => {
        shown ||= at;
        return at > shown + 21 * minutes && at < shown + 39 * minutes
          ? failure('service.unavailable', 'retry', { status: 503 })
          : undefined;
      },
    });
    expect(secondAfter).toBeGreaterThanOrEqual(40);
  });

  it('is read within limits.poll', async () => {
    const { secondAfter, here } = await oneOverdue(
      23 * minutes,
      {},
      { poll: { count: 1, perMs: 5 * minutes } },
    );
    expect(secondAfter).toBeLessThan(41);
    const times = here.service.fetchTimes;
    for (const [n, at] of times.slice(1).entries())
      expect(at - (times[n] ?? 0)).toBeGreaterThanOrEqual(5 * minutes);
  });

  it('is read no more once no job waits for its slot', async () => {
    const here = await world(grid(1), { duration: () => 1000 * minutes });
    const { endedAt } = here.run();
    expect(here.statuses()).toEqual({ failed: 1 });
    expect(endedAt - (here.service.submits[0]?.at ?? 0)).toBeLessThan(21 * minutes);
    expect(here.service.fetchTimes.every((at) => at < endedAt)).toBe(true);
  });

  it('does not delay the end of a run while a read of it has no answer', async () => {
    const lasts = [1000, 10, 14];
    const here = await world(grid(3), { duration: ({ number }) => (lasts[number - 1] ?? 0) * minutes });
    const { service } = here;
    let looks = 0;
    const fetch = service.fetch.bind(service);
    service.fetch = (id, now) => {
      const [overdue] = service.tasks.keys();
      const isLook = id === overdue && now > (service.submits[0]?.at ?? 0) + 21 * minutes;
      looks += Number(isLook);
      return { ...fetch(id, now), ...(isLook && { afterMs: 1000 * minutes }) };
    };
    const { end, endedAt } = here.run({ settings: virtualSettings({ limits: { tasks: 2, requests: 4 } }) });
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 2, failed: 1 }]);
    expect(looks).toBe(2);
    expect(endedAt - (service.submits[0]?.at ?? 0)).toBeLessThan(25 * minutes);
  });
});

describe('a worker whose task is past its deadline', () => {
  it.each([
    ['at the look, though it has no job any more', 23, 24],
    ['after timeouts.task more', 1000, 40],
  ])('tells the others of the free slot %s', async (_when, lasts, freeAfter) => {
    const { worker, cells, record } = await slicesRig(grid(1));
    const gateway = new ScriptedGateway({ duration: () => lasts * minutes });
    /** Places that are taken at the end of each minute. */
    const taken = new Map<number, number>();
    const one = worker({
      taskSlots: {
        granted: 1,
        note: (places) => taken.set(Math.floor((one.now - startedAt) / minutes), places),
      },
    });
    const startedAt = one.now;
    one.begin(1, ...cells);
    expect(endsOf({ events: one.finish(gateway) })).toEqual(['1/1 closed']);
    expect(record()).toMatchObject({ status: 'failed', error: { code: 'task.timeout' } });
    const free = [...taken].filter(([, places]) => places === 0).map(([minute]) => minute);
    expect(free).toEqual([freeAfter]);
  });
});
