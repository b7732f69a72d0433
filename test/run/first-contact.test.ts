import { describe, expect, it } from 'vitest';
import type { Route } from '../../src/run/events.ts';
import { KnownEndpoints } from '../../src/service/failures/known-endpoints.ts';
import { failure } from '../rig/failure.ts';
import { saveFailures } from '../rig/gateway/faults.ts';
import { epoch } from '../rig/jobs.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';

const texts = (cells: number): string => `name: test
matrix: { n: { from: 1, to: ${cells} } }
steps: { say: { generate: { prompt: "Say {{ n }}", model: text-pro } } }
`;
const minute = 60_000;

describe('until the service has served a request', () => {
  const stop = failure('service.not-found', 'stop', { status: 404, about: 'address' });
  const unclear = failure('service.ambiguous', 'lost', { status: 400 });

  it('image submissions are sent one at a time: a wrong address fails and puts nothing else in doubt', async () => {
    const here = await world(grid(40), { onSubmit: () => ({ error: stop }) });
    expect(here.run().end).toMatchObject({ kind: 'stopped', code: 'service.not-found' });
    expect([here.service.submits.length, here.statuses()]).toEqual([1, { pending: 40 }]);
    const unsure = await world(grid(40), { onSubmit: () => ({ error: { ...stop, mayBeDone: true } }) });
    unsure.run();
    expect(unsure.statuses()).toEqual({ 'in-doubt': 1, pending: 39 });
  });

  it('four texts are sent at once, then as many as allowed', async () => {
    const here = await world(texts(40), { onAsk: ({ number }) => (number === 1 ? stop : undefined) });
    expect(here.run().end).toMatchObject({ code: 'service.not-found' });
    expect([here.service.calls.length, here.statuses().failed]).toEqual([4, undefined]);
    // The other three were answered.
    here.run();
    expect(here.service.calls.filter(({ at }) => at === here.service.calls[4]?.at)).toHaveLength(32);
  });

  it('image submissions are sent at once in the next run at a service that has served one', async () => {
    const here = await world(grid(13));
    here.run({ settings: virtualSettings({ maxSubmits: 1 }) });
    const before = here.service.submits.length;
    here.run();
    const [first, ...others] = here.service.submits.slice(before).map(({ at }) => at);
    expect(others.filter((at) => at === first)).toHaveLength(11);
  });

  it('they are sent one at a time again where the next run uses another address, until that has served one', async () => {
    const here = await world(grid(26));
    const at = (id: string) => ({ address: { id, endpoints: new KnownEndpoints() } });
    const atOnce = (address: object): number => {
      const before = here.service.submits.length;
      here.run({ settings: virtualSettings({ maxSubmits: 13 }), ...address });
      const [first, ...others] = here.service.submits.slice(before).map((sent) => sent.at);
      return 1 + others.filter((sent) => sent === first).length;
    };
    expect([atOnce(at('a')), atOnce(at('b'))]).toEqual([1, 1]);
    const there = await world(grid(26));
    there.run({ settings: virtualSettings({ maxSubmits: 13 }), ...at('a') });
    const sent = there.service.submits.length;
    there.run({ settings: virtualSettings({ maxSubmits: 13 }), ...at('a') });
    const [first, ...others] = there.service.submits.slice(sent).map((one) => one.at);
    expect(others.filter((one) => one === first).length).toBeGreaterThan(5);
  });

  it.each([
    ['submissions', grid(20), 'submit', 12],
    ['texts', texts(40), 'text', 32],
  ] as const)(
    '%s are sent at once where others were served, and report it once they are served',
    async (_, text, route, most) => {
      const others = new Set<Route>([route]);
      const here = await world(text);
      here.run({ shared: { served: others } });
      const sent = [...here.service.submits, ...here.service.calls].map(({ at }) => at);
      expect(sent.filter((at) => at === sent[0])).toHaveLength(most);
      const own = new Set<Route>();
      (await world(text)).run({ shared: { served: own } });
      expect([...own]).toContain(route);
    },
  );

  it('an unclear answer leaves few jobs in doubt: single probes follow, at growing intervals', async () => {
    const here = await world(grid(60), { onSubmit: () => ({ error: unclear }) });
    const { end, endedAt } = here.run();
    expect(end).toMatchObject({ kind: 'stopped', code: 'route.patience' });
    expect(here.statuses()['in-doubt']).toBeLessThan(12);
    const sent = here.service.submits.map(({ at }) => at);
    const gaps = sent.slice(1).map((at, n) => at - (sent[n] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(15 * minute + 1000);
    expect(gaps.toSorted((a, b) => a - b)).toEqual(gaps);
    expect(endedAt - epoch).toBeGreaterThan(59 * minute);
  });
});

describe('an API key that had worked', () => {
  const refused = failure('service.unauthorized', 'stop', { status: 401, about: 'key' });

  it('is tried again for half a minute, each time, and continues where the refusal passes', async () => {
    const isRefused = (ms: number): boolean => (ms > 30_000 && ms < 44_000) || (ms > 100_000 && ms < 114_000);
    const spells = new Set<boolean>();
    const here = await world(grid(60), {
      onSubmit: ({ at }) => {
        if (!isRefused(at - epoch)) return undefined;
        spells.add(at - epoch > 90_000);
        return { error: refused };
      },
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 60 });
    expect([...spells]).toEqual([false, true]);
  });

  it.each([
    [
      'submissions',
      { onSubmit: ({ at }: { at: number }) => (at > epoch + 20_000 ? { error: refused } : undefined) },
    ],
    [
      'polls',
      { onFetch: (_: string, __: number, at: number) => (at > epoch + 20_000 ? refused : undefined) },
    ],
  ])('ends the run where it is refused for longer: %s', async (_, script) => {
    const here = await world(grid(60), script);
    const { end, endedAt } = here.run();
    expect(end).toMatchObject({ kind: 'stopped', code: 'service.unauthorized' });
    expect(endedAt - epoch).toBeGreaterThan(50_000);
    expect(endedAt - epoch).toBeLessThan(100_000);
    expect(here.statuses().failed).toBeUndefined();
  });

  it('is tried again where it had worked for another worker', async () => {
    const onSubmit = ({ at }: { at: number }) => (at < epoch + 14_000 ? { error: refused } : undefined);
    const here = await world(grid(60), { onSubmit });
    expect(here.run({ shared: { served: new Set<Route>(['submit']) } }).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 60 });
  });

  it.each([
    ['submissions', 100],
    ['submissions that take long', 4000],
  ])('is tried three times more by each route: %s', async (_, latencyMs) => {
    const from = epoch + 20_000;
    const here = await world(grid(60), {
      onSubmit: ({ at }) => (at > from ? { error: refused } : undefined),
      onFetch: (_id, _n, at) => (at > from ? refused : undefined),
    });
    const { end, endedAt } = here.run({ latency: () => latencyMs });
    expect(end).toMatchObject({ kind: 'stopped', code: 'service.unauthorized' });
    expect(endedAt - from).toBeLessThan(30_000 + 12_000 + 2 * latencyMs);
    const first = here.service.fetchTimes.findIndex((at) => at > from);
    // Those that left with the first one, and three.
    const asked = here.service.fetchTimes.slice(first);
    expect(asked.filter((at) => at > (asked[0] ?? 0) + latencyMs).length).toBeLessThanOrEqual(3);
  });

  it('ends the run where one kind never accepts it, though others do', async () => {
    const from = epoch + 20_000;
    const here = await world(
      `name: test
matrix: { n: { from: 1, to: 400 } }
steps:
  good: { generate: { prompt: "Say {{ n }}", model: text-pro } }
  shut: { chat: { prompt: "Say {{ n }}", model: text-pro } }
`,
      { onAsk: ({ record, at }) => (record.kind === 'chat' && at > from ? refused : undefined) },
    );
    const { end, endedAt } = here.run({ latency: () => 5000 });
    expect(end).toMatchObject({ kind: 'stopped', code: 'service.unauthorized' });
    expect(endedAt - from).toBeLessThan(60_000);
    expect(here.statuses().failed).toBeUndefined();
  });

  it('costs no task a read', async () => {
    const here = await world(grid(60), {
      onFetch: (_, __, at) => (at > epoch + 20_000 && at < epoch + 45_000 ? refused : undefined),
    });
    const settings = virtualSettings();
    const once = { ...settings, retry: { ...settings.retry, attempts: 1 } };
    expect(here.run({ settings: once }).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 60 });
  });

  it('ends the run at once where it never worked', async () => {
    const here = await world(grid(60), { onSubmit: () => ({ error: refused }) });
    const { endedAt } = here.run();
    expect([endedAt - epoch, here.service.submits.length]).toEqual([100, 1]);
  });
});

describe('tasks that are accepted and all fail', () => {
  it.each(['401 Unauthorized: [no body]', '[Verify you are human] captcha', '[Blocked] x', 'Missing Access'])(
    'for reasons of the account close their kind after three: %s',
    async (reason) => {
      const here = await world(grid(100), { fails: () => reason });
      expect(here.run().end).toMatchObject({ kind: 'stopped', code: 'tasks.failing' });
      const { failed = 0, pending = 0 } = here.statuses();
      // As many as were under way by then.
      expect([failed + pending, failed < 3 + 12]).toEqual([100, true]);
    },
  );

  it('for any single reason close their kind after twenty, and other kinds continue', async () => {
    const here = await world(grid(40, 'U1'), {
      fails: ({ pressed, number }) => (pressed === '' ? undefined : `No such thing as ${number}`),
    });
    const { end } = here.run();
    expect(end).toMatchObject({ kind: 'stopped', code: 'tasks.failing' });
    expect('message' in (end ?? {}) && (end as { message: string }).message).toContain(
      'tasks of U1–U4 in a row',
    );
    expect(here.statuses().failed).toBeLessThan(20 + 12);
  });

  it('do not close the kind where one succeeds in between', async () => {
    const here = await world(grid(60), {
      fails: ({ number }) => (number % 3 === 0 ? undefined : 'Missing Access'),
    });
    const settings = virtualSettings({ limits: { tasks: 1, requests: 4 } });
    expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 20, failed: 40 });
  });

  it('for an overload delay the next submissions', async () => {
    const here = await world(grid(60), { fails: () => 'You are being rate limited.' });
    const { end, events } = here.run();
    expect(end).toMatchObject({ code: 'tasks.failing' });
    expect(events.some((event) => event.type === 'route:pause' && event.route === 'submit')).toBe(true);
    expect(here.service.submits.length).toBeLessThan(20 + 12);
  });
});

describe('files that cannot be downloaded', () => {
  it.each(['fresh-link', 'permanent'] as const)(
    'end the run after twenty, and stay to be saved: %s',
    async (fault) => {
      let refused = true;
      const here = await world(grid(160), {
        onSave: () => (refused ? { ok: false, error: saveFailures[fault] } : undefined),
      });
      expect(here.run().end).toMatchObject({ kind: 'stopped', code: 'downloads.in-vain' });
      const paid = here.service.submits.length;
      expect(paid).toBeLessThan(20 + 2 * 12 + 1);
      expect(here.statuses().failed).toBeUndefined();
      refused = false;
      expect(here.run().end).toEqual({ kind: 'complete' });
      expect([here.service.submits.length, here.statuses()]).toEqual([160, { done: 160 }]);
    },
  );

  it.each([
    ['are counted only once the task gave fresh ones', 1, 'complete'],
    ['end the run where fresh ones are no better', 9, 'stopped'],
  ])('by the links of an earlier run %s', async (_, bad, end) => {
    const saved = new Map<string, number>();
    let isFirst = true;
    const here = await world(grid(160), {
      onSave: (key) => {
        if (!isFirst) saved.set(key, (saved.get(key) ?? 0) + 1);
        return isFirst || (saved.get(key) ?? 0) <= bad
          ? { ok: false, error: { ...saveFailures['fresh-link'], lasting: true } }
          : undefined;
      },
    });
    here.run();
    expect(here.statuses().saving).toBeGreaterThanOrEqual(20);
    const before = here.service.submits.length;
    isFirst = false;
    expect(here.run().end?.kind).toBe(end);
    expect(here.statuses().failed).toBeUndefined();
    expect(here.service.submits.length - before < 20 + 2 * 12 + 1).toBe(end === 'stopped');
  });

  it('let no new task begin while they may still come, and all continue once one does', async () => {
    const until = epoch + 30 * minute;
    let now = epoch;
    const here = await world(grid(100), {
      onSave: () => (now < until ? { ok: false, error: saveFailures.retry } : undefined),
      progress: (_, at) => {
        now = Math.max(now, at);
        return 1;
      },
    });
    const { end } = here.run({
      onResult: (_, at) => {
        now = at;
      },
    });
    expect(end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 100 });
    expect(here.service.submits.filter(({ at }) => at < until).length).toBeLessThan(20 + 2 * 12 + 1);
  });

  it('end the run where they do not come for retry.patience', async () => {
    const here = await world(grid(100), { onSave: () => ({ ok: false, error: saveFailures.retry }) });
    const { end, endedAt } = here.run();
    expect(end).toMatchObject({ kind: 'stopped' });
    expect(endedAt - epoch).toBeLessThan(90 * minute);
    expect(here.statuses().failed).toBeUndefined();
    expect(here.service.submits.length).toBeLessThan(20 + 2 * 12 + 1);
  });

  it('fail as before where they are few, or others come', async () => {
    const few = await world(grid(3), { onSave: () => ({ ok: false, error: saveFailures.permanent }) });
    expect(few.run().end).toEqual({ kind: 'complete' });
    expect(few.statuses()).toEqual({ failed: 3 });
    let saves = 0;
    const some = await world(grid(60), {
      onSave: () => {
        saves += 1;
        return saves % 2 === 0 ? { ok: false, error: saveFailures.permanent } : undefined;
      },
    });
    expect(some.run().end).toEqual({ kind: 'complete' });
    expect(some.statuses()).toEqual({ done: 30, failed: 30 });
  });
});
