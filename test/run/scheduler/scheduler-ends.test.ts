import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Scheduler } from '../../../src/run/scheduler/scheduler.ts';
import { failure } from '../../rig/failure.ts';
import { epoch } from '../../rig/jobs.ts';
import { seededRandom, virtualSettings } from '../../rig/virtual-run.ts';
import { grid, type World, world } from '../../rig/world.ts';
import { eventsOf, optionsOf } from './scheduler-rig.ts';

const most = (counts: ReadonlyMap<string, number>): number => Math.max(0, ...counts.values());

/** What a run leaves, without times and ids. */
const results = ({ store }: World) =>
  [...store.withStatus('done')].map(({ key, request, artifacts }) => ({ key, request, artifacts }));

describe('the early end of a run', () => {
  it('a budget is never exceeded, not even by one, over any number of runs', async () => {
    const { run, store } = await world(grid(30, 'U1..U4'));
    for (let n = 0; n < 3; n++) {
      const result = run({ settings: virtualSettings({ budget: { submits: 20 } }) });
      expect(result.end).toMatchObject({ kind: 'budget', code: 'budget.submits' });
      expect(store.totals().attempts).toBe(20);
    }
  });

  it('a budget of money counts requests in flight', async () => {
    const { run, store } = await world(grid(30));
    const result = run({ settings: virtualSettings({ budget: { cost: 0.5 } }), price: () => 0.04 });
    expect(result.end).toMatchObject({ kind: 'budget', code: 'budget.cost' });
    expect(store.totals().cost).toBeCloseTo(0.48);
  });

  it.each([
    [
      'time-outs that the service answers for',
      failure('service.unavailable', 'retry', { status: 504 }),
      'hold',
    ],
    ['answers that never came', failure('connection.lost', 'lost'), 'retry'],
  ] as const)('a budget of money counts possible cost: %s', async (_, error, inDoubt) => {
    const { run, store, service } = await world(grid(20), {
      onSubmit: ({ number }) => (number % 2 === 1 ? { error, made: true } : undefined),
    });
    for (let n = 0; n < 4; n++) {
      const { end } = run({ price: () => 1, settings: virtualSettings({ budget: { cost: 10 }, inDoubt }) });
      expect(end).toMatchObject({ kind: 'budget', code: 'budget.cost' });
      expect(JSON.stringify(end)).toMatch(/and up to \d more for submissions without a response/);
    }
    const made = [...service.works.values()].reduce((sum, count) => sum + count, 0);
    const { cost, possibleCost } = store.totals();
    expect([made, cost + possibleCost]).toEqual([10, 10]);
  });

  it('a budget of money counts unanswered requests of a crash, from the next run on', async () => {
    const { run, store } = await world(grid(20));
    const settings = virtualSettings({ budget: { cost: 10 }, limits: { tasks: 4, requests: 4 } });
    // The intents of the second turn are durable, and its submissions leave.
    run({ price: () => 1, settings, dieAfterTurns: 2 });
    const left = store.totals().jobs.submitting;
    expect(left).toBeGreaterThan(0);
    const { end } = run({ price: () => 1, settings });
    expect(end).toMatchObject({ code: 'budget.cost' });
    expect(store.totals()).toMatchObject({ cost: 10 - left, possibleCost: left });
  });

  it('--max-submits counts accepted submissions, not those refused with 429', async () => {
    const { run, service, statuses } = await world(grid(5), {
      onSubmit: ({ number }) =>
        number === 1 ? { error: failure('service.throttled', 'throttle', { status: 429 }) } : undefined,
    });
    const result = run({ settings: virtualSettings({ maxSubmits: 1 }) });
    expect(result.end).toMatchObject({ kind: 'budget', code: 'budget.max-submits' });
    expect([result.submits, service.works.size, statuses()]).toEqual([1, 1, { done: 1, pending: 4 }]);
  });

  it('a budget of money is spent to its end although a request in flight turned out unpaid', async () => {
    const { run, store } = await world(grid(30), {
      onSubmit: ({ number }) => (number <= 6 ? { kind: 'queue-full', code: 23, message: 'full' } : undefined),
    });
    run({ settings: virtualSettings({ budget: { cost: 0.2 } }), price: () => 0.04 });
    expect(store.totals().cost).toBeCloseTo(0.2);
  });

  it('the first signal begins nothing new and settles what is in flight', async () => {
    const { run, service, statuses } = await world(grid(100, 'U1'));
    const result = run({ drainAt: epoch + 45_000 });
    expect(result.end).toEqual({ kind: 'interrupted', forced: false });
    expect(service.submits.every(({ at }) => at < epoch + 45_000)).toBe(true);
    const { done = 0, pending = 0 } = statuses();
    expect([done, pending]).toEqual([service.submits.length, 200 - service.submits.length]);
  });

  it('the first signal leaves jobs that are refused after it to the next run', async () => {
    const { run, service, statuses } = await world(grid(20), {
      onSubmit: ({ at }) =>
        at < epoch + 60_000 ? { error: failure('service.unavailable', 'retry', { status: 503 }) } : undefined,
    });
    const result = run({ drainAt: epoch + 50, latency: () => 5000 });
    expect(result.end).toEqual({ kind: 'interrupted', forced: false });
    expect([service.submits.length, statuses()]).toEqual([1, { pending: 20 }]);
    expect(result.endedAt).toBe(epoch + 5000);
    expect(run().end).toEqual({ kind: 'complete' });
    expect(statuses()).toEqual({ done: 20 });
  });

  it('--max-duration ends the run in good order', async () => {
    const { run, statuses } = await world(grid(100));
    const result = run({ settings: virtualSettings({ maxDurationMs: 60_000 }) });
    expect(result.end).toMatchObject({ kind: 'budget', code: 'run.max-duration' });
    expect(statuses().running).toBeUndefined();
  });

  it('--max-duration that passes during the last tasks leaves nothing, and the run is complete', async () => {
    const { run, statuses } = await world(grid(5));
    for (const maxDurationMs of [1000, 29_000]) {
      const result = run({ settings: virtualSettings({ maxDurationMs }) });
      expect([result.end, statuses()]).toEqual([{ kind: 'complete' }, { done: 5 }]);
    }
    const more = await world(grid(5, 'U1'));
    const stopped = more.run({ settings: virtualSettings({ maxDurationMs: 1000 }) });
    expect([stopped.end?.kind, more.statuses()]).toEqual(['budget', { done: 5, pending: 5 }]);
    const queued = await world(grid(5));
    const limits = { tasks: 1, requests: 1 };
    expect(queued.run({ settings: virtualSettings({ maxDurationMs: 1000, limits }) }).end?.kind).toBe(
      'budget',
    );
  });

  it('--fail-fast ends the run at the first failure', async () => {
    const { run, service } = await world(grid(100), {
      onSubmit: ({ number }) =>
        number === 3 ? { error: failure('service.rejected', 'permanent', { status: 400 }) } : undefined,
    });
    expect(run({ settings: virtualSettings({ failFast: true }) }).end).toEqual({
      kind: 'fail-fast',
      code: 'service.rejected',
      message:
        'grid in cell 3 failed with service.rejected, and --fail-fast ends the run at the first failure.',
    });
    expect(service.submits.length).toBeLessThanOrEqual(12);
  });

  it('--max-failures ends the run at that many failures of this run, and leaves the rest to the next one', async () => {
    const { run, statuses } = await world(grid(40), {
      onSubmit: ({ number }) =>
        number % 3 === 0
          ? { error: failure('service.rejected', 'permanent', { status: 400, message: `no ${number}` }) }
          : undefined,
    });
    const settings = virtualSettings({ maxFailures: 3, limits: { tasks: 1, requests: 1 } });
    expect(run({ settings }).end).toEqual({
      kind: 'fail-fast',
      code: 'run.max-failures',
      message:
        '3 jobs have failed in this run (--max-failures). The last one: grid in cell 9 with service.rejected.',
    });
    expect(statuses()).toEqual({ done: 6, failed: 3, pending: 31 });
    expect(run({ settings }).end).toMatchObject({ code: 'run.max-failures' });
    expect(statuses()).toMatchObject({ failed: 6 });
    expect(run({ settings: { ...settings, maxFailures: 99 } }).end).toEqual({ kind: 'complete' });
  });

  it.each([{ maxFailures: 1 }, { failFast: true }])(
    '%j ignores failures that the pipeline accepts',
    async (ends) => {
      const { run, statuses } = await world(grid(5), {
        onSubmit: ({ number }) =>
          number % 2 === 0 ? { error: failure('service.rejected', 'permanent', { status: 400 }) } : undefined,
      });
      const acceptedFailures = ['task.moderated', 'service.rejected'];
      expect(run({ settings: virtualSettings({ ...ends, acceptedFailures }) }).end).toEqual({
        kind: 'complete',
      });
      expect(statuses()).toEqual({ done: 3, failed: 2 });
    },
  );

  it('--max-failures ignores a missing optional button and a task that an earlier run gave up', async () => {
    const settings = virtualSettings({ maxFailures: 1 });
    const optional = await world(grid(20, 'Nowhere?'));
    expect(optional.run({ settings }).end).toEqual({ kind: 'complete' });
    const needed = await world(grid(1, 'Nowhere'));
    expect(needed.run({ settings }).end).toMatchObject({
      message: expect.stringMatching(/^A job has failed in this run/),
    });
  });

  it('--fail-fast ignores a missing optional button, unless another slot needs it', async () => {
    const optional = await world(grid(20, 'Nowhere?'));
    expect(optional.run({ settings: virtualSettings({ failFast: true }) }).end).toEqual({ kind: 'complete' });
    expect(optional.statuses()).toEqual({ done: 20, skipped: 20 });
    const needed = await world(`${grid(1, 'Nowhere?')}  best: { from: grid, click: Nowhere }
`);
    expect(needed.run({ settings: virtualSettings({ failFast: true }) }).end).toMatchObject({
      kind: 'fail-fast',
      code: 'button.missing',
    });
    expect(needed.statuses()).toEqual({ done: 1, skipped: 1, failed: 1 });
  });

  it('--fail-fast ends at failures of this run, not at earlier ones', async () => {
    const { run, statuses } = await world(grid(3), {
      duration: ({ prompt }) => (prompt === 'picture 1' ? Number.MAX_SAFE_INTEGER : 30_000),
      onSubmit: ({ prompt }) =>
        prompt === 'picture 2'
          ? { error: failure('service.rejected', 'permanent', { status: 400 }) }
          : undefined,
    });
    const settings = virtualSettings({ failFast: true, limits: { tasks: 1, requests: 1 } });
    expect(run({ settings }).end).toMatchObject({ kind: 'fail-fast', code: 'task.timeout' });
    expect(run({ settings }).end).toMatchObject({ kind: 'fail-fast', code: 'service.rejected' });
    expect(run({ settings }).end).toEqual({ kind: 'complete' });
    expect(statuses()).toEqual({ failed: 2, done: 1 });
  });
});

it('a later run polls a task that was running when a run died, however late it comes', async () => {
  const slow = 15 * 60_000;
  for (const away of [60_000, 21 * 60_000, 7 * 86_400_000]) {
    const { run, service, statuses } = await world(grid(1), {
      // Gateways stop working on it while nobody asks, or are slow themselves.
      duration: () => away + slow,
    });
    const { endedAt } = run({ dieAfterTurns: 4 });
    const { end } = run({ startAt: endedAt + away });
    expect([end, statuses(), service.submits.length]).toEqual([{ kind: 'complete' }, { done: 1 }, 1]);
  }
});

describe('a run that dies at any turn', () => {
  const text = grid(4, 'U1,U2 → Vary (Strong)');

  it('loses nothing and pays nothing twice except what is reported in doubt', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 }),
        fc.nat(),
        async (deaths, seed) => {
          const { run, service, store, statuses } = await world(text);
          for (const dieAfterTurns of deaths) run({ dieAfterTurns, random: seededRandom(seed) });
          const last = run({ random: seededRandom(seed) });
          expect(last.end).toEqual({ kind: 'complete' });
          const doubtful = [...store.withStatus('in-doubt')].length;
          expect(most(service.works)).toBeLessThanOrEqual(1);
          run({ settings: virtualSettings({ inDoubt: 'retry' }), random: seededRandom(seed) });
          expect(statuses()).toEqual({ done: 20 });
          expect(service.submits.length).toBeLessThanOrEqual(20 + doubtful);
          expect(store.totals().attempts).toBeGreaterThanOrEqual(service.submits.length);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('ends with the same records as a run that was never interrupted', async () => {
    const undisturbed = await world(text);
    undisturbed.run();
    const disturbed = await world(text);
    for (let n = 0; n < 200 && disturbed.run({ dieAfterTurns: 25 }).end === undefined; n++);
    disturbed.run({ settings: virtualSettings({ inDoubt: 'retry' }) });
    expect(results(disturbed)).toEqual(results(undisturbed));
  });
});

it('a run is not woken again for its maximum duration while its tasks are finished', async () => {
  const { options, cells } = await optionsOf(grid(2), { maxDurationMs: 1000 });
  const scheduler = new Scheduler(options);
  scheduler.handle({ type: 'cells', cells, last: true }, epoch);
  const { effects } = scheduler.takeCommit();
  scheduler.onDurable();
  for (const { job } of effects)
    scheduler.handle(
      {
        type: 'submitted',
        key: job.record.key,
        result: { ok: true, value: { kind: 'accepted', taskId: job.record.key, code: 1 } },
      },
      epoch + 10,
    );
  scheduler.handle({ type: 'tick' }, epoch + 1000);
  expect(eventsOf(scheduler.takeCommit(), 'run:stopping')).toMatchObject([{ end: { kind: 'budget' } }]);
  scheduler.onDurable();
  expect(scheduler.tasks).toBe(2);
  expect(scheduler.nextWakeAt()).toBeGreaterThan(epoch + 1000);
});
