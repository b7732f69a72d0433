import { beforeAll, describe, expect, it } from 'vitest';
import { saveFailures } from '../../../rig/gateway/faults.ts';
import { seededRandom, virtualSettings } from '../../../rig/virtual-run.ts';
import { grid, world } from '../../../rig/world.ts';
import { errorsOf, medianOf, type Shown, settledIn, shownProgress } from './virtual-progress.ts';

const random = seededRandom(12);
/** Between half and three halves of a mean. */
const around = (mean: number): number => mean * (0.5 + random());

const judged = (cells: number): string => `name: judged
matrix: { n: { from: 1, to: ${cells} } }
steps:
  grid:
    imagine: "picture {{ n }}"
    path: U1..U2
  pick:
    from: grid
    generate: { model: m, prompt: "which {{ n }}", images: [parent] }
  more:
    from: grid/U1
    click: Vary (Strong)
  caption:
    from: more
    generate: { model: m, prompt: "say {{ n }}", images: [parent] }
`;

/** Runs of 150 to 300 tasks, each shown every five virtual seconds. */
const runs: readonly (readonly [name: string, run: () => Promise<readonly Shown[]>])[] = [
  [
    'of one step',
    async () => shownProgress(await world(grid(300), { duration: () => around(40_000) }), {}, 5000),
  ],
  [
    'of grids and what two levels of buttons make of them',
    async () => {
      const script = {
        duration: (submit: { pressed: string }) => around(submit.pressed === '' ? 50_000 : 20_000),
      };
      return shownProgress(await world(grid(33, 'U1..U4 → Vary (Strong)'), script), {}, 5000);
    },
  ],
  [
    'of grids of which two in five fail',
    async () => {
      const script = {
        duration: () => around(30_000),
        fails: ({ pressed }: { pressed: string }) =>
          pressed === '' && random() < 0.4 ? 'banned prompt' : undefined,
      };
      return shownProgress(await world(grid(100, 'U1..U4'), script), {}, 5000);
    },
  ],
  [
    'of grids of which a wildcard presses every U',
    async () => shownProgress(await world(grid(33, 'U*'), { duration: () => around(30_000) }), {}, 5000),
  ],
  [
    'of images and texts about them',
    async () => {
      const latency = (route: string): number => (route === 'text' ? around(6000) : 100);
      return shownProgress(await world(judged(25), { duration: () => around(30_000) }), { latency }, 5000);
    },
  ],
  [
    'of a gateway that takes fewer submissions than there is room for',
    async () => {
      const limits = { tasks: 12, requests: 32, submit: { count: 12, perMs: 60_000 } };
      const settings = virtualSettings({ limits });
      return shownProgress(await world(grid(150), { duration: () => around(40_000) }), { settings }, 5000);
    },
  ],
];

describe.each(runs)('the time left of a run %s', (_name, run) => {
  let shown: readonly Shown[] = [];
  beforeAll(async () => {
    shown = await run();
  }, 120_000);

  it('is wrong by less than a quarter at most moments after the first tenth', () => {
    const errors = errorsOf(shown);
    expect(errors.length).toBeGreaterThan(45);
    expect(medianOf(errors)).toBeLessThan(0.25);
  });

  it('changes slowly: the predicted end never moves by more than a sixth of it at once', () => {
    const all = settledIn((shown.at(-1) as Shown).progress);
    const counted = shown.filter(
      ({ progress }) => progress.open > 0 && progress.leftMs !== undefined && settledIn(progress) >= all / 10,
    );
    const jumps = counted.slice(1).filter((now, index) => {
      const before = counted[index] as Shown;
      const [left = 0, last = 0] = [now.progress.leftMs, before.progress.leftMs];
      // At the end the last tasks decide, whose durations differ by up to 40 s: 25 seconds are no jump there.
      return Math.abs(now.at + left - (before.at + last)) > Math.max(25_000, last / 6);
    });
    expect(counted.length).toBeGreaterThan(45);
    expect(jumps).toEqual([]);
  });

  it('reaches zero with the end of the run', () => {
    expect((shown.at(-1) as Shown).progress).toMatchObject({ leftMs: 0, open: 0, tasks: 0, texts: 0 });
  });
});

describe('what is left of a run', () => {
  it('leaves blocked jobs out as soon as they are blocked', async () => {
    const failing = await world(grid(1, 'U1..U4 → Vary (Strong)'), {
      fails: ({ pressed }) =>
        pressed.includes('U1') || pressed.includes('U2') ? 'banned prompt' : undefined,
      duration: ({ pressed }) => (pressed.includes('U') ? 10_000 : 50_000),
    });
    const shown = await shownProgress(failing);
    const last = (shown.at(-1) as Shown).progress;
    expect(last.steps[0]).toMatchObject({ done: 5, failed: 2, blocked: 2, total: 9 });
    const blocked = shown.find(({ progress }) => progress.steps[0]?.blocked === 2);
    // Two of the variations are still to be made.
    expect(blocked?.progress.open).toBeLessThanOrEqual(4);
  });

  it('is unknown until the run has settled a job, whatever earlier runs have settled', async () => {
    const place = await world(grid(40), { duration: () => 40_000 });
    await shownProgress(place, {});
    const wider = await place.edited(grid(80));
    const shown = await shownProgress(wider);
    expect(shown[0]?.progress).not.toHaveProperty('leftMs');
    expect(shown[0]?.progress.steps[0]).toMatchObject({ done: 40, total: 80 });
    const [known] = shown.filter(({ progress }) => progress.leftMs !== undefined);
    expect(Math.abs((known?.progress.leftMs ?? 0) / (known?.trueMs ?? 0) - 1)).toBeLessThan(0.5);
    expect(shown.at(-1)?.progress.steps[0]).toMatchObject({ done: 80, total: 80 });
  });

  it('does not count up while the last jobs are in progress', async () => {
    const shown = await shownProgress(await world(grid(36), { duration: () => 40_000 }));
    const last = shown.filter(({ progress }) => progress.open > 0 && progress.open === progress.tasks);
    expect(last.length).toBeGreaterThan(20);
    const up = last
      .slice(1)
      .filter(({ progress }, index) => (progress.leftMs ?? 0) > (last[index]?.progress.leftMs ?? 0));
    expect(up).toEqual([]);
  });

  it('of a wildcard does not count the cells that an earlier run has finished', async () => {
    const place = await world(grid(40, 'U*'), { duration: () => 40_000 });
    await shownProgress(place, {});
    const wider = await place.edited(grid(80, 'U*'));
    const shown = await shownProgress(wider);
    const [known] = shown.filter(({ progress }) => progress.leftMs !== undefined);
    expect(Math.abs((known?.progress.leftMs ?? 0) / (known?.trueMs ?? 0) - 1)).toBeLessThan(0.5);
  });

  it('is unknown when nothing has moved for longer than the whole estimate', async () => {
    const place = await world(grid(3), {
      duration: () => 20_000,
      // A host of images that gives none for a quarter of an hour.
      onSave: (_key, saves) => (saves < 12 ? { ok: false, error: saveFailures.retry } : undefined),
    });
    const retry = { ...virtualSettings().retry, attempts: 50 };
    const shown = await shownProgress(place, { settings: virtualSettings({ retry }) });
    const saving = shown.filter(({ at, progress }) => at > 240_000 && progress.downloads === 3);
    expect(saving.length).toBeGreaterThan(100);
    for (const { progress } of saving) expect(progress).not.toHaveProperty('leftMs');
    expect(shown.at(-1)?.progress).toMatchObject({ leftMs: 0, open: 0 });
  });

  it('counts jobs retried by --retry-failed, and jobs that depend on them, as open', async () => {
    let bad = true;
    const place = await world(grid(3, 'U1'), { fails: () => (bad ? 'banned prompt' : undefined) });
    const first = await shownProgress(place);
    expect(first.at(-1)?.progress.steps[0]).toMatchObject({ failed: 3, blocked: 3, done: 0, total: 6 });
    const again = await shownProgress(place);
    expect(again[0]?.progress).toMatchObject({ open: 0, steps: [{ failed: 3, blocked: 3, total: 6 }] });
    bad = false;
    const settings = virtualSettings({ retryFailed: {} });
    const retried = await shownProgress(place, { settings });
    expect(retried[0]?.progress).toMatchObject({ open: 6, steps: [{ failed: 0, blocked: 0, total: 6 }] });
    expect(retried.at(-1)?.progress.steps[0]).toMatchObject({ failed: 0, blocked: 0, done: 6, total: 6 });
  });
});
