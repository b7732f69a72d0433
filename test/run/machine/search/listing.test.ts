import { describe, expect, it } from 'vitest';
import { pollResults } from '../../../../src/run/machine/search/listing.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';
import { grid, world } from '../../../rig/world.ts';

const together = virtualSettings({
  limits: { tasks: 150, requests: 200 },
  poll: { minMs: 1000, maxMs: 15_000, list: true },
});

describe('tasks that are polled together', () => {
  it('share a request for up to a hundred of them', async () => {
    const many = await world(grid(150));
    const { end } = many.run({ settings: together });
    expect([end, many.statuses()]).toEqual([{ kind: 'complete' }, { done: 150 }]);
    expect(Math.max(...many.service.lists)).toBe(100);
    const single = await world(grid(150));
    single.run({ settings: { ...together, poll: { minMs: 1000, maxMs: 15_000 } } });
    const requests = many.service.lists.length + many.service.fetchTimes.length;
    expect(requests).toBeLessThan(single.service.fetchTimes.length / 10);
  });

  it('are polled one by one where the gateway has no list, with one notice', async () => {
    const few = await world(grid(20), { lists: false });
    const { end, events } = few.run({ settings: together });
    expect([end, few.statuses()]).toEqual([{ kind: 'complete' }, { done: 20 }]);
    expect(events.filter(({ type }) => type === 'run:notice')).toMatchObject([
      { code: 'service.no-listing' },
    ]);
    expect(few.service.lists).toHaveLength(1);
  });

  it('are unknown where the list lacks them, for their own job alone', () => {
    const task = { id: 'T2', state: 'success', status: 'SUCCESS', buttons: [] } as const;
    const targets = [
      { key: 'a', taskId: 'T1' },
      { key: 'b', taskId: 'T2' },
    ];
    expect(pollResults(targets, { ok: true, value: [task] })).toMatchObject([
      ['a', { why: 'poll', result: { ok: false, error: { code: 'service.task-unknown', class: 'retry' } } }],
      ['b', { why: 'poll', result: { ok: true, value: task } }],
    ]);
  });
});
