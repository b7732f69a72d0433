import { describe, expect, it } from 'vitest';
import { failure } from '../../../rig/failure.ts';
import type { GatewayScript } from '../../../rig/gateway/scripted-gateway.ts';
import { epoch } from '../../../rig/jobs.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';
import { grid, type World, world } from '../../../rig/world.ts';

const timeout = failure('service.unavailable', 'retry', { status: 504 });
const made = { error: timeout, made: true } as const;
const lost = { error: timeout } as const;
const all: GatewayScript['onSearch'] = (tasks) => tasks;

const outcomes = ({ store, cells, plan }: World, cell = 0): readonly string[] => {
  const [slot] = plan.resolve(cells[cell] ?? raise(), (key) => store.get(key));
  return store.attempts(slot?.job?.key ?? '').map(({ outcome }) => outcome);
};
const raise = (): never => {
  throw new Error('There is no such cell.');
};
const totals = ({ store }: World) => store.totals();

describe('a submission answered with 504', () => {
  it('is not sent again where the service lists its task, which is adopted and paid once', async () => {
    const here = await world(grid(3), {
      onSubmit: ({ number }) => (number === 1 ? made : undefined),
      onSearch: all,
    });
    const { end, events } = here.run({ price: () => 1 });
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 3 }]);
    expect([here.service.submits.length, here.service.tasks.size, here.service.searches]).toEqual([3, 3, 1]);
    expect(outcomes(here)).toEqual(['retry', 'found']);
    expect([totals(here).cost, totals(here).possibleCost]).toEqual([3, 0]);
    expect(events.filter(({ type }) => type === 'run:notice')).toEqual([]);
  });

  it('is sent again where no task of it is listed', async () => {
    const here = await world(grid(2), {
      onSubmit: ({ number }) => (number === 1 ? lost : undefined),
      onSearch: all,
    });
    here.run();
    expect(here.statuses()).toEqual({ done: 2 });
    expect([here.service.submits.length, here.service.searches]).toEqual([3, 1]);
  });

  it('is searched for after each try that may have made a task', async () => {
    const here = await world(grid(1), {
      onSubmit: ({ number }) => (number <= 2 ? lost : number === 3 ? made : undefined),
      onSearch: all,
    });
    here.run();
    expect(here.statuses()).toEqual({ done: 1 });
    expect([here.service.submits.length, here.service.searches]).toEqual([3, 3]);
  });

  it('is not pressed again where it is a click', async () => {
    const here = await world(grid(1, 'U1'), {
      onSubmit: ({ pressed }) => (pressed === '' ? undefined : made),
      onSearch: all,
    });
    here.run();
    expect(here.statuses()).toEqual({ done: 2 });
    expect(here.service.submits.length).toBe(2);
  });

  it('adopts none of its tasks that had failed before', async () => {
    const here = await world(grid(1), {
      fails: ({ number }) => (number === 1 ? 'internal error' : undefined),
      onSubmit: ({ number }) => (number === 2 ? lost : undefined),
      onSearch: all,
    });
    here.run();
    expect(here.statuses()).toEqual({ done: 1 });
    expect([here.service.submits.length, here.service.searches]).toEqual([3, 1]);
    expect(outcomes(here)).not.toContain('found');
  });

  it('adopts the most advanced task, and notes the others', async () => {
    const here = await world(grid(1), {
      duration: ({ number }) => (number === 1 ? 600_000 : 1),
      onSubmit: () => made,
      onSearch: (tasks, searches) => (searches < 3 ? [] : tasks),
    });
    here.run();
    expect(here.statuses()).toEqual({ done: 1 });
    expect(here.service.submits.length).toBe(3);
    expect(outcomes(here).toSorted()).toEqual([
      'found',
      'found.unused',
      'found.unused',
      'retry',
      'retry',
      'retry',
    ]);
    const [record] = [...here.store.withStatus('done')];
    expect(record?.taskId).toBe([...here.service.tasks.keys()][1]);
  });

  it('is searched for again before anything is sent, where the list cannot be read', async () => {
    const here = await world(grid(1), {
      onSubmit: ({ number }) => (number === 1 ? made : undefined),
      onSearch: (tasks, searches) =>
        searches <= 3 ? failure('service.unavailable', 'retry', { status: 500 }) : tasks,
    });
    here.run();
    expect(here.statuses()).toEqual({ done: 1 });
    expect([here.service.submits.length, here.service.searches]).toEqual([1, 4]);
  });

  it('is searched for after its last try, and is then in doubt', async () => {
    const settings = virtualSettings({ retry: { ...virtualSettings().retry, attempts: 2 } });
    const missed = await world(grid(1), { onSubmit: () => lost, onSearch: all });
    missed.run({ settings });
    expect([missed.statuses(), missed.service.searches]).toEqual([{ 'in-doubt': 1 }, 2]);
    const [record] = [...missed.store.withStatus('in-doubt')];
    expect(record?.error).toMatchObject({ code: 'service.unavailable', httpStatus: 504 });
    expect(record?.error?.message).toContain('(after 2 tries)');
    const found = await world(grid(1), {
      onSubmit: ({ number }) => (number === 2 ? made : lost),
      onSearch: all,
    });
    found.run({ settings });
    expect([found.statuses(), found.service.submits.length]).toEqual([{ done: 1 }, 2]);
  });

  it('is searched for by the next run where this one died before the search', async () => {
    const adopted: unknown[] = [];
    for (let turn = 1; turn < 12; turn++) {
      const here = await world(grid(1), {
        onSubmit: ({ number }) => (number === 1 ? made : undefined),
        onSearch: all,
      });
      here.run({ dieAfterTurns: turn });
      const searchedBefore = here.service.searches;
      here.run();
      // A death while its answer was under way leaves it in doubt; nothing is ever made twice.
      expect([turn, here.service.tasks.size <= 1]).toEqual([turn, true]);
      if (searchedBefore === 0 && here.service.searches > 0) adopted.push(here.statuses());
    }
    expect(adopted).not.toEqual([]);
    expect(new Set(adopted.map((statuses) => JSON.stringify(statuses)))).toEqual(new Set(['{"done":1}']));
  });
});

describe('a gateway that does not list its tasks', () => {
  const script: GatewayScript = { onSubmit: ({ number }) => (number <= 2 ? lost : undefined) };

  it('gets the submission again, with one notice', async () => {
    const here = await world(grid(2), script);
    const { events } = here.run();
    expect(here.statuses()).toEqual({ done: 2 });
    const notices = events.flatMap((event) => (event.type === 'run:notice' ? [event.code] : []));
    expect([here.service.submits.length, notices]).toEqual([4, ['service.no-listing']]);
  });

  it('is not asked for a list where submissions have no tag', async () => {
    const here = await world(grid(2), { ...script, onSearch: all });
    here.run({ settings: virtualSettings({ tag: false }) });
    expect([here.statuses(), here.service.searches]).toEqual([{ done: 2 }, 0]);
  });

  it('is not asked for a list after a 503, which made no task', async () => {
    const unavailable = failure('service.unavailable', 'retry', { status: 503 });
    const here = await world(grid(1), {
      onSubmit: ({ number }) => (number <= 2 ? { error: unavailable } : undefined),
      onSearch: all,
    });
    here.run();
    expect([here.statuses(), here.service.searches]).toEqual([{ done: 1 }, 0]);
  });
});

describe('a job that a run puts in doubt (--in-doubt find)', () => {
  const find = virtualSettings({ findInDoubt: true });
  const cut = { error: failure('connection.lost', 'lost'), made: true } as const;
  const notices = (events: readonly { readonly type: string; readonly code?: string }[]): unknown[] =>
    events.flatMap(({ type, code }) => (type === 'run:notice' ? [code] : []));

  it('is searched for in this run, by a gateway that lists its newest tasks only, and continues with later steps', async () => {
    const script: GatewayScript = {
      onSubmit: ({ number }) => (number === 2 ? cut : undefined),
      onSearch: (tasks) => tasks.slice(-15),
    };
    const here = await world(grid(60, 'U1'), script);
    const { end } = here.run({ settings: find, price: () => 1 });
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 120 }]);
    expect([here.service.submits.length, here.service.tasks.size, here.service.searches]).toEqual([
      120, 120, 1,
    ]);
    expect([totals(here).attempts, totals(here).cost, totals(here).possibleCost]).toEqual([120, 120, 0]);
    const held = await world(grid(60, 'U1'), script);
    held.run();
    expect([held.statuses(), held.service.searches]).toEqual([{ done: 118, 'in-doubt': 1, pending: 1 }, 0]);
  });

  it('is searched for together with others: by one list, and by no other within 30 s or while one is in flight', async () => {
    const searches: [at: number, ms: number][] = [];
    const here = await world(grid(40), {
      onSubmit: ({ number }) => (number % 2 === 0 ? cut : undefined),
      onSearch: all,
    });
    const { end } = here.run({
      settings: find,
      latency: (route) => (route === 'poll' ? 45_000 : 4000),
      onEffect: ({ send }, at) => {
        if (send.kind === 'search') searches.push([at, send.beside?.length ?? -1]);
      },
    });
    expect([end, here.statuses(), here.service.submits.length]).toEqual([
      { kind: 'complete' },
      { done: 40 },
      40,
    ]);
    const apart = searches.slice(1).map(([at], n) => at - (searches[n]?.[0] ?? 0));
    expect(Math.min(...apart)).toBeGreaterThanOrEqual(45_000);
    expect(searches.reduce((sum, [, beside]) => sum + 1 + beside, 0)).toBe(20);
  });

  it('stays in doubt where nothing is found, is not sent again, and its run ends after the search', async () => {
    const here = await world(grid(3, 'U1'), {
      onSubmit: ({ number }) => (number === 1 ? { ...cut, made: false } : undefined),
      onSearch: all,
    });
    const { end, endedAt } = here.run({ settings: find });
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 4, 'in-doubt': 1, pending: 1 }]);
    expect([here.service.submits.length, here.service.searches]).toEqual([5, 1]);
    const [record] = [...here.store.withStatus('in-doubt')];
    expect(record?.finishedAt).toBeLessThan(endedAt);
  });

  it('is searched for again where the list cannot be read', async () => {
    const here = await world(grid(1), {
      onSubmit: () => cut,
      onSearch: (tasks, searches) =>
        searches <= 2 ? failure('service.unavailable', 'retry', { status: 500 }) : tasks,
    });
    const at: number[] = [];
    here.run({ settings: find, onEffect: ({ send }, now) => send.kind === 'search' && at.push(now) });
    expect([here.statuses(), here.service.submits.length, at.length]).toEqual([{ done: 1 }, 1, 3]);
    expect(at.slice(1).every((one, n) => one - (at[n] ?? 0) >= 30_000)).toBe(true);
  });

  it('is found by the search in flight when the run is to end; without a search it is left', async () => {
    const script: GatewayScript = { onSubmit: () => cut, onSearch: all };
    const [during, before] = await Promise.all([world(grid(1), script), world(grid(1), script)]);
    const slow = { settings: find, latency: () => 1000 } as const;
    during.run({ ...slow, drainAt: epoch + 6500 });
    expect([during.statuses(), during.service.searches]).toEqual([{ done: 1 }, 1]);
    const { endedAt } = before.run({ ...slow, drainAt: epoch + 3000 });
    expect([before.statuses(), before.service.searches, endedAt]).toEqual([
      { 'in-doubt': 1 },
      0,
      epoch + 3000,
    ]);
  });

  it('is in doubt durably before it is searched for, and is sent once wherever its run dies', async () => {
    const left: unknown[] = [];
    for (let turn = 1; turn < 14; turn++) {
      const here = await world(grid(1), { onSubmit: () => cut, onSearch: all });
      here.run({ settings: find, dieAfterTurns: turn });
      left.push(here.statuses());
      here.run({ settings: find });
      expect([turn, here.service.submits.length <= 1]).toEqual([turn, true]);
    }
    expect(left).toContainEqual({ 'in-doubt': 1 });
    expect(left).toContainEqual({ running: 1 });
  });

  it('is reported once as not found where the gateway lists no tasks', async () => {
    const here = await world(grid(4), { onSubmit: () => cut });
    const { events } = here.run({ settings: find });
    expect([here.statuses(), notices(events)]).toEqual([{ 'in-doubt': 4 }, ['service.no-listing']]);
    const untagged = await world(grid(4), { onSubmit: () => cut, onSearch: all });
    untagged.run({ settings: { ...find, tag: false } });
    expect([untagged.statuses(), untagged.service.searches]).toEqual([{ 'in-doubt': 4 }, 0]);
  });
});
