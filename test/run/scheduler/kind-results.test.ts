import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Route } from '../../../src/run/events.ts';
import { become, isParked, type Job } from '../../../src/run/machine/job.ts';
import type { RunSettings } from '../../../src/run/ports.ts';
import { admitCells } from '../../../src/run/scheduler/cell-admission.ts';
import { closeKind } from '../../../src/run/scheduler/closed-kinds.ts';
import { drain, leaveJob } from '../../../src/run/scheduler/drain.ts';
import { noteOutcome, noteTask, probeKinds } from '../../../src/run/scheduler/kind-results.ts';
import { placeJob } from '../../../src/run/scheduler/place-job.ts';
import {
  awaitVerdict,
  failAllRefused,
  judgeRefused,
  suspendRefused,
} from '../../../src/run/scheduler/refused-jobs.ts';
import type { KindState, Refused } from '../../../src/run/scheduler/routes/kinds.ts';
import type { RouteSignal } from '../../../src/run/scheduler/routes/outcome.ts';
import type { SchedulerState } from '../../../src/run/scheduler/state/state.ts';
import { nextWakeAt } from '../../../src/run/scheduler/state/wake.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import { captions, eventsOf, jobOf, schedulerRig } from './scheduler-rig.ts';

const refusal = { code: 'service.rejected' as const, message: 'no' };
const closing = { code: 'route.refused' as const, message: 'The service refused all.' };
const parked = { kind: 'wait', until: Number.POSITIVE_INFINITY, next: { kind: 'task-slot' } } as const;

function nextCommit({ outbox }: SchedulerState) {
  const commit = outbox.take();
  outbox.onDurable();
  return commit;
}

/** Adds a job, and says nothing of it. */
function add(state: SchedulerState, record: Partial<JobRecord>, changes: Partial<Job> = {}): Job {
  const one = job(imagineRecord(record), changes);
  placeJob(state, undefined, one);
  nextCommit(state);
  return one;
}

/** A job that was refused, and waits for a verdict on its kind. */
function addRefused(state: SchedulerState, key: string, changes: Partial<JobRecord> = {}): void {
  const kind = state.kinds.find('submit', 'imagine');
  const { record } = add(state, { key, putBack: true, ...changes }, { nextRequest: parked });
  const failed = job(become(record, 'failed', { error: refusal }), { nextRequest: { kind: 'nothing' } });
  awaitVerdict(state, kind, key, { failed, wasPutBack: false });
}

/** A kind that was served once in this run. */
const serve = (kind: KindState): void => {
  kind.tally = { served: 1, firsts: 1, firstsServed: 1 };
};

const others = { invocation: 2, leaseOf: () => undefined, read: () => Promise.resolve([]) };

describe('a key that worked before and is refused', () => {
  const end = { kind: 'stopped', code: 'service.unauthorized', message: '401' } as const;

  it.each([
    [0, false],
    [29_999, false],
    [30_000, true],
  ])('ends the run where it still is after 30 s, and not before: %i ms', async (ms, isEnding) => {
    const { state } = await schedulerRig(grid(1));
    const kind = state.kinds.find('submit', 'imagine');
    const note = (reading: Parameters<typeof noteOutcome>[1]['reading'], at: number) => {
      state.now = at;
      noteOutcome(state, { route: 'submit', reading, isFirst: false, kind, key: 'k' });
    };
    note({ signal: { kind: 'served' } }, epoch);
    note({ end, about: 'key' }, epoch + 7);
    note({ end, about: 'key' }, epoch + 7 + ms);
    expect(state.lifecycle.isHalted).toBe(isEnding);
    const { restsUntil } = state.routes.queues.submit.lane();
    expect(restsUntil).toBe(epoch + 7 + (ms < 10_000 || isEnding ? 10_000 : 30_000));
  });

  it.each<[string, (state: SchedulerState) => void, readonly Route[], boolean]>([
    ['never worked', () => undefined, [], true],
    ['was used for nothing but downloads', ({ kinds }) => serve(kinds.downloads), [], true],
    ['worked on another route', ({ kinds }) => serve(kinds.polls), [], false],
    ['worked for others', () => undefined, ['text'], false],
    ['downloaded for others', () => undefined, ['download'], true],
  ])('ends the run at once where it %s', async (_, before, served, isEnding) => {
    const { state } = await schedulerRig(grid(1), {}, undefined, {
      learned: {},
      shared: { served: new Set(served) },
    });
    before(state);
    const kind = state.kinds.find('submit', 'imagine');
    noteOutcome(state, { route: 'submit', reading: { end, about: 'key' }, isFirst: false, kind, key: 'k' });
    expect(state.lifecycle.isHalted).toBe(isEnding);
  });
});

describe('tasks of one kind that fail', () => {
  const task = (id: string, failReason?: string) =>
    ({
      id,
      state: failReason === undefined ? 'success' : 'failure',
      status: 'X',
      buttons: [],
      ...(failReason !== undefined && { failReason }),
    }) as const;

  it.each([
    ['for one reason', 'bad words', 20],
    ['for their account', 'credits exhausted', 3],
  ])('close it %s only where none succeeds between them', async (_, reason, most) => {
    const { state } = await schedulerRig(grid(1));
    const kind = state.kinds.find('submit', 'imagine');
    let id = 0;
    const fail = (times: number) => {
      for (let n = 0; n < times; n += 1) noteTask(state, kind, task(`T${id++}`, reason));
      return kind.closed?.code;
    };
    expect(fail(most - 1)).toBeUndefined();
    noteTask(state, kind, task('good'));
    expect([fail(most - 1), fail(1)]).toEqual([undefined, 'tasks.failing']);
  });

  it('for overload delay the next submissions, and any other reason delays none', async () => {
    const { state } = await schedulerRig(grid(1));
    const kind = state.kinds.find('submit', 'imagine');
    noteTask(state, kind, task('T1', 'bad words'));
    expect(state.routes.queues.submit.lane().restsUntil).toBeLessThan(epoch);
    noteTask(state, kind, task('T2', 'HTTP 503'));
    const { restsUntil } = state.routes.queues.submit.lane();
    expect(restsUntil).toBeGreaterThanOrEqual(epoch + 1000);
    expect(eventsOf(nextCommit(state), 'route:pause')).toEqual([
      { type: 'route:pause', route: 'submit', untilMs: restsUntil, reason: 'HTTP 503' },
    ]);
  });
});

describe('a kind for which the service has no channel', () => {
  const text = (second: string) => `name: t
steps:
  first: { chat: { prompt: One., model: m } }
  ${second}
`;

  /** Why the kind is closed after two such answers for a job of the only cell, a minute apart. */
  async function closed(of: string, before: (state: SchedulerState) => void = () => undefined) {
    const { state, keyOf } = await schedulerRig(of);
    admitCells(state);
    before(state);
    const key = keyOf(1, '', 'first');
    const note = (name: string, signal: RouteSignal, at: number) => {
      state.now = at;
      const kind = state.kinds.find('text', name);
      noteOutcome(state, { route: 'text', reading: { signal }, isFirst: false, kind, key });
    };
    const none = { kind: 'throttled', about: 'no-channel', reason: 'none' } as const;
    note('good', { kind: 'served' }, epoch);
    note('m (chat)', none, epoch);
    note('m (chat)', none, epoch + 60_000);
    return state.kinds.find('text', 'm (chat)').closed?.code;
  }

  it.each<[string, string, string | undefined]>([
    ['no other job of it waits', '', 'service.no-channel'],
    [
      'only a job below the refused one is left',
      'second: { chat: { prompt: "{{ steps.first.text }}", model: m } }',
      'service.no-channel',
    ],
    ['another job waits, which was not asked', 'second: { chat: { prompt: Two., model: m } }', undefined],
    ['only jobs of other kinds wait', 'second: { chat: { prompt: Two., model: n } }', 'service.no-channel'],
  ])('is closed after a minute where %s: %s', async (_, second, code) => {
    expect(await closed(text(second))).toBe(code);
  });

  it.each([
    ['m', undefined],
    ['n', 'service.no-channel'],
  ])(
    'stays open while a job of it is to follow from others in flight: of the model %s',
    async (model, code) => {
      const cells = `name: t
matrix: { n: [1, 2] }
steps:
  first: { chat: { prompt: "One.", model: "{% if n == 1 %}m{% else %}k{% endif %}" } }
  second: { chat: { prompt: "{{ steps.first.text }}", model: "{% if n == 1 %}m{% else %}${model}{% endif %}" } }
`;
      expect(await closed(cells)).toBe(code);
    },
  );

  it('is closed though a job of it is under way', async () => {
    const request = { kind: 'chat', fields: { model: 'm', prompt: 'Two.' } } as const;
    const sent = { key: 'k', kind: 'chat', status: 'submitting', request } as const;
    const code = await closed(
      text(''),
      (state) => void add(state, sent, { nextRequest: { kind: 'answer' } }),
    );
    expect(code).toBe('service.no-channel');
  });
});

describe('a kind that closes', () => {
  it('leaves its jobs that wait or rest to a later run at once, and those with a task go on', async () => {
    const { state } = await schedulerRig(grid(1));
    const kind = state.kinds.find('submit', 'imagine');
    const rest = { kind: 'wait', until: epoch + 5000, next: { kind: 'task-slot' } } as const;
    add(state, { key: 'waits' });
    add(state, { key: 'rests' }, { nextRequest: rest });
    addRefused(state, 'refused');
    kind.parked.add('parked');
    add(state, { key: 'parked' }, { nextRequest: parked });
    add(state, { key: 'sent', status: 'submitting' }, { nextRequest: { kind: 'answer' } });
    add(state, { key: 'runs', status: 'running', taskId: 'T1' }, { nextRequest: rest });
    add(state, { key: 'saves', status: 'saving', taskId: 'T2' }, { nextRequest: parked });
    add(state, { key: 'other', request: { kind: 'blend', fields: {} } });
    closeKind(state, kind, closing);
    expect([...state.jobs.all()].map(({ record }) => record.key)).toEqual(['sent', 'runs', 'saves', 'other']);
    expect([...kind.left]).toEqual(['waits', 'rests', 'refused', 'parked']);
    expect([kind.refused.size, kind.parked.size]).toEqual([0, 0]);
    expect(eventsOf(nextCommit(state), 'run:notice').map(({ code, message }) => [code, message])).toEqual([
      [
        'route.refused',
        'The service refused all. No more imagine are requested in this run; everything else continues.',
      ],
    ]);
  });

  it('leaves its refused and parked clicks, whose button nobody knows any more', async () => {
    const { state } = await schedulerRig(grid(1));
    const kind = state.kinds.find('submit', 'upscale');
    for (const key of ['refused', 'parked', 'unknown'])
      placeJob(state, undefined, job(clickRecord({ key }), { nextRequest: parked }));
    awaitVerdict(state, kind, 'refused', { failed: jobOf(state, 'refused'), wasPutBack: false });
    kind.parked.add('parked');
    closeKind(state, kind, closing);
    expect([[...kind.left], [...state.jobs.all()].map(({ record }) => record.key)]).toEqual([
      ['refused', 'parked'],
      ['unknown'],
    ]);
  });

  it('halts the run where nothing can be polled or downloaded any more', async () => {
    for (const name of ['polls', 'downloads'] as const) {
      const { state } = await schedulerRig(grid(1));
      closeKind(state, state.kinds[name], closing);
      expect(state.lifecycle.isHalted).toBe(true);
    }
  });
});

describe('refused jobs that wait for a verdict', () => {
  it('are 32 at most: one more fails the first', async () => {
    const { state } = await schedulerRig(grid(1));
    for (let n = 0; n < 32; n += 1) addRefused(state, `k${n}`);
    expect(nextCommit(state).records).toEqual([]);
    addRefused(state, 'k32');
    expect([nextCommit(state).records, state.jobs.size]).toMatchObject([
      [{ key: 'k0', status: 'failed' }],
      32,
    ]);
  });

  it.each<[string, RouteSignal, number]>([
    ['is served', { kind: 'served' }, 0],
    ['refuses another one', { kind: 'refused', words: 'no' }, 1],
    ['is throttled', { kind: 'throttled', reason: '429' }, 1],
  ])('fail once their kind %s, and not before', async (_, signal, left) => {
    const { state } = await schedulerRig(grid(1));
    addRefused(state, 'k');
    const kind = state.kinds.find('submit', 'imagine');
    noteOutcome(state, { route: 'submit', reading: { signal }, isFirst: false, kind, key: 'x' });
    expect([kind.refused.size, state.lookup('k')?.status]).toEqual([left, left === 0 ? 'failed' : 'pending']);
  });

  /** Holds a refused job. @returns the job, as far as it is active still */
  async function held(
    record: JobRecord,
    failed: Job | undefined,
    before: (state: SchedulerState, kind: KindState) => void = () => undefined,
  ) {
    const { state } = await schedulerRig(grid(1));
    const sent = job(record, { nextRequest: { kind: 'answer' } });
    placeJob(state, undefined, sent);
    const kind = state.kinds.find('submit', 'imagine');
    before(state, kind);
    suspendRefused(state, kind, sent, sent, failed);
    return { state, kind, one: state.jobs.get(record.key) };
  }
  const sent = {
    key: 'k',
    status: 'submitting',
    attempts: 1,
    tries: 3,
    submittedAt: epoch,
    invocation: 2,
  } as const;
  const failed = job(imagineRecord({ ...sent, status: 'failed', error: refusal }), {
    nextRequest: { kind: 'nothing' },
  });

  it('are pending as if they had not been sent, and go behind others in the next run', async () => {
    for (const record of [imagineRecord(sent), textRecord(sent)]) {
      const { state, kind, one } = await held(record, failed);
      const [durable] = nextCommit(state).records;
      expect(durable).toMatchObject({ key: 'k', status: 'pending', putBack: true, tries: 0, attempts: 1 });
      expect([durable?.submittedAt, durable?.invocation, durable?.finishedAt]).toEqual(
        Array(3).fill(undefined),
      );
      const next = record.kind === 'generate' ? 'ask' : 'task-slot';
      expect(one?.nextRequest).toEqual({
        kind: 'wait',
        until: Number.POSITIVE_INFINITY,
        next: { kind: next },
      });
      expect(kind.refused.get('k')).toEqual({ failed, wasPutBack: false });
    }
  });

  it.each<
    [
      string,
      Partial<JobRecord>,
      Job | undefined,
      ((state: SchedulerState, kind: KindState) => void) | undefined,
      boolean,
    ]
  >([
    ['are held', {}, failed, undefined, true],
    ['are held, though an earlier run had put them back', { putBack: true }, failed, undefined, true],
    ['are held for one more try', {}, undefined, undefined, true],
    ['are left after one more try', { putBack: true }, undefined, undefined, false],
    [
      'are left where their kind is closed',
      {},
      failed,
      (_, kind) => {
        kind.closed = closing;
      },
      false,
    ],
  ])('%s', async (_, changes, as, before, isHeld) => {
    const { kind, one } = await held(imagineRecord({ ...sent, ...changes }), as, before);
    expect([one !== undefined, kind.refused.has('k'), kind.left.has('k')]).toEqual([isHeld, isHeld, !isHeld]);
  });

  it('are left with the run that ends, and counted for no kind', async () => {
    const { state, kind, one } = await held(imagineRecord(sent), failed, (ending) =>
      drain(ending, { kind: 'interrupted', forced: false }),
    );
    expect([one, kind.refused.size, kind.left.size, state.cells.isWhole]).toEqual([undefined, 0, 0, false]);
  });

  it.each<[string, Partial<Refused>, boolean, readonly unknown[]]>([
    ['fail where no other answer can be expected', { failed }, false, ['failed', 'failed', 0]],
    [
      'are left where an earlier run had put them back too',
      { failed, wasPutBack: true },
      false,
      ['pending', undefined, 1],
    ],
    [
      'fail where the kind is served, though put back',
      { failed, wasPutBack: true },
      true,
      ['failed', 'failed', 0],
    ],
    ['are tried once more', {}, false, ['pending', undefined, 0]],
  ])('%s once nothing else is left to do', async (_, refused, isServed, [status, written, left]) => {
    const { state } = await schedulerRig(grid(1));
    state.cells.incoming = [];
    const kind = state.kinds.find('submit', 'imagine');
    if (isServed) serve(kind);
    add(state, { key: 'k', putBack: true }, { nextRequest: parked });
    awaitVerdict(state, kind, 'k', { wasPutBack: false, ...refused });
    expect([judgeRefused(state), judgeRefused(state)]).toEqual([true, false]);
    const now = state.jobs.get('k');
    expect([
      state.lookup('k')?.status ?? 'pending',
      nextCommit(state).records[0]?.status,
      kind.left.size,
    ]).toEqual([status, written, left]);
    expect(now?.nextRequest.kind).toBe('failed' in refused ? undefined : 'task-slot');
  });

  it('fail as if no earlier run had put them back', async () => {
    const { state } = await schedulerRig(grid(1));
    addRefused(state, 'k');
    failAllRefused(state, state.kinds.find('submit', 'imagine'));
    const [record, ...more] = nextCommit(state).records;
    expect([record?.status, record?.error, record?.putBack, more]).toEqual([
      'failed',
      refusal,
      undefined,
      [],
    ]);
  });

  it('are judged by a worker without cells after two quiet seconds, for which it wakes', async () => {
    const { state } = await schedulerRig(captions(1), {}, undefined, { others });
    Object.assign(state.cells, { incoming: [], areAllGiven: false });
    addRefused(state, 'k');
    expect([judgeRefused(state), nextWakeAt(state)]).toEqual([false, epoch + 2000]);
    state.now = epoch + 1999;
    expect([judgeRefused(state), nextWakeAt(state)]).toEqual([false, epoch + 2000]);
    state.now = epoch + 2000;
    expect([judgeRefused(state), state.jobs.size]).toEqual([true, 0]);
    const { leftFor, left } = state.kinds.find('submit', 'imagine');
    expect([leftFor?.code, [...left]]).toEqual(['route.refused', ['k']]);
    expect(nextCommit(state).records).toEqual([]);
  });

  it.each<[string, (state: SchedulerState) => void]>([
    ['it has cells to open', ({ cells }) => void cells],
    [
      'a request is in flight',
      (state) => {
        state.cells.incoming = [];
        state.routes.onSent('poll', state.now, 'x');
      },
    ],
    [
      'another job goes on',
      (state) => {
        state.cells.incoming = [];
        add(state, { key: 'other', status: 'running', taskId: 'T1' });
      },
    ],
  ])('are not judged by a worker while %s', async (_, change) => {
    const { state } = await schedulerRig(captions(1), {}, undefined, { others });
    state.cells.areAllGiven = false;
    addRefused(state, 'k');
    change(state);
    for (const ms of [0, 5000, 60_000]) {
      state.now = epoch + ms;
      expect(judgeRefused(state)).toBe(false);
    }
    expect(jobOf(state, 'k').record.status).toBe('pending');
  });

  it('wait for no verdict once they are left', async () => {
    const { state } = await schedulerRig(grid(1));
    const kind = state.kinds.find('submit', 'imagine');
    addRefused(state, 'k');
    kind.parked.add('k');
    leaveJob(state, jobOf(state, 'k'));
    expect([kind.refused.size, kind.parked.size, state.jobs.size, state.cells.isWhole]).toEqual([
      0,
      0,
      0,
      false,
    ]);
  });
});

describe('a paused kind', () => {
  it('keeps its jobs that wait for their turn, but for the one that tests it, and lets them go on once it is served', async () => {
    const { state } = await schedulerRig(grid(1));
    const kind = state.kinds.find('submit', 'imagine');
    kind.restsUntil = epoch + 60_000;
    kind.probe = 'probe';
    add(state, { key: 'sent', status: 'submitting' }, { nextRequest: { kind: 'answer' } });
    add(state, { key: 'other', request: { kind: 'blend', fields: {} } });
    for (const key of ['a', 'probe', 'b']) state.jobs.put(job(imagineRecord({ key })));
    const note = (signal: RouteSignal) =>
      noteOutcome(state, { route: 'submit', reading: { signal }, isFirst: false, kind, key: 'x' });
    note({ kind: 'full' });
    expect([...kind.parked]).toEqual(['a', 'b']);
    expect(['a', 'probe', 'b', 'sent', 'other'].map((key) => isParked(jobOf(state, key)))).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
    note({ kind: 'served' });
    expect([kind.parked.size, kind.restsUntil]).toEqual([0, undefined]);
    expect(['a', 'b'].map((key) => jobOf(state, key).nextRequest.kind)).toEqual(['task-slot', 'task-slot']);
  });

  it('is tested at the end of its pause and not before, by one job, which may be gone', async () => {
    const { state } = await schedulerRig(grid(1));
    const kind = state.kinds.find('submit', 'imagine');
    kind.restsUntil = epoch + 1000;
    for (const key of ['gone', 'a', 'b']) kind.parked.add(key);
    for (const key of ['a', 'b']) add(state, { key }, { nextRequest: parked });
    const probes = (at: number) => {
      state.now = at;
      probeKinds(state);
      return [kind.probe, ...kind.parked];
    };
    expect([epoch + 999, epoch + 1000, epoch + 1000, epoch + 1000].map(probes)).toEqual([
      [undefined, 'gone', 'a', 'b'],
      ['gone', 'a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ]);
    kind.restsUntil = undefined;
    kind.probe = undefined;
    expect(probes(epoch + 2000)).toEqual([undefined, 'b']);
  });

  const settings: Partial<RunSettings> = { limits: { tasks: 9, requests: 9 } };

  /** A kind whose pause is over, with two jobs that wait for it, of which the first one tests it as changed. */
  async function probed(record: Partial<JobRecord>, changes: Partial<Job>) {
    const { state } = await schedulerRig(grid(1), settings);
    const kind = state.kinds.find('submit', 'imagine');
    kind.restsUntil = epoch;
    kind.probe = 'a';
    add(state, { key: 'b' }, { nextRequest: parked });
    kind.parked.add('b');
    state.jobs.put(
      job(imagineRecord({ key: 'a', ...record }), { nextRequest: { kind: 'answer' }, ...changes }),
    );
    const wakesAt = nextWakeAt(state);
    probeKinds(state);
    return [wakesAt === epoch, kind.probe, jobOf(state, 'b').nextRequest.kind];
  }
  const tally = { served: 0, firsts: 0, firstsServed: 0 };
  const once = { times: 1, own: 0, since: epoch, before: tally, served: 0 };

  it.each<[string, Partial<JobRecord>, Partial<Job>]>([
    ['waits for its turn', {}, { nextRequest: { kind: 'task-slot' } }],
    ['is sent', { status: 'submitting' }, {}],
    ['was deferred by the route itself', {}, { deferrals: { submit: once } }],
  ])('is tested by one job at a time: it %s', async (_, record, changes) => {
    expect(await probed(record, changes)).toEqual([false, 'a', 'wait']);
  });

  it.each<[string, Partial<JobRecord>, Partial<Job>]>([
    ['cannot read its button', {}, { deferrals: { poll: once } }],
    ['has its task', { status: 'running', taskId: 'T1' }, {}],
    ['waits for a verdict', {}, { nextRequest: parked }],
  ])('is tested by the next job where the first one %s', async (_, record, changes) => {
    expect(await probed(record, changes)).toEqual([true, 'b', 'task-slot']);
  });
});
