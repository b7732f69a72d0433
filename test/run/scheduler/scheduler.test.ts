import { describe, expect, it } from 'vitest';
import { failure } from '../../rig/failure.ts';
import { epoch } from '../../rig/jobs.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { grid, world } from '../../rig/world.ts';

const most = (counts: ReadonlyMap<string, number>): number => Math.max(0, ...counts.values());

describe('a whole run in virtual time', () => {
  it('submits every job once and finishes', async () => {
    const { run, service, statuses } = await world(grid(16, 'U1..U4 → Vary (Strong)'));
    const result = run();
    expect(result.end).toEqual({ kind: 'complete' });
    expect(statuses()).toEqual({ done: 144 });
    expect([service.works.size, most(service.works), result.submits]).toEqual([144, 1, 144]);
  });

  it('sends nothing when it is run again', async () => {
    const { run, service } = await world(grid(5, 'U1'));
    run();
    const { fetchTimes, submits } = service;
    const before = [fetchTimes.length, submits.length];
    expect(run().end).toEqual({ kind: 'complete' });
    expect([fetchTimes.length, submits.length]).toEqual(before);
  });

  it('never has more tasks or requests in flight than the limits allow, and keeps no more in memory than needed', async () => {
    const { run, service } = await world(grid(40, 'U1..U4'));
    const result = run({ settings: virtualSettings({ limits: { tasks: 7, requests: 5 } }) });
    expect(result.end).toEqual({ kind: 'complete' });
    expect(result.most.requests).toBeLessThanOrEqual(5);
    expect(result.most.taskSlots).toBe(7);
    expect(result.most.cells).toBeLessThanOrEqual(7 + 24);
    expect(Math.max(...service.submits.map(({ at }) => service.inFlight(at)))).toBeLessThanOrEqual(7);
  });

  it('goes deep before it opens new cells', async () => {
    const { run, service } = await world(grid(30, 'U1 → Vary (Strong)'));
    const result = run({ settings: virtualSettings({ limits: { tasks: 3, requests: 8 } }) });
    // Slots for three tasks, and as many cells again whose images are downloaded meanwhile.
    expect(result.most.cells).toBeLessThanOrEqual(6);
    const lastGrid = service.submits.findLastIndex(({ pressed }) => pressed === '');
    const variationsBefore = service.submits
      .slice(0, lastGrid)
      .filter(({ pressed }) => pressed.includes('Vary')).length;
    expect(variationsBefore).toBeGreaterThanOrEqual(30 - 6);
  });

  it('keeps the submit rate in every window', async () => {
    const { run, service } = await world(grid(50));
    run({
      settings: virtualSettings({
        limits: { tasks: 50, requests: 50, submit: { count: 10, perMs: 60_000 } },
      }),
    });
    const times = service.submits.map(({ at }) => at);
    for (const from of times)
      expect(times.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(10);
  });

  it('pays once for a job that two cells share', async () => {
    const { run, service, statuses } = await world(`name: t
matrix: { a: [1, 2, 3], unused: [x, y] }
steps:
  grid: { imagine: "picture {{ a }}" }
`);
    run();
    expect([service.submits.length, statuses()]).toEqual([3, { done: 6 }]);
  });
});

describe('failures of the service', () => {
  it('429 pauses all requests for Retry-After and uses up no attempt', async () => {
    const { run, service, store } = await world(grid(6), {
      onSubmit: ({ number }) =>
        number === 1
          ? { error: failure('service.throttled', 'throttle', { status: 429, retryAfterMs: 30_000 }) }
          : undefined,
    });
    expect(run({ settings: virtualSettings({ limits: { tasks: 6, requests: 1 } }) }).end).toEqual({
      kind: 'complete',
    });
    const [first, second] = service.submits.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(30_000);
    expect(store.totals().attempts).toBe(6);
  });

  it('401 stops the run at once: nothing is sent after it', async () => {
    const { run, service, statuses } = await world(grid(100), {
      onSubmit: () => ({ error: failure('service.unauthorized', 'stop', { status: 401 }) }),
    });
    const result = run();
    expect(result.end).toMatchObject({ kind: 'stopped', code: 'service.unauthorized' });
    expect(service.submits.length).toBeLessThanOrEqual(12);
    expect(statuses()).toEqual({ pending: 100 });
  });

  it('a submission that ended the run and may have been accepted is in doubt, and not sent again', async () => {
    let wrong = true;
    const page = failure('service.not-json', 'stop', { status: 200, wrongAddress: true, mayBeDone: true });
    const { run, service, statuses } = await world(grid(3), {
      onSubmit: ({ number }) => (wrong && number > 1 ? { error: page } : undefined),
    });
    const settings = virtualSettings({ limits: { tasks: 1, requests: 1 } });
    expect(run({ settings }).end).toMatchObject({ kind: 'stopped', code: 'service.not-json' });
    expect(statuses()).toEqual({ done: 1, 'in-doubt': 1, pending: 1 });
    wrong = false;
    expect(run({ settings }).submits).toBe(1);
    expect([statuses(), service.submits.length]).toEqual([{ done: 2, 'in-doubt': 1 }, 3]);
  });

  it('twenty equal refusals in a row end the run once jobs in flight are done; the refused rows stay pending', async () => {
    let wrong = true;
    const { run, service, statuses } = await world(grid(60), {
      onSubmit: ({ number }) =>
        wrong && number > 2
          ? {
              error: failure('service.rejected', 'permanent', {
                status: 400,
                serviceMessage: 'no such field',
              }),
            }
          : undefined,
    });
    const settings = virtualSettings({ limits: { tasks: 4, requests: 4 } });
    expect(run({ settings }).end).toMatchObject({ kind: 'stopped', code: 'route.refused' });
    expect(service.submits.length).toBeLessThanOrEqual(2 + 20 + 3);
    expect(statuses()).toEqual({ done: 2, pending: 58 });
    wrong = false;
    expect(run({ settings }).end).toEqual({ kind: 'complete' });
    expect([statuses(), service.works.size]).toEqual([{ done: 60 }, 60]);
  });

  it('jobs that are refused again as in an earlier run go behind the others', async () => {
    let words = 'no such field';
    const { run, statuses } = await world(grid(60), {
      onSubmit: ({ prompt }) =>
        Number(prompt.replace('picture ', '')) <= 35
          ? { error: failure('service.rejected', 'permanent', { status: 400, message: words }) }
          : undefined,
    });
    const settings = virtualSettings({ limits: { tasks: 1, requests: 1 } });
    const retried = { ...settings, retryFailed: {} };
    expect(run({ settings }).end).toMatchObject({ kind: 'stopped', code: 'route.refused' });
    expect(statuses()).toEqual({ pending: 60 });
    expect(run({ settings }).end).toEqual({ kind: 'complete' });
    expect(statuses()).toEqual({ failed: 35, done: 25 });
    words = 'your plan has ended';
    expect(run({ settings: retried }).end).toMatchObject({ kind: 'stopped', code: 'route.refused' });
  });

  it('a route that has only refused for retry.patience stops the run, and the next run continues', async () => {
    let down = true;
    const { run, statuses, store } = await world(grid(20), {
      onSubmit: () => (down ? { error: failure('connection.refused', 'unsent') } : undefined),
    });
    const result = run();
    expect(result.end).toMatchObject({ kind: 'stopped', code: 'route.patience' });
    expect((result.endedAt - epoch) / 3_600_000).toBeCloseTo(1, 1);
    expect([statuses(), store.totals().attempts]).toEqual([{ pending: 20 }, 0]);
    down = false;
    expect(run().end).toEqual({ kind: 'complete' });
  });

  it('polls a task only after the previous poll was answered, however slow the service is', async () => {
    const { run, service, statuses } = await world(grid(4));
    const result = run({ latency: (route) => (route === 'poll' ? 40_000 : 100) });
    expect([statuses(), result.most.requests]).toEqual([{ done: 4 }, 4]);
    expect(service.fetchTimes.length).toBeLessThanOrEqual(8);
  });

  it('a failed job blocks the jobs below it, and nothing else', async () => {
    const { run, statuses } = await world(grid(3, 'U1 → Vary (Strong)'), {
      onSubmit: ({ prompt, pressed }) =>
        prompt === 'picture 2' && pressed === '/U1'
          ? { error: failure('service.rejected', 'permanent', { status: 400 }) }
          : undefined,
    });
    expect(run().end).toEqual({ kind: 'complete' });
    expect(statuses()).toEqual({ done: 7, failed: 1, blocked: 1 });
  });

  it('a lost submission is in doubt with the jobs below it pending, until the user decides', async () => {
    let lost = true;
    const { run, service, statuses } = await world(grid(2, 'U1'), {
      onSubmit: ({ prompt, pressed }) => {
        if (!lost || prompt !== 'picture 1' || pressed !== '') return undefined;
        lost = false;
        return { error: failure('connection.lost', 'lost'), made: true };
      },
    });
    run();
    expect(statuses()).toEqual({ 'in-doubt': 1, pending: 1, done: 2 });
    run();
    expect(service.submits).toHaveLength(3);
    run({ settings: virtualSettings({ inDoubt: 'retry' }) });
    expect(statuses()).toEqual({ done: 4 });
    expect(service.works.get('picture 1|')).toBe(2);
  });

  it('an outage of half an hour fails nothing where the service cannot be reached', async () => {
    const { run, statuses, store } = await world(grid(20), {
      onSubmit: ({ at }) =>
        at < epoch + 1_800_000 ? { error: failure('connection.refused', 'unsent') } : undefined,
    });
    expect(run().end).toEqual({ kind: 'complete' });
    expect([statuses(), store.totals().attempts]).toEqual([{ done: 20 }, 20]);
  });

  it('an outage in which answers are lost puts few jobs in doubt, not one for each request allowed', async () => {
    const { run, store, statuses } = await world(grid(100), {
      onSubmit: ({ at }) =>
        at > epoch + 10_000 && at < epoch + 600_000
          ? { error: failure('connection.lost', 'lost') }
          : undefined,
    });
    expect(run().end).toEqual({ kind: 'complete' });
    const doubtful = [...store.withStatus('in-doubt')].length;
    expect(doubtful).toBeLessThanOrEqual(12 + 30);
    expect(statuses().done).toBe(100 - doubtful);
  });

  it('an outage of ten minutes with 503 fails nothing', async () => {
    const { run, statuses } = await world(grid(60), {
      onSubmit: ({ at }) =>
        at > epoch + 10_000 && at < epoch + 600_000
          ? { error: failure('service.unavailable', 'retry', { status: 503 }) }
          : undefined,
    });
    expect(run().end).toEqual({ kind: 'complete' });
    expect(statuses()).toEqual({ done: 60 });
  });

  it('a task whose deadline passes during an outage is polled before it is given up', async () => {
    const { run, statuses, service } = await world(grid(3), {
      onFetch: (_id, _fetches, at) =>
        at < epoch + 1_800_000 ? failure('connection.dns', 'unsent') : undefined,
    });
    expect(run().end).toEqual({ kind: 'complete' });
    expect([service.submits.length, statuses()]).toEqual([3, { done: 3 }]);
  });

  it('a Retry-After of an hour pauses only that route, and delays no task', async () => {
    const { run, statuses, service } = await world(grid(3), {
      onFetch: (_id, _fetches, at) =>
        at < epoch + 3_600_000
          ? failure('service.throttled', 'throttle', { status: 429, retryAfterMs: 3_600_000 })
          : undefined,
    });
    const settings = virtualSettings({ limits: { tasks: 3, requests: 4 } });
    expect(
      run({ settings: { ...settings, retry: { ...settings.retry, patienceMs: 7_200_000 } } }).end,
    ).toEqual({
      kind: 'complete',
    });
    expect([service.submits.every(({ at }) => at < epoch + 5000), statuses()]).toEqual([true, { done: 3 }]);
  });

  it('a task past its deadline is polled by every later run before anything else', async () => {
    const { run, service, statuses } = await world(grid(1), { duration: () => 3_600_000 });
    run();
    expect(statuses()).toEqual({ failed: 1 });
    run({ settings: virtualSettings({ retryFailed: {} }), startAt: epoch + 7_200_000 });
    expect([service.submits.length, statuses()]).toEqual([1, { done: 1 }]);
  });

  it('--retry-failed submits a job again after its last poll showed no end', async () => {
    let duration = Number.MAX_SAFE_INTEGER;
    const { run, service, statuses } = await world(grid(1), { duration: () => duration });
    run();
    duration = 1000;
    run();
    expect(statuses()).toEqual({ failed: 1 });
    run({ settings: virtualSettings({ retryFailed: {} }) });
    expect([service.submits.length, statuses()]).toEqual([2, { done: 1 }]);
  });

  it('--retry-failed repeats a failed download without another payment', async () => {
    let broken = true;
    const { run, service, statuses } = await world(grid(1), {
      onSave: () =>
        broken
          ? { ok: false, error: { code: 'download.connection', class: 'retry', message: 'm' } }
          : undefined,
    });
    run();
    expect(statuses()).toEqual({ failed: 1 });
    broken = false;
    run({ settings: virtualSettings({ retryFailed: {} }) });
    expect([service.submits.length, statuses()]).toEqual([1, { done: 1 }]);
  });

  it('a full disk stops the run, and the next run saves the open files', async () => {
    let full = true;
    const { run, service, statuses } = await world(grid(3), {
      onSave: () =>
        full ? { ok: false, error: { code: 'disk.full', class: 'stop', message: 'no space' } } : undefined,
    });
    expect(run().end).toMatchObject({ kind: 'disk', code: 'disk.full' });
    full = false;
    expect(run().end).toEqual({ kind: 'complete' });
    expect([service.submits.length, statuses()]).toEqual([3, { done: 3 }]);
  });
});

describe('a run that makes no progress', () => {
  it('reports every ten minutes which jobs it waits for, and why', async () => {
    const { run } = await world(grid(2), { duration: () => 1_150_000 });
    const { events, end } = run({ settings: virtualSettings({ poll: { minMs: 1000, maxMs: 15_000 } }) });
    expect(end).toEqual({ kind: 'complete' });
    const waits = events.filter((event) => event.type === 'run:waiting');
    expect(waits).toHaveLength(1);
    expect(waits[0]).toMatchObject({
      reason: expect.stringContaining('2 tasks are not finished'),
      jobs: [expect.any(String), expect.any(String)],
    });
    expect(waits[0]?.sinceMs).toBeGreaterThanOrEqual(600_000);
  });

  it('distinguishes a task that the service does not know from one that is not finished', async () => {
    const { run, service } = await world(grid(2), {
      duration: () => 1_150_000,
      onFetch: (taskId) =>
        taskId === [...service.tasks.keys()][0]
          ? failure('service.task-unknown', 'retry', { status: 404 })
          : undefined,
    });
    const [wait] = run().events.filter((event) => event.type === 'run:waiting');
    expect(wait?.reason).toBe(
      `1 task is not finished on the service; it was submitted 10 min ago; the service does not know 1 task (${[...service.tasks.keys()][0]}) yet`,
    );
  });

  it('names the route that is paused', async () => {
    const { run } = await world(grid(1), {
      onSubmit: ({ number }) =>
        number === 1
          ? { error: failure('service.throttled', 'throttle', { status: 429, retryAfterMs: 1_800_000 }) }
          : undefined,
    });
    const waits = run().events.filter((event) => event.type === 'run:waiting');
    expect(waits.length).toBeGreaterThanOrEqual(2);
    expect(waits[0]?.reason).toContain('submit');
  });
});
