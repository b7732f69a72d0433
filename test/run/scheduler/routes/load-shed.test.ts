import { describe, expect, it } from 'vitest';
import { RouteTraffic } from '../../../../src/run/limits/route.ts';
import { shedAsThrottle } from '../../../../src/run/scheduler/routes/load-shed.ts';
import type { ServiceFailure } from '../../../../src/service/result.ts';
import { failure } from '../../../rig/failure.ts';
import { textReply } from '../../../rig/text-reply.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';
import { grid, world } from '../../../rig/world.ts';

const shed = failure('service.unavailable', 'retry', { status: 503 });
const refused429 = failure('service.throttled', 'throttle', { status: 429 });

/** A proxy that lets one request through every 250 ms and refuses the others, whatever they ask for. */
function limiter(refusal: ServiceFailure) {
  let freeAt = 0;
  const refused = { submits: 0, polls: 0, calls: 0 };
  const isFull = (at: number): boolean => {
    if (at < freeAt) return true;
    freeAt = at + 250;
    return false;
  };
  return {
    refused,
    onSubmit: ({ at }: { at: number }) => {
      if (!isFull(at)) return undefined;
      refused.submits += 1;
      return { error: refusal };
    },
    onFetch: (_id: string, _n: number, at: number) => {
      if (!isFull(at)) return undefined;
      refused.polls += 1;
      return refusal;
    },
    onAsk: ({ at }: { at: number }) => {
      if (isFull(at)) {
        refused.calls += 1;
        return refusal;
      }
      return textReply({ text: 'Hello.' });
    },
  };
}

/** One try of each request alone: what is lost is seen at once. */
const settings = virtualSettings({ retry: { ...virtualSettings().retry, attempts: 2 } });

describe('a service that sheds load', () => {
  it.each([
    ['503', shed],
    ['429', refused429],
  ])('loses no row by %s, and is asked more slowly', async (_status, refusal) => {
    const proxy = limiter(refusal);
    const here = await world(grid(60, 'U1'), proxy);
    const { end, events } = here.run({ settings });
    expect(end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 120 });
    expect(proxy.refused.submits).toBeGreaterThan(0);
    // At most the submissions that were refused before anything was served are attempts.
    const { attempts } = here.store.totals();
    expect(attempts).toBeLessThanOrEqual(120 + 12);
    const paces = events.flatMap((event) => (event.type === 'route:rate' ? [event.route] : []));
    expect(paces).toContain('poll');
  });

  it('loses no text by 503, and is asked more slowly', async () => {
    const proxy = limiter(shed);
    const here = await world(
      `name: test
matrix: { n: { from: 1, to: 200 } }
steps:
  caption:
    generate: { model: text-pro, prompt: "Say {{ n }}." }
`,
      proxy,
    );
    const { end, events } = here.run();
    expect(end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 200 });
    expect(proxy.refused.calls).toBeGreaterThan(0);
    expect(events.some((event) => event.type === 'route:rate' && event.route === 'text')).toBe(true);
  });

  it('reverts the attempt of a click at a 503, as at a 429', async () => {
    let clicks = 0;
    const here = await world(grid(1, 'U1'), {
      onSubmit: ({ pressed }) => (pressed !== '' && ++clicks <= 4 ? { error: shed } : undefined),
    });
    here.run({ settings });
    expect(here.statuses()).toEqual({ done: 2 });
    expect([clicks, here.store.totals().attempts]).toEqual([5, 2]);
  });
});

describe('an outage', () => {
  it('fails a job that was never served after its attempts', async () => {
    const here = await world(grid(1), { onSubmit: () => ({ error: shed }) });
    here.run({ settings });
    expect(here.statuses()).toEqual({ failed: 1 });
    expect(here.store.totals().attempts).toBe(2);
  });
});

describe('RouteTraffic', () => {
  const routes = (): RouteTraffic => new RouteTraffic('submit', settings.retry, () => 0.5);

  it('serves nobody before its first good answer', () => {
    expect(routes().isServing(0)).toBe(false);
  });

  it('serves others for a minute after its last good answer, however many it refuses', () => {
    const route = routes();
    route.note({ kind: 'served' }, 1000);
    for (let n = 0; n < 9; n++) route.note({ kind: 'throttled', reason: '503', retryAfterMs: 1 }, 2000 + n);
    expect([route.isServing(60_999), route.isServing(61_000)]).toEqual([true, false]);
  });

  it('serves others while few in a row were refused, however long ago the last good answer was', () => {
    const route = routes();
    route.note({ kind: 'served' }, 1000);
    for (let n = 0; n < 4; n++) route.note({ kind: 'trouble', reason: '503' }, 2000 + n);
    expect(route.isServing(3_600_000)).toBe(true);
    route.note({ kind: 'trouble', reason: '503' }, 3_600_000);
    expect(route.isServing(3_600_000)).toBe(false);
  });

  it('serves others where it refuses one for its words', () => {
    const route = routes();
    route.note({ kind: 'refused', words: '400' }, 1000);
    expect(route.isServing(2000)).toBe(true);
  });
});

describe('an answer of a route that serves others', () => {
  it.each([
    ['a 503 is a throttle, with its Retry-After', { ...shed, retryAfterMs: 7 }, 'throttle'],
    [
      'a 504 stays a failure that may have made a task',
      failure('service.unavailable', 'retry', { status: 504 }),
      'retry',
    ],
    [
      'a channel that is closed for a moment waits, told with 400',
      failure('service.unavailable', 'retry', { status: 400, unmade: true }),
      'throttle',
    ],
    [
      'a parent that is not ready is about its job alone',
      failure('service.not-ready', 'retry', { status: 400 }),
      'retry',
    ],
    [
      'a 503 behind which a connection broke is a 502',
      { ...failure('service.unavailable', 'retry'), status: 503 },
      'retry',
    ],
    ['a 503 that ends the run still ends it', { ...shed, class: 'stop' }, 'stop'],
  ] as const)('%s', (_what, error, kind) => {
    expect(shedAsThrottle({ ok: false, error })).toEqual({ ok: false, error: { ...error, class: kind } });
  });

  it('is left as it is where it is good', () => {
    const result = { ok: true, value: [] } as const;
    expect(shedAsThrottle(result)).toBe(result);
  });
});
