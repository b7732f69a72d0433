import { describe, expect, it } from 'vitest';
import { failure } from '../rig/failure.ts';
import { epoch } from '../rig/jobs.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, type World, world } from '../rig/world.ts';

const firstTask = '14001929738100001';
const broken = failure('service.unavailable', 'retry', { status: 500 });

const errors = ({ store }: World, status: 'failed' | 'in-doubt' = 'failed') =>
  [...store.withStatus(status)].map(({ error }) => error);

describe('a task that can never be polled', () => {
  it.each([
    broken,
    failure('service.malformed', 'retry', { status: 200 }),
    failure('response.too-large', 'retry', { status: 200 }),
    failure('service.throttled', 'throttle', { status: 429 }),
  ])('ends the click on it, and not the run: $code', async (error) => {
    let polls = 0;
    let isBroken = false;
    const begun = await world(grid(40), {
      onFetch: (id) => (isBroken && id === firstTask && ++polls > 0 ? error : undefined),
    });
    const { endedAt: from } = begun.run();
    isBroken = true;
    const here = await begun.edited(grid(40, 'U1'));
    const { end, endedAt } = here.run();
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 79, failed: 1 }]);
    expect(errors(here)).toMatchObject([{ code: error.code, message: expect.stringContaining('times in') }]);
    expect(endedAt - from).toBeLessThan(30 * 60_000);
    const before = polls;
    here.run();
    expect(polls).toBe(before);
  });

  it('keeps no slot for the click on it: with one task slot, all others are done', async () => {
    let isBroken = false;
    const begun = await world(grid(12), {
      onFetch: (id) => (isBroken && id === firstTask ? broken : undefined),
    });
    begun.run();
    isBroken = true;
    const here = await begun.edited(grid(12, 'U1'));
    const settings = virtualSettings({ limits: { tasks: 1, requests: 1 } });
    expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 23, failed: 1 });
  });

  it('ends the download that needs a fresh link, and --retry-failed only downloads the file', async () => {
    let polls = 0;
    let isBroken = true;
    const here = await world(grid(40), {
      onSave: (key) =>
        isBroken && key === here.service.tasks.get(firstTask)?.key
          ? { ok: false, error: { code: 'download.refused', class: 'fresh-link', message: 'gone' } }
          : undefined,
      onFetch: (id, _, at) =>
        isBroken && id === firstTask && at >= epoch + 30_000 && ++polls > 1 ? broken : undefined,
    });
    const { end } = here.run();
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 39, failed: 1 }]);
    expect(errors(here)).toMatchObject([{ code: broken.code }]);
    isBroken = false;
    here.run({ settings: virtualSettings({ retryFailed: {} }) });
    expect([here.statuses(), here.service.submits.length]).toEqual([{ done: 40 }, 40]);
  });

  it('leaves a modal in doubt whose confirm was lost', async () => {
    const lost = new Set<string>();
    const here = await world(
      `name: t
matrix: { n: { from: 1, to: 40 } }
steps:
  grid: { imagine: "picture {{ n }}", path: U1 }
  zoom: { from: grid/U1, click: Custom Zoom, prompt: "x --zoom 2" }
`,
      {
        onModal: ({ record, taskId }) => {
          if (record.origin.cell !== 1) return undefined;
          lost.add(taskId);
          return { error: failure('connection.lost', 'lost'), made: true };
        },
        onFetch: (id) => (lost.has(id) ? broken : undefined),
      },
    );
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect([here.statuses(), errors(here, 'in-doubt')]).toMatchObject([
      { done: 119, 'in-doubt': 1 },
      [{ code: 'connection.lost' }],
    ]);
  });

  it('is waited for until the end of an outage, in which no task is polled', async () => {
    const from = epoch + 60_000;
    const here = await world(grid(40, 'U1'), {
      onFetch: (_, __, at) => (at >= from && at < from + 50 * 60_000 ? broken : undefined),
      duration: () => 20_000,
    });
    const { end } = here.run({ settings: virtualSettings({ timeouts: { taskMs: 90 * 60_000 } }) });
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 80 }]);
  });
});

it('an image whose server always says 429 fails alone, and slows down no other', async () => {
  const here = await world(grid(60), {
    onSave: (key) =>
      key === busy
        ? {
            ok: false,
            error: {
              code: 'download.status',
              class: 'throttle',
              message: '429',
              status: 429,
              retryAfterMs: 60_000,
            },
          }
        : undefined,
  });
  const [slot] = here.plan.resolve(here.cells[3] as (typeof here.cells)[number], () => undefined);
  const busy = slot?.job?.key;
  const { end, events } = here.run();
  expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 59, failed: 1 }]);
  expect(errors(here)).toMatchObject([{ code: 'download.status', httpStatus: 429 }]);
  // Asked to wait, the others do, until it is seen that they need not.
  const pauses = events.filter((event) => event.type === 'route:pause' && event.route === 'download');
  expect(pauses.length).toBeLessThanOrEqual(30);
});
