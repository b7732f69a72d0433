import { describe, expect, it } from 'vitest';
import type { SaveFailure } from '../../../../src/artifacts/writer.ts';
import { deferred, type JobResult, outcomeOf } from '../../../../src/run/scheduler/routes/outcome.ts';
import type { ServiceFailure } from '../../../../src/service/result.ts';
import { failure } from '../../../rig/failure.ts';
import { epoch } from '../../../rig/jobs.ts';
import { textReply } from '../../../rig/text-reply.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';
import { grid, world } from '../../../rig/world.ts';

const read = (input: JobResult) => outcomeOf(input).reading;
const save = (kind: SaveFailure['class'], more: Partial<SaveFailure> = {}) =>
  read({
    type: 'saved',
    key: 'k',
    result: { ok: false, error: { code: 'download.status', class: kind, message: 'no', ...more } },
  });

describe('the meaning of a result for its route', () => {
  it('a download that is asked for too often rests for as long as the server says, where it says so', () => {
    expect(save('throttle')).toEqual({ signal: { kind: 'throttled', reason: 'no' } });
    expect(save('throttle', { retryAfterMs: 3000 })).toEqual({
      signal: { kind: 'throttled', reason: 'no', retryAfterMs: 3000 },
    });
  });

  it.each(['fresh-link', 'permanent'] as const)('a download that fails as %s is about its link', (kind) => {
    expect(save(kind)).toEqual({ signal: { kind: 'served' } });
  });

  it('refusals are compared by status and the words of the service, or by what there is', () => {
    const words = (more: object) =>
      read({
        type: 'submitted',
        key: 'k',
        result: { ok: false, error: failure('service.rejected', 'permanent', more) },
      });
    expect(words({ status: 400, serviceMessage: 'no prompt' })).toEqual({
      signal: { kind: 'refused', words: '400: no prompt' },
    });
    expect(words({})).toEqual({
      signal: { kind: 'refused', words: 'service.rejected: service.rejected (made up)' },
    });
  });

  it('a task that the service does not know is no trouble of the route', () => {
    const error = failure('service.task-unknown', 'retry');
    expect(read({ type: 'fetched', key: 'k', why: 'poll', result: { ok: false, error } })).toEqual({
      signal: { kind: 'served' },
    });
  });
});

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
    const paces = events.flatMap((event) => (event.type === 'route:pace' ? [event.route] : []));
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
    expect(events.some((event) => event.type === 'route:pace' && event.route === 'text')).toBe(true);
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
    expect(deferred({ ok: false, error }, true)).toEqual({ ok: false, error: { ...error, class: kind } });
  });

  it('is left as it is where it is good', () => {
    const result = { ok: true, value: [] } as const;
    expect(deferred(result, true)).toBe(result);
  });
});

const minute = 60_000;
const hour = 60 * minute;
const impatient = virtualSettings({ retry: { ...virtualSettings().retry, patienceMs: 5 * minute } });
const later = (kind: 'throttle' | 'retry', status: number) =>
  failure(`service.${kind}`, kind, { status, retryAfterMs: hour });

describe('a Retry-After beyond retry.patience', () => {
  it.each([
    ['429', later('throttle', 429)],
    ['503', later('retry', 503)],
  ])('of every submission (%s) stops the run when the patience is at its end', async (_, error) => {
    const here = await world(grid(4), { onSubmit: () => ({ error }) });
    const { end, endedAt } = here.run({ settings: impatient });
    expect(end).toMatchObject({ kind: 'stopped', code: 'route.patience' });
    expect(endedAt - epoch).toBeGreaterThanOrEqual(5 * minute);
    expect(endedAt - epoch).toBeLessThan(15 * minute);
    expect(here.statuses()).toEqual({ pending: 4 });
  });

  it('of one request is waited for no longer than that, and the run ends well', async () => {
    let refused = 0;
    const once = (at: number): boolean => at - epoch < minute && refused++ < 1;
    const here = await world(grid(4), {
      onSubmit: ({ at }) => (once(at) ? { error: later('throttle', 429) } : undefined),
    });
    const { end, endedAt } = here.run({ settings: impatient });
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 4 }]);
    expect(refused).toBeGreaterThan(0);
    expect(endedAt - epoch).toBeLessThan(15 * minute);
  });

  it('is as long as it says where that is shorter', async () => {
    let refused = 0;
    const here = await world(grid(1), {
      onSubmit: () => (refused++ === 0 ? { error: later('throttle', 429) } : undefined),
    });
    const patient = virtualSettings({ retry: { ...virtualSettings().retry, patienceMs: 2 * hour } });
    const { end, endedAt } = here.run({ settings: patient });
    expect(end).toEqual({ kind: 'complete' });
    expect(endedAt - epoch).toBeGreaterThanOrEqual(hour);
  });
});
