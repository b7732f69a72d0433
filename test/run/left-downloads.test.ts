import { describe, expect, it } from 'vitest';
import type { SaveFailure } from '../../src/artifacts/writer.ts';
import { saveFailures } from '../rig/gateway/faults.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';

const epoch = 1_700_000_000_000;

describe('an ending run', () => {
  it.each<[string, SaveFailure]>([
    ['refused links', saveFailures['fresh-link']],
    ['files that break off', saveFailures.retry],
    ['a host that throttles', saveFailures.throttle],
  ])('leaves its downloads to a later run, which pays nothing for them: %s', async (_what, error) => {
    let isBack = false;
    const here = await world(grid(12), { onSave: () => (isBack ? undefined : { ok: false, error }) });
    const settings = virtualSettings({
      maxDurationMs: 90_000,
      retry: { ...virtualSettings().retry, attempts: 50 },
    });
    const { end, endedAt, submits } = here.run({ settings });
    expect(end).toMatchObject({ kind: 'budget', code: 'run.max-duration' });
    expect(endedAt - epoch).toBeLessThan(120_000);
    expect([submits, here.statuses()]).toEqual([12, { saving: 12 }]);
    isBack = true;
    const later = here.run();
    expect([later.end, later.submits, here.statuses()]).toEqual([{ kind: 'complete' }, 0, { done: 12 }]);
  });

  it('leaves a download at its first failure after a signal, and saves those that succeed', async () => {
    const here = await world(grid(4), {
      onSave: (key, saves) =>
        saves < 3 && Number.parseInt(key.slice(0, 2), 16) % 2 === 0
          ? { ok: false, error: saveFailures.retry }
          : undefined,
    });
    const { end, endedAt } = here.run({ drainAt: epoch + 3000 });
    expect(end).toMatchObject({ kind: 'interrupted' });
    expect(endedAt - epoch).toBeLessThan(200_000);
    const { done = 0, saving = 0 } = here.statuses();
    expect(done + saving).toBe(4);
    expect(here.run().submits).toBe(0);
    expect(here.statuses()).toEqual({ done: 4 });
  });

  it('still fails files that no later run could save either', async () => {
    const here = await world(grid(2), { onSave: () => ({ ok: false, error: saveFailures.permanent }) });
    expect(here.run({ drainAt: epoch + 3000 }).end).toMatchObject({ kind: 'interrupted' });
    expect(here.statuses()).toEqual({ failed: 2 });
  });
});
