import { describe, expect, it } from 'vitest';
import { failure } from '../../../rig/failure.ts';
import type { GatewayScript } from '../../../rig/gateway/scripted-gateway.ts';
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

describe('a submission that was answered by 504', () => {
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

  it('is sent the submission again, with one notice', async () => {
    const here = await world(grid(2), script);
    const { events } = here.run();
    expect(here.statuses()).toEqual({ done: 2 });
    const notices = events.flatMap((event) => (event.type === 'run:notice' ? [event.code] : []));
    expect([here.service.submits.length, notices]).toEqual([4, ['service.no-listing']]);
  });

  it('is not searched where submissions carry no tag', async () => {
    const here = await world(grid(2), { ...script, onSearch: all });
    here.run({ settings: virtualSettings({ tag: false }) });
    expect([here.statuses(), here.service.searches]).toEqual([{ done: 2 }, 0]);
  });

  it('is not searched after a 503, which made no task', async () => {
    const unavailable = failure('service.unavailable', 'retry', { status: 503 });
    const here = await world(grid(1), {
      onSubmit: ({ number }) => (number <= 2 ? { error: unavailable } : undefined),
      onSearch: all,
    });
    here.run();
    expect([here.statuses(), here.service.searches]).toEqual([{ done: 1 }, 0]);
  });
});
