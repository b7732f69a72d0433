import { expect, it } from 'vitest';
import type { SubmitResult } from '../../src/service/image-service.ts';
import type { ServiceFailure } from '../../src/service/result.ts';
import { failure } from '../rig/failure.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';

/** Runs grids whose tasks are finished when they are polled first. @returns how often each task was fetched, sorted */
async function fetchesOf(path: string, cells: number, fullMs = 0): Promise<readonly number[]> {
  const fetches = new Map<string, number>();
  let gridsDoneAt = Number.POSITIVE_INFINITY;
  const here = await world(grid(cells, path), {
    duration: () => 0,
    onFetch: (id, count, at) => {
      fetches.set(id, count);
      gridsDoneAt = Math.min(gridsDoneAt, at);
      return undefined;
    },
    onSubmit: ({ pressed, at }) =>
      pressed !== '' && at < gridsDoneAt + fullMs
        ? { kind: 'queue-full', code: 23, message: 'full' }
        : undefined,
  });
  const settings = virtualSettings({ limits: { tasks: 100, requests: 100 } });
  expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
  expect(here.statuses()).toEqual({ done: fetches.size });
  return [...fetches.values()].sort((a, b) => a - b);
}

it('presses buttons with no request but the poll that showed the end of their task', async () => {
  expect(await fetchesOf('U1', 3)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(await fetchesOf('U1..U4 → Vary (Strong)', 1)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1]);
});

it('reads buttons again whose reading is too old', async () => {
  const fetches = await fetchesOf('U1', 1, 30_000);
  expect(fetches).toHaveLength(2);
  expect(fetches[0]).toBe(1);
  expect(fetches[1]).toBeGreaterThan(1);
});

it.each([
  [1, 2000],
  [1, 5000],
  [1, 12_000],
  [2, 2000],
])('loses no click where buttons change: %i at once, every %i ms', async (tasks, buttonsLiveMs) => {
  const here = await world(grid(10, 'U1..U4'), { duration: () => 1500, buttonsLiveMs });
  const settings = virtualSettings({ limits: { tasks, requests: 32 } });
  expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
  expect(here.statuses()).toEqual({ done: 50 });
  // A button that was shown and has changed is pressed once, and read again.
  expect(here.service.submits.length).toBeLessThanOrEqual(55);
});

it('loses no click to a changed button where each request has one try', async () => {
  const here = await world(grid(10, 'U1..U4'), { duration: () => 1500, buttonsLiveMs: 5000 });
  const { retry } = virtualSettings();
  const settings = virtualSettings({ limits: { tasks: 4, requests: 32 }, retry: { ...retry, attempts: 1 } });
  here.run({ settings });
  expect(here.statuses()).toEqual({ done: 50 });
});

/** Ways in which gateways refuse a customId that is no longer valid, or a click whose task they do not see for a moment. */
const refusals: readonly (SubmitResult | ServiceFailure)[] = [
  { kind: 'refused', code: 4, message: 'custom_id is not valid' },
  { kind: 'refused', code: 77, message: 'button expired' },
  ...[400, 403, 404, 409, 422].map((status) => failure('service.rejected', 'permanent', { status })),
];

it.each(refusals)('reads a refused button that was only shown, and presses it at once: %#', async (no) => {
  const refused = new Set<string>();
  const here = await world(grid(10, 'U1'), {
    duration: () => 1500,
    onSubmit: ({ key, pressed }) => {
      if (pressed === '' || refused.has(key)) return undefined;
      refused.add(key);
      return 'class' in no ? { error: no } : no;
    },
  });
  const { retry } = virtualSettings();
  const settings = virtualSettings({ retry: { ...retry, attempts: 1 } });
  expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
  expect(here.statuses()).toEqual({ done: 20 });
  expect(here.service.submits).toHaveLength(30);
});

it('fails a click that is refused again after its button was read for it', async () => {
  const here = await world(grid(3, 'U1'), {
    duration: () => 1500,
    onSubmit: ({ pressed }) =>
      pressed === '' ? undefined : { error: failure('service.rejected', 'permanent', { status: 400 }) },
  });
  here.run();
  expect(here.statuses()).toEqual({ done: 3, failed: 3 });
  expect(here.service.submits).toHaveLength(9);
});

it('presses a refused button once where the answer says that work may have been done', async () => {
  const lost = failure('service.ambiguous', 'lost', { status: 400 });
  const here = await world(grid(3, 'U1'), {
    duration: () => 1500,
    onSubmit: ({ pressed }) => (pressed === '' ? undefined : { error: lost }),
  });
  here.run();
  expect(here.statuses()).toEqual({ done: 3, 'in-doubt': 3 });
  expect(here.service.submits).toHaveLength(6);
});

it.each([1, 4])(
  'delays only the click whose parent the gateway does not show as finished yet: %i times',
  async (times) => {
    const refused = new Map<string, number>();
    const here = await world(grid(6, 'U1'), {
      onSubmit: ({ key, pressed }) => {
        const count = refused.get(key) ?? 0;
        if (pressed === '' || count >= times) return undefined;
        refused.set(key, count + 1);
        return { error: failure('service.not-ready', 'retry', { status: 400 }) };
      },
    });
    const { end, events } = here.run();
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 12 }]);
    expect(events.filter(({ type }) => type === 'route:pause' || type === 'route:pace')).toEqual([]);
  },
);
