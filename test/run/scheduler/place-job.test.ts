import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { become, type Job, type NextRequest } from '../../../src/run/machine/job.ts';
import type { RunSettings } from '../../../src/run/ports.ts';
import { admitCells } from '../../../src/run/scheduler/cell-admission.ts';
import { dispatch } from '../../../src/run/scheduler/dispatch.ts';
import { drain } from '../../../src/run/scheduler/drain.ts';
import { advance } from '../../../src/run/scheduler/job-runner.ts';
import { adoptJob, placeJob, returnToCells, takeUp } from '../../../src/run/scheduler/place-job.ts';
import type { SchedulerState } from '../../../src/run/scheduler/state/state.ts';
import { gridButtons } from '../../rig/fake-task.ts';
import { clickRecord, epoch, imagineRecord, job } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import { eventsOf, jobOf, paidKeys, schedulerRig } from './scheduler-rig.ts';

const interrupted = { kind: 'interrupted', forced: false } as const;
const why = { code: 'service.unavailable' as const, message: 'later' };
const rest = (next: NextRequest['kind'] & ('task-slot' | 'submit'), ms = 5000): NextRequest => ({
  kind: 'wait',
  until: epoch + ms,
  next: { kind: next },
});
const answer: NextRequest = { kind: 'answer' };
const done = (key: string, changes: Partial<JobRecord> = {}): JobRecord =>
  imagineRecord({ key, status: 'done', taskId: 'P1', result: { buttons: gridButtons(1) }, ...changes });

/** What was decided since the last call. */
function nextCommit({ outbox }: SchedulerState) {
  const commit = outbox.take();
  outbox.onDurable();
  return commit;
}

/** A run whose only cell was opened, and its job, which waits for a task slot. */
async function opened(settings: Partial<RunSettings> = {}, path = '') {
  const rig = await schedulerRig(grid(1, path), settings);
  admitCells(rig.state);
  const events = nextCommit(rig.state);
  const key = rig.keyOf(1);
  return { ...rig, key, events, job: jobOf(rig.state, key) };
}

describe('a job that is placed', () => {
  it('needs no record where it is only added: plan and state show the same job again', async () => {
    const { events, key } = await opened();
    expect(events.records).toEqual([]);
    expect(eventsOf(events, 'job:status')).toMatchObject([{ key, from: undefined, to: 'pending' }]);
  });

  it('is recorded, and its new status reported, only where these change', async () => {
    const { state, job: first } = await opened();
    const requesting: Job = { ...first, nextRequest: { kind: 'submit' } };
    placeJob(state, first, requesting);
    expect(nextCommit(state)).toMatchObject({ records: [], events: [] });
    const counted: Job = { ...requesting, record: { ...requesting.record, tries: 1 } };
    placeJob(state, requesting, counted);
    expect(nextCommit(state)).toMatchObject({ records: [{ tries: 1 }], events: [] });
  });

  it('has one place in a queue for each request, and keeps it while its record changes', async () => {
    const { state, job: first } = await opened();
    const { queue } = state.routes.queues.submit.lane();
    const requesting: Job = { ...first, nextRequest: { kind: 'submit' } };
    placeJob(state, first, requesting);
    placeJob(state, requesting, { ...requesting, record: { ...requesting.record, keep: false } });
    expect([queue.size, queue.front()?.record.keep]).toEqual([1, false]);
  });

  it('ends the quiet time of the run only where its status changes', async () => {
    const { state, job: first } = await opened();
    const quietUntil = state.stall.nextAt;
    state.now = epoch + 1000;
    const requesting: Job = { ...first, nextRequest: { kind: 'submit' } };
    placeJob(state, first, requesting);
    expect(state.stall.nextAt).toBe(quietUntil);
    const record = become(first.record, 'submitting', { attempts: 1, submittedAt: state.now });
    placeJob(state, requesting, { ...requesting, record, nextRequest: answer });
    expect(state.stall.nextAt).toBe(quietUntil + 1000);
  });

  it('is counted by the budget once: where it is submitted, not where it is added', async () => {
    const { state, job: first } = await opened();
    expect(state.budget.submits).toBe(0);
    const record = become(first.record, 'submitting', { attempts: 1 });
    placeJob(state, first, { ...first, record, nextRequest: answer });
    expect(state.budget.submits).toBe(1);
    placeJob(state, undefined, job(imagineRecord({ key: 'other', attempts: 7 })));
    expect(state.budget.submits).toBe(1);
  });

  it.each<[string, Partial<JobRecord>, NextRequest, readonly object[]]>([
    ['rests after a failed try', { error: why }, rest('submit'), [{ inMs: 4000, error: why }]],
    ['rests, and nothing failed', {}, rest('submit'), []],
    ['is polled later', { status: 'running', taskId: 'T', error: why }, rest('submit'), []],
    ['waits for its turn', { error: why }, { kind: 'submit' }, []],
    ['waits for a verdict on its kind', { error: why }, rest('submit', Number.POSITIVE_INFINITY), []],
  ])('is reported as retried, with the time, only where it %s', async (_, changes, nextRequest, retries) => {
    const { state, job: first, key } = await opened();
    state.now = epoch + 1000;
    placeJob(state, first, { ...first, record: { ...first.record, ...changes }, nextRequest });
    expect(eventsOf(nextCommit(state), 'job:retry')).toEqual(
      retries.map((retry) => ({ type: 'job:retry', key, ...retry })),
    );
  });
});

describe('a job of a kind that rests or is closed', () => {
  it.each([
    ['waits where nothing tests the kind', undefined, true],
    ['waits beside the job that tests the kind', 'another', true],
    ['has its turn where it tests the kind', 'itself', false],
  ])('%s', async (_, probe, isParked) => {
    const { state, keyOf } = await schedulerRig(grid(1));
    const kind = state.kinds.find('submit', 'imagine');
    kind.restsUntil = epoch + 60_000;
    kind.probe = probe === 'itself' ? keyOf(1) : probe;
    admitCells(state);
    expect([kind.parked.has(keyOf(1)), state.jobs.takeForSlot()?.record.key]).toEqual(
      isParked ? [true, undefined] : [false, keyOf(1)],
    );
  });

  it('is left and counted once the kind is closed, and begins no more in this run', async () => {
    const { state, job: first, key } = await opened();
    const record = become(first.record, 'submitting', { attempts: 1 });
    const sent: Job = { ...first, record, nextRequest: answer };
    placeJob(state, first, sent);
    const kind = state.kinds.find('submit', 'imagine');
    kind.closed = { code: 'route.refused', message: 'no' };
    placeJob(state, sent, {
      ...sent,
      record: become(record, 'pending', { error: why }),
      nextRequest: rest('submit'),
    });
    expect(state.jobs.get(key)).toBeDefined();
    const waiting = jobOf(state, key);
    placeJob(state, waiting, { ...waiting, nextRequest: { kind: 'task-slot' } });
    expect([[...kind.left], state.jobs.size, state.cells.isWhole]).toEqual([[key], 0, false]);
  });
});

describe('the task of a job', () => {
  it.each<[string, Partial<JobRecord>, Partial<Job>, readonly string[]]>([
    ['is worked on', { status: 'running', taskId: 'T1' }, {}, []],
    ['is finished', { status: 'saving', taskId: 'T1' }, {}, ['k']],
    ['failed', { status: 'pending' }, {}, ['k']],
    ['waits for its confirm', { status: 'modal', taskId: 'T1' }, {}, ['k']],
    ['is lost', { status: 'running', taskId: 'T1' }, { lost: 'held' }, ['k']],
  ])(
    'ends for the pace of submissions only where it no longer is worked on: it %s',
    async (_, changes, more, told) => {
      const { state } = await schedulerRig(grid(1));
      const { pace } = state.routes.queues.submit.lane();
      const ended: string[] = [];
      pace.ended = (key) => void ended.push(key);
      const running = job(imagineRecord({ key: 'k', status: 'running', taskId: 'T1' }), {
        nextRequest: answer,
      });
      placeJob(state, undefined, running);
      const record = { ...running.record, ...changes };
      placeJob(state, running, { ...running, record, ...more });
      expect(ended).toEqual(told);
    },
  );
});

describe('a job of a run that ends', () => {
  it('is left with its cell where no task of it is in flight, and is not reported as retried', async () => {
    const { state, job: first } = await opened();
    const sent: Job = {
      ...first,
      record: become(first.record, 'submitting', { attempts: 1 }),
      nextRequest: answer,
    };
    placeJob(state, first, sent);
    drain(state, interrupted);
    nextCommit(state);
    const record = become(sent.record, 'pending', { attempts: 0, error: why });
    placeJob(state, sent, { ...sent, record, nextRequest: rest('task-slot') });
    const commit = nextCommit(state);
    expect(commit.records).toMatchObject([{ status: 'pending', attempts: 0 }]);
    expect(eventsOf(commit, 'job:retry', 'cell:left', 'cell:close')).toEqual([
      { type: 'cell:left', cell: 1 },
    ]);
    expect([state.jobs.size, state.cells.open.size, state.cells.isWhole]).toEqual([0, 0, false]);
  });

  it('is waited for while its request or its task is in flight', async () => {
    const { state, job: first, key } = await opened();
    const sent: Job = {
      ...first,
      record: become(first.record, 'submitting', { attempts: 1 }),
      nextRequest: answer,
    };
    placeJob(state, first, sent);
    drain(state, interrupted);
    expect(state.jobs.get(key)).toBe(sent);
    const running: Job = {
      ...sent,
      record: become(sent.record, 'running', { taskId: 'T' }),
      nextRequest: { kind: 'fetch', taskId: 'T', why: 'poll' },
    };
    placeJob(state, sent, running);
    expect([state.jobs.get(key), state.cells.open.size]).toEqual([running, 1]);
  });
});

const failing = {
  type: 'fetched',
  why: 'poll',
  result: {
    ok: true,
    value: { id: 'T1', state: 'failure', status: 'FAILURE', failReason: 'timed out', buttons: [] },
  },
} as const;

describe('a job that no cell needs', () => {
  const left = (key: string, changes: Partial<JobRecord> = {}): JobRecord =>
    imagineRecord({
      key,
      status: 'running',
      attempts: 1,
      taskId: 'T1',
      submittedAt: epoch - 9,
      ...changes,
    });

  it('is not paid again after its task failed: its record waits for a run that plans it', async () => {
    const { state } = await schedulerRig(grid(1));
    adoptJob(state, left('gone'));
    advance(state, jobOf(state, 'gone'), { type: 'granted' });
    nextCommit(state);
    advance(state, jobOf(state, 'gone'), failing);
    const commit = nextCommit(state);
    expect(commit.records).toMatchObject([{ key: 'gone', status: 'pending', resubmits: 1 }]);
    expect([state.jobs.size, eventsOf(commit, 'job:retry')]).toEqual([0, []]);
  });

  it('is submitted again where an open cell needs it', async () => {
    const { state, keyOf } = await schedulerRig(grid(1), {}, (key) => left(key));
    adoptJob(state, left(keyOf(1)));
    admitCells(state);
    advance(state, jobOf(state, keyOf(1)), { type: 'granted' });
    advance(state, jobOf(state, keyOf(1)), failing);
    expect(jobOf(state, keyOf(1)).nextRequest).toMatchObject({ kind: 'wait', next: { kind: 'task-slot' } });
    expect(eventsOf(nextCommit(state), 'job:retry')).toHaveLength(1);
  });

  it('keeps its open modal unconfirmed, and the modal is durable', async () => {
    const { state } = await schedulerRig(grid(1));
    const fields = { prompt: 'a hat' };
    const request = { kind: 'click', press: [{ kind: 'text', text: 'U1' }], fields } as const;
    adoptJob(state, clickRecord({ ...left('gone'), kind: 'click', request }));
    advance(state, jobOf(state, 'gone'), { type: 'granted' });
    nextCommit(state);
    const value = { id: 'T1', state: 'modal', status: 'MODAL', buttons: [] } as const;
    advance(state, jobOf(state, 'gone'), { type: 'fetched', why: 'poll', result: { ok: true, value } });
    expect(nextCommit(state).records).toMatchObject([
      { key: 'gone', status: 'modal', modal: { taskId: 'T1', sent: 0 } },
    ]);
    expect([state.jobs.size, state.jobs.delayed.nextAt()]).toEqual([0, undefined]);
  });
});

describe('a modal whose confirm gave no task', () => {
  it.each([
    ['is confirmed by no run in which no cell needs its job', { taskId: 'T1', sent: 1 }, false],
    ['is not concerned: it was submitted in this run', undefined, true],
  ])('%s', async (_, modal, isKept) => {
    const { state } = await schedulerRig(grid(1));
    const confirming = job(
      clickRecord({ key: 'k', status: 'submitting', attempts: 1, ...(modal && { modal }) }),
      {
        nextRequest: answer,
      },
    );
    placeJob(state, undefined, confirming);
    const { modal: __, ...record } = confirming.record;
    placeJob(state, confirming, {
      ...confirming,
      record: { ...record, status: 'pending' },
      nextRequest: { kind: 'task-slot' },
    });
    expect(state.jobs.get('k') !== undefined).toBe(isKept);
  });
});

describe('a click that an earlier run left, and whose task failed', () => {
  /** The click was pressed on `pressed`, and its parent has this record. */
  async function failedClick(pressed: string, parent: (key: string) => JobRecord, before = done) {
    const records = new Map<string, JobRecord>();
    const { state, keyOf } = await schedulerRig(grid(1, 'U1'), {}, (key) => records.get(key));
    const key = keyOf(1);
    records.set(key, before(key));
    const click = keyOf(1, 'U1');
    const record = clickRecord({
      key: click,
      parent: key,
      status: 'running',
      attempts: 1,
      taskId: 'T1',
      parentTaskId: pressed,
      submittedAt: epoch - 9,
    });
    records.set(click, record);
    adoptJob(state, record);
    admitCells(state);
    advance(state, jobOf(state, click), { type: 'granted' });
    records.set(key, parent(key));
    nextCommit(state);
    advance(state, jobOf(state, click), failing);
    return { state, click, commit: nextCommit(state) };
  }

  it('is pressed again on the same task', async () => {
    const { state, click, commit } = await failedClick('P1', (key) => done(key));
    expect(jobOf(state, click).nextRequest).toMatchObject({ kind: 'wait', next: { kind: 'task-slot' } });
    expect(eventsOf(commit, 'job:retry')).toMatchObject([{ key: click }]);
  });

  it('is left to its cell where its parent has another task by now, and presses that one', async () => {
    const { state, click, commit } = await failedClick('P1', (key) => done(key, { taskId: 'P2' }));
    expect(eventsOf(commit, 'job:retry')).toEqual([]);
    expect(jobOf(state, click)).toMatchObject({
      parentTaskId: 'P2',
      nextRequest: { kind: 'task-slot' },
      record: { status: 'pending', resubmits: 1 },
    });
  });

  it('is pressed again while the files of its parent are downloaded', async () => {
    const { state, click, commit } = await failedClick('P1', (key) => done(key, { status: 'saving' }));
    expect(jobOf(state, click).nextRequest).toMatchObject({ kind: 'wait', next: { kind: 'task-slot' } });
    expect(eventsOf(commit, 'job:retry')).toMatchObject([{ key: click }]);
  });

  it.each([
    ['since it failed again', done],
    ['since before it was taken up', (key: string) => done(key, { status: 'pending' })],
  ])('is not pressed while its parent is redone, %s', async (_since, before) => {
    const again = (key: string) => done(key, { status: 'running' });
    const { state, click, commit } = await failedClick('P1', again, before);
    expect([eventsOf(commit, 'job:retry'), state.jobs.get(click)]).toEqual([[], undefined]);
    expect(commit.records).toMatchObject([{ key: click, status: 'pending', resubmits: 1 }]);
  });
});

describe('a job past its deadline that is polled once more, and is not finished', () => {
  /** The job of the only cell timed out in an earlier run, and its last poll shows no end. */
  async function polledOnce(settings: Partial<RunSettings>, before?: (state: SchedulerState) => void) {
    const { state, keyOf } = await schedulerRig(grid(1), settings, (key) =>
      imagineRecord({
        key,
        status: 'failed',
        attempts: 1,
        taskId: 'T1',
        submittedAt: epoch - 9_000_000,
        invocation: 1,
        error: { code: 'task.timeout', message: 'm' },
      }),
    );
    const key = keyOf(1);
    admitCells(state);
    dispatch(state);
    dispatch(state);
    const sent = nextCommit(state).effects;
    expect(sent).toMatchObject([{ send: { kind: 'fetch', taskId: 'T1' } }]);
    before?.(state);
    const value = { id: 'T1', state: 'unfinished', status: 'IN_PROGRESS', buttons: [] } as const;
    advance(state, jobOf(state, key), { type: 'fetched', why: 'poll', result: { ok: true, value } });
    return { state, key, commit: nextCommit(state) };
  }

  it('has failed, and its cell is closed', async () => {
    const { state, commit, key } = await polledOnce({});
    expect(commit.records).toMatchObject([{ key, status: 'failed', error: { code: 'task.timeout' } }]);
    expect([state.jobs.size, eventsOf(commit, 'cell:close').length]).toEqual([0, 1]);
  });

  it('does not end the run by --fail-fast: it failed in an earlier one', async () => {
    const { state } = await polledOnce({ failFast: true });
    expect(state.lifecycle.isEnding).toBe(false);
  });

  it('is submitted again with --retry-failed', async () => {
    const { state, key } = await polledOnce({ retryFailed: {} });
    expect(jobOf(state, key)).toMatchObject({
      nextRequest: { kind: 'task-slot' },
      record: { status: 'pending' },
    });
    dispatch(state);
    expect(paidKeys(nextCommit(state))).toEqual([key]);
  });

  it.each<[string, Partial<RunSettings>, ((state: SchedulerState) => void)?]>([
    ['another code was named', { retryFailed: { code: 'task.moderated' } }],
    ['the run ends', { retryFailed: {} }, (state) => drain(state, interrupted)],
  ])('is not submitted again where %s', async (_, settings, before) => {
    const { state, commit } = await polledOnce(settings, before);
    expect([state.jobs.size, state.cells.isWhole]).toEqual([0, true]);
    expect(commit.records).toMatchObject([{ status: 'failed' }]);
    expect(eventsOf(commit, 'cell:close', 'cell:left')).toEqual([{ type: 'cell:close', cell: 1 }]);
  });
});

describe('a submission that was in flight when an earlier run ended', () => {
  it('counts as unanswered for the budget before anything else is paid', async () => {
    const { state } = await schedulerRig(grid(1), { budget: { cost: 1 } }, undefined, { price: () => 0.6 });
    adoptJob(state, imagineRecord({ key: 'k', status: 'submitting', attempts: 1, submittedAt: epoch - 9 }));
    const commit = nextCommit(state);
    expect(commit.records).toMatchObject([
      { key: 'k', status: 'in-doubt', doubtful: { count: 1, cost: 0.6 }, finishedAt: epoch - 1 },
    ]);
    expect(eventsOf(commit, 'job:status')).toMatchObject([{ from: 'submitting', to: 'in-doubt' }]);
    expect(state.budget.refusal(imagineRecord({ key: 'next' }))).toMatchObject({ code: 'budget.cost' });
  });
});

describe('a redo that was not sent yet', () => {
  it('is durable as the finished job that it was, and keeps only its cost', async () => {
    const { state } = await schedulerRig(grid(1));
    const record = imagineRecord({ key: 'k', attempts: 1, former: { taskId: 'T1', resubmits: 0 } });
    const waiting = job(record, { nextRequest: answer });
    placeJob(state, undefined, waiting);
    nextCommit(state);
    placeJob(state, waiting, { ...waiting, record: { ...record, attempts: 2, error: why } });
    const [durable, ...others] = nextCommit(state).records;
    expect(durable).toMatchObject({ key: 'k', status: 'done', taskId: 'T1', attempts: 2 });
    expect([durable?.former, durable?.error, others]).toEqual([undefined, undefined, []]);
    expect(state.lookup('k')?.status).toBe('pending');
  });
});

describe('a redo that is given up', () => {
  const redoing = (changes: Partial<JobRecord> = {}): JobRecord =>
    imagineRecord({ key: 'k', former: { taskId: 'T1', resubmits: 0 }, error: why, ...changes });

  it('is counted, and reported with the reason', async () => {
    const { state } = await schedulerRig(grid(1));
    const given = job(redoing());
    placeJob(state, undefined, given);
    nextCommit(state);
    returnToCells(state, given);
    expect([state.redosFailed, state.jobs.size]).toEqual([1, 0]);
    const [notice, ...more] = eventsOf(nextCommit(state), 'run:notice');
    expect([notice?.code, more]).toEqual(['redo.failed', []]);
    expect(notice?.message).toContain(`(${why.code}): ${why.message}`);
  });

  it.each<[string, JobRecord]>([
    ['was no redo', imagineRecord({ key: 'k', error: why })],
    ['did not fail', imagineRecord({ key: 'k', former: { taskId: 'T1', resubmits: 0 } })],
    ['is not pending', redoing({ status: 'modal' })],
  ])('is no failed redo where the job %s', async (_, record) => {
    const { state } = await schedulerRig(grid(1));
    returnToCells(state, job(record));
    expect([state.redosFailed, eventsOf(nextCommit(state), 'run:notice')]).toEqual([0, []]);
  });

  it.each(['waiting', 'begun'] as const)(
    'has not failed where its order is open (%s): a later run continues it',
    async (order) => {
      const { state } = await schedulerRig(grid(1), {}, undefined, { redo: () => order });
      returnToCells(state, job(redoing()));
      expect([state.redosFailed, eventsOf(nextCommit(state), 'run:notice')]).toEqual([0, []]);
    },
  );

  it('has not failed where the current result is outdated: a later run replaces that anyway', async () => {
    const parent = done('p', { redone: { count: 1, first: {} } });
    const { state } = await schedulerRig(grid(1), {}, (key) => (key === 'p' ? parent : undefined));
    const record = clickRecord({ key: 'k', parent: 'p', former: { taskId: 'T1', resubmits: 0 }, error: why });
    returnToCells(state, job(record));
    expect([state.redosFailed, eventsOf(nextCommit(state), 'run:notice')]).toEqual([0, []]);
  });
});

describe('a job that is taken up for a slice', () => {
  it('has a lease of its own each time, of the slice for which it was decided last: no earlier result is for it', async () => {
    const { state } = await schedulerRig(grid(1));
    const lease = { slice: 1, epoch: 1 };
    const first = takeUp(state, lease, 'k');
    expect([first, first === lease]).toEqual([lease, false]);
    const decided = { slice: 2, epoch: 5 };
    state.outbox.write(imagineRecord({ key: 'k' }), decided);
    const again = takeUp(state, lease, 'k');
    expect([again, again === decided]).toEqual([decided, false]);
  });
});

describe('clicks that are refused', () => {
  it('end the run after twenty, not counting those retried at the user’s request', async () => {
    const { state } = await schedulerRig(grid(1));
    const pressed = { customId: 'c', label: 'U1', emoji: '' };
    const fail = (count: number, changes: Partial<Job> = {}): boolean => {
      for (let number = 0; number < count; number++) {
        const clicked = job(clickRecord({ pressed }), { nextRequest: answer, ...changes });
        placeJob(state, undefined, clicked);
        const record = become(clicked.record, 'failed', { error: { code: 'submit.refused', message: 'no' } });
        placeJob(state, clicked, { ...clicked, record, nextRequest: { kind: 'nothing' } });
      }
      return state.lifecycle.isEnding;
    };
    expect([fail(30, { earlierFailure: 'no' }), fail(30, { lastPoll: true }), fail(19), fail(1)]).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(eventsOf(nextCommit(state), 'run:stopping')).toMatchObject([
      { end: { code: 'click.never-works' } },
    ]);
  });
});
