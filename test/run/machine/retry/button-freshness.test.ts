import { describe, expect, it } from 'vitest';
import { freshMs } from '../../../../src/run/machine/retry/button-freshness.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';
import { grid, type World, world } from '../../../rig/world.ts';

/** Grids that are done, and then a path that presses all of their buttons: so many clicks are ready at once. */
async function withClicks(count: number): Promise<World> {
  const here = await world(grid(count / 4));
  here.run();
  return await here.edited(grid(count / 4, 'U1..U4'));
}

function pressAll(here: World, settings: Parameters<typeof virtualSettings>[0], latency = 100) {
  const ages: number[] = [];
  let reads = 0;
  const { end } = here.run({
    settings: virtualSettings({ poll: { minMs: 1000, maxMs: 15_000, list: false }, ...settings }),
    latency: () => latency,
    onEffect: ({ job, send }, now) => {
      if (send.kind === 'fetch' && send.why === 'parent') reads += 1;
      if (send.kind === 'submit') ages.push(now - (job.fresh?.readAt ?? Number.NaN));
    },
  });
  return { end, reads, ages };
}

describe('buttons that are read while their clicks wait for their turn', () => {
  it.each([
    ['6/min', 6, 100],
    ['6/min, by a slow service', 6, 4000],
    ['60/min', 60, 100],
  ])('%s: each is read no more than twice, and none is older than allowed', async (_, count, latency) => {
    const here = await withClicks(48);
    const limits = { tasks: 60, requests: 32, submit: { count, perMs: 60_000 } };
    const { end, reads, ages } = pressAll(here, { limits }, latency);
    expect([end, ages.length]).toEqual([{ kind: 'complete' }, 48]);
    expect(Math.max(...ages)).toBeLessThanOrEqual(freshMs);
    expect(reads).toBeLessThanOrEqual(2 * 48);
  });

  it('are not read again where there are slots for all', async () => {
    const here = await withClicks(48);
    const { reads } = pressAll(here, { limits: { tasks: 60, requests: 32 } });
    expect(reads).toBe(48);
  });

  it('stay fresh where few requests may be in flight, and each takes long', async () => {
    const here = await withClicks(8);
    const { end, ages } = pressAll(here, { limits: { tasks: 2, requests: 2 } }, 9000);
    expect([end, ages.length]).toEqual([{ kind: 'complete' }, 8]);
    expect(Math.max(...ages)).toBeLessThanOrEqual(freshMs);
  });

  it('are pressed before new jobs begin, however slowly submissions are sent', async () => {
    const here = await world(`name: one
matrix: { seed: { from: 1, to: 30 } }
steps:
  grid: { imagine: 'a fox --seed {{ seed }}' }
  best: { from: grid, when: seed == 1, click: U1 }
`);
    const limits = { tasks: 40, requests: 8, submit: { count: 1, perMs: 20_000 } };
    here.run({ settings: virtualSettings({ limits }), latency: () => 1500 });
    const pressed = here.service.submits.map((submit) => submit.pressed);
    expect(pressed).toHaveLength(31);
    // By the time the first grid is done few others are begun, and its click is deeper than they.
    expect(pressed.indexOf('/U1')).toBeLessThan(6);
  });
});
