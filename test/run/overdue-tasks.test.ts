import { expect, it } from 'vitest';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';

const minutes = 60_000;

it('begins no other task in the place of one that is past its time, for as long again', async () => {
  const here = await world(grid(4), { duration: ({ number }) => (number === 1 ? 1000 * minutes : 1000) });
  const settings = virtualSettings({ limits: { tasks: 1, requests: 4 } });
  expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
  expect(here.statuses()).toEqual({ done: 3, failed: 1 });
  const [first, second] = here.service.submits;
  const apart = (second?.at ?? 0) - (first?.at ?? 0);
  expect(apart).toBeGreaterThanOrEqual(40 * minutes);
  expect(apart).toBeLessThan(41 * minutes);
});

it('ends at once where nothing waits for that place', async () => {
  const here = await world(grid(1), { duration: () => 1000 * minutes });
  const run = here.run();
  expect(here.statuses()).toEqual({ failed: 1 });
  expect(run.endedAt - (here.service.submits[0]?.at ?? 0)).toBeLessThan(21 * minutes);
});
