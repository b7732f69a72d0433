import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../../src/plan/job.ts';
import type { Job } from '../../../../src/run/machine/job.ts';
import type { Lease } from '../../../../src/run/ports.ts';
import { type Effect, withoutOthers } from '../../../../src/run/scheduler/commit.ts';
import { leaveJob } from '../../../../src/run/scheduler/drain.ts';
import { placeJob } from '../../../../src/run/scheduler/place-job.ts';
import { endSlices } from '../../../../src/run/scheduler/slices/end.ts';
import { forgetJob, loseSlice, onRefused } from '../../../../src/run/scheduler/slices/lose.ts';
import { onResultFor, onSent, withIntents } from '../../../../src/run/scheduler/slices/results.ts';
import { onPeerResults } from '../../../../src/run/scheduler/slices/take.ts';
import type { LeasedSlice } from '../../../../src/run/scheduler/state/slices.ts';
import type { SchedulerState } from '../../../../src/run/scheduler/state/state.ts';
import { ScriptedGateway } from '../../../rig/gateway/scripted-gateway.ts';
import { imagineRecord, job, textRecord } from '../../../rig/jobs.ts';
import { grid } from '../../../rig/world.ts';
import { jobRecord } from '../../../state/records.ts';
import { eventsOf, schedulerRig } from '../scheduler-rig.ts';
import { endsOf, onlySubmit, slicesRig, submits } from './slices-rig.ts';

const threeJobs = `name: t
matrix: { turn: { from: 1, to: 3 } }
steps: { grid: { imagine: "picture {{ turn }}" } }
`;

describe('a result for a slice', () => {
  it('is only a fact once the slice is lost', async () => {
    const { worker, cells, key } = await slicesRig();
    const [one, other] = [worker(), worker()];
    const held = one.begin(1, cells[0]);
    const sent = onlySubmit(one.commitAll());
    other.begin(1, cells[0]);
    one.input({ type: 'lost', lease: held });
    one.commitAll();
    one.hears(sent);
    const { commit } = one.take();
    expect(commit).toMatchObject({ records: [], attempts: [], effects: [] });
    expect(commit.lateFacts).toEqual([
      { key, submittedAt: sent.job.record.submittedAt, submittedBy: '1/1', taskId: '7' },
    ]);
    expect(one.scheduler.requests).toBe(0);
  });

  it('is written at once, before anything else is decided for the lost slice', async () => {
    const { worker, cells, state } = await slicesRig(threeJobs);
    const one = worker();
    const held = one.begin(1, ...cells);
    // Nothing else leaves before the service has answered once.
    one.hears(onlySubmit(one.commitAll()));
    const [first, second] = submits(one.commitAll());
    if (first === undefined || second === undefined) throw new Error('Two jobs are submitted.');
    one.input({ type: 'lost', lease: held });
    one.commitAll();
    one.hears(first, { kind: 'accepted', taskId: '8', code: 1 });
    expect([one.scheduler.hasDecided, one.scheduler.ended]).toEqual([true, undefined]);
    one.commitAll();
    const lateFacts = state.claim(1).left.map((left) => [left.record.key, left.lateFact?.taskId]);
    expect(lateFacts).toContainEqual([first.job.record.key, '8']);
    expect(lateFacts).toContainEqual([second.job.record.key, undefined]);
  });

  it('is not a fact where it leaves open whether there is a task', async () => {
    const { worker, cells } = await slicesRig();
    const one = worker();
    const held = one.begin(1, cells[0]);
    const effect = onlySubmit(one.commitAll());
    one.input({ type: 'lost', lease: held });
    one.commitAll();
    const { key } = effect.job.record;
    const error = { class: 'lost', code: 'connection.timeout', message: 'no answer' } as const;
    const input = { type: 'submitted', key, result: { ok: false, error } } as const;
    one.input({ type: 'result', effect, input });
    expect(one.take().commit).not.toHaveProperty('lateFacts');
  });

  it('counts for the lease that sent its request, and for no earlier one of the same job', async () => {
    const { worker, cells, record } = await slicesRig();
    const one = worker();
    const held = one.begin(1, cells[0]);
    const first = onlySubmit(one.commitAll());
    one.input({ type: 'lost', lease: held });
    one.commitAll();
    one.begin(1, cells[0]);
    one.commitAll();
    one.hears(first);
    one.commitAll();
    // The slice that it holds by now looks, and is told what it heard itself.
    expect(record()).toMatchObject({ status: 'in-doubt', sender: '1/1' });
    one.look();
    one.commitAll();
    expect(record()).toMatchObject({ status: 'running', taskId: '7', submittedBy: '1/1' });
  });
});

describe('a commit that others hold in part', () => {
  it('sends its own part and waits for the rest', async () => {
    const { worker, cells, record } = await slicesRig();
    const [one, other] = [worker(), worker()];
    one.begin(1, cells[0]);
    other.begin(2, cells[1]);
    const sent = onlySubmit(one.commitAll());
    expect(submits(other.commitAll())).toEqual([]);
    expect(other.scheduler.awaited).toEqual([record()?.key]);
    expect(other.scheduler.submits).toBe(0);
    one.hears(sent);
    one.finish(new ScriptedGateway());
    expect(other.scheduler.requests).toBe(0);
    expect(record()).toMatchObject({ submittedBy: '1/1', attempts: 1 });
  });

  it.each([
    ['before it was lost', true],
    ['after it was taken anew', false],
  ])(
    'sends nothing for a slice that was lost and taken again meanwhile, if durable %s',
    async (_when, isFirst) => {
      const { worker, cells, state } = await slicesRig();
      const one = worker();
      const held = one.begin(1, cells[0]);
      const taken = one.take();
      expect(submits(taken.commit)).toHaveLength(1);
      const early = isFirst ? state.commit(taken.request) : undefined;
      one.input({ type: 'lost', lease: held });
      expect(one.begin(1, cells[0]).epoch).toBe(2);
      expect(one.answered(taken, early ?? state.commit(taken.request)).effects).toEqual([]);
    },
  );

  it('closes no slice because of an unwritten record', () => {
    const end = { type: 'slice:end', slice: 2, epoch: 1, how: 'closed' } as const;
    const record = jobRecord('a', 'failed');
    const commit = { records: [record], attempts: [], effects: [], events: [end] };
    const nobody = { refused: new Set<string>(), lost: [] };
    expect(endsOf(withoutOthers(commit, nobody))).toEqual(['2/1 closed']);
    expect(endsOf(withoutOthers(commit, { ...nobody, refused: new Set(['a']) }))).toEqual(['2/1 waits']);
    expect(endsOf(withoutOthers(commit, { ...nobody, lost: [{ slice: 1, epoch: 1 }] }))).toEqual([
      '2/1 waits',
    ]);
    expect(endsOf(withoutOthers(commit, { ...nobody, lost: [{ slice: 2, epoch: 1 }] }))).toEqual([]);
  });
});

describe('what a worker knows of the requests of its slices', () => {
  const others = { invocation: 2, leaseOf: () => undefined, read: () => Promise.resolve([]) };
  const [lease, taken] = [
    { slice: 1, epoch: 1 },
    { slice: 1, epoch: 2 },
  ];
  const answer = { kind: 'answer' } as const;
  const nothing = { records: [], attempts: [], effects: [], events: [] } as const;
  const sent = (changes: Partial<JobRecord> = {}): JobRecord =>
    imagineRecord({
      key: 'k',
      status: 'submitting',
      attempts: 1,
      submittedAt: 2,
      submittedBy: '1/1',
      ...changes,
    });
  const submission = (submittedAt: number) => ({ key: 'k', submittedAt, submittedBy: '1/1' });

  /** A worker that holds a slice, with a job of that slice. */
  async function holding(record = sent(), text = grid(1)) {
    const { state, cells } = await schedulerRig(text, {}, undefined, { others });
    state.slices.lease(lease.slice, lease.epoch).isWhole = true;
    const own = job(record, { nextRequest: answer, lease: { ...lease } });
    placeJob(state, undefined, own);
    const effect = (kind: 'submit' | 'modal' | 'ask'): Effect => ({ job: own, send: { kind } });
    return { state, cells, own, effect, kind: state.kinds.find('submit', 'imagine') };
  }

  it('keeps a job that it has taken up for another lease when an earlier decision is refused', async () => {
    for (const [by, isKept] of [
      [lease, false],
      [taken, true],
    ] as const) {
      const { state } = await holding();
      const commit = { ...nothing, leases: new Map([['k', by]]) };
      const refused = { refused: new Set(['k']), lost: [], isWritten: () => false };
      onRefused(state, { type: 'refused', commit, others: refused });
      expect(state.jobs.get('k') !== undefined).toBe(isKept);
    }
  });

  it.each<[string, (state: SchedulerState, own: Job) => void]>([
    ['is forgotten', forgetJob],
    ['is lost with its slice', (state) => loseSlice(state, lease)],
    ['is left to a later run', leaveJob],
  ])('has nothing left of a job that %s', async (how, forget) => {
    const { state, own, kind } = await holding(sent({ status: 'running', taskId: 'T' }));
    const ended: string[] = [];
    state.routes.queues.submit.lane().pace.ended = (key) => void ended.push(key);
    state.slices.sent.set('k', submission(2));
    state.slices.answers.set('k', submission(2));
    kind.parked.add('k');
    kind.refused.set('k', { wasPutBack: false });
    forget(state, own);
    expect([kind.parked.size, kind.refused.size, state.jobs.size]).toEqual([0, 0, 0]);
    if (how === 'is left to a later run') return;
    expect([state.slices.sent.size, state.slices.answers.size, ended]).toEqual([0, 0, ['k']]);
  });

  it('reverts no poll of several tasks with one of their slices', async () => {
    const { state, own } = await holding();
    state.routes.onSent('poll', state.now, 'k');
    loseSlice(state, lease, { ...nothing, effects: [{ job: own, send: { kind: 'list', targets: [] } }] });
    expect(state.routes.inFlight).toBe(1);
  });

  it('says of a lost slice what was answered, and for each submission that it was never sent', async () => {
    const { state } = await holding(sent({ request: textRecord().request }));
    const answered = { ...submission(2), answer: '{}' };
    state.slices.answers.set('k', answered);
    loseSlice(state, lease);
    expect(state.outbox.take().lateFacts).toEqual([answered]);
    const { state: again, own, effect } = await holding();
    again.slices.sent.set('k', submission(1));
    again.outbox.write(own.record, lease);
    again.outbox.send(effect('submit'));
    loseSlice(again, lease);
    expect(again.outbox.take().lateFacts).toEqual([submission(2), submission(1)]);
  });

  it.each<[string, Partial<JobRecord>, Lease, number]>([
    ['is the one that becomes durable', {}, lease, 1],
    ['is of another lease than the decision that becomes durable', {}, taken, 0],
    ['is an earlier one than the decision that becomes durable', { submittedAt: 3 }, lease, 0],
    ['was given up since', { status: 'pending' }, lease, 0],
  ])('sends a submission only where it %s', async (_, changes, by, count) => {
    const { state, effect } = await holding();
    state.routes.onSent('submit', state.now, 'k');
    const commit = {
      ...nothing,
      records: [sent(changes)],
      effects: [effect('submit')],
      leases: new Map([['k', by]]),
    };
    expect([withIntents(state, commit).effects.length, state.routes.inFlight]).toEqual([count, count]);
  });

  it('keeps the answer to a text call until its job is durable', async () => {
    const { state, effect } = await holding(sent({ request: textRecord().request }));
    const result = {
      kind: 'unwritten',
      error: { code: 'disk.full', class: 'stop', message: 'm' },
      text: { candidates: [] },
    } as const;
    expect(
      onResultFor(state, {
        type: 'result',
        effect: effect('ask'),
        input: { type: 'asked', key: 'k', result },
      }),
    ).toBe(true);
    expect(state.slices.answers.get('k')).toMatchObject({
      ...submission(2),
      answer: expect.any(String) as unknown,
    });
    onSent(state, { ...nothing, records: [sent()] });
    expect(state.slices.answers.size).toBe(1);
    onSent(state, { ...nothing, records: [sent({ status: 'done' })] });
    expect(state.slices.answers.size).toBe(0);
  });

  it('knows that a submission was never sent whose images could not be read', async () => {
    const { state, effect } = await holding();
    const sending = effect('submit');
    loseSlice(state, lease);
    state.outbox.take();
    state.outbox.onDurable();
    const error = { code: 'disk.full', class: 'permanent', message: 'm' } as const;
    const input = { type: 'unread', key: 'k', error } as const;
    expect(onResultFor(state, { type: 'result', effect: sending, input })).toBe(false);
    expect(state.outbox.take().lateFacts).toEqual([submission(2)]);
  });

  it.each([
    ['submit', 1],
    ['modal', 0],
    ['ask', 0],
  ] as const)('remembers which submission of a job was sent: %s', async (kind, count) => {
    const { state, effect } = await holding();
    onSent(state, { ...nothing, effects: [effect(kind)] });
    expect([state.slices.sent.size, state.slices.paid.size]).toEqual([count, 1]);
  });

  it('keeps a slice that it has taken again where only the earlier lease has ended', async () => {
    const { state } = await holding();
    const end = { type: 'slice:end', ...taken, how: 'closed' } as const;
    onSent(state, { ...nothing, events: [end] });
    expect(state.slices.of(1)).toBeDefined();
    onSent(state, { ...nothing, events: [{ ...end, ...lease }] });
    expect(state.slices.of(1)).toBeUndefined();
  });

  it('learns nothing from others of a job that it works on itself', async () => {
    for (const isActive of [true, false]) {
      const { state, keyOf } = await schedulerRig(
        grid(1),
        {},
        (key) => sent({ key, status: 'in-doubt', doubtful: { count: 1, since: 2 } }),
        { others },
      );
      const key = keyOf(1);
      state.slices.lease(1, 1);
      const [cell] = state.cells.incoming;
      if (cell === undefined) throw new Error('no cell');
      state.cells.open.waitFor(state.cells.open.open(cell, lease), new Set([key]));
      const record = state.lookup(key);
      if (isActive && record !== undefined) state.jobs.put(job(record, { nextRequest: answer }));
      onPeerResults(state, [{ ...submission(2), key, taskId: '7' }]);
      expect(state.outbox.take().records.map(({ status }) => status)).toEqual(isActive ? [] : ['running']);
    }
  });

  it('closes a slice with the commit that makes its last result durable, and says nothing of doubts if it gives it back', async () => {
    const endOf = (state: SchedulerState) => {
      endSlices(state);
      return eventsOf(state.outbox.take(), 'slice:end').map(({ how, belowDoubt }) => [how, belowDoubt]);
    };
    const decided = async (
      status: 'done' | 'failed',
      change: (leased: LeasedSlice) => void = () => undefined,
    ) => {
      const { state, own } = await holding();
      const leased = state.slices.lease(1, 1);
      leased.belowDoubt = true;
      change(leased);
      state.jobs.drop('k');
      state.outbox.write({ ...own.record, status }, lease);
      return endOf(state);
    };
    expect(await decided('done')).toEqual([['closed', true]]);
    expect(await decided('failed')).toEqual([]);
    expect(
      await decided('done', (leased) => {
        leased.looksAgain = true;
      }),
    ).toEqual([['waits', undefined]]);
  });

  it.each([
    ['all its cells wait for others', true, ['theirs'], 1],
    ['a job of it is in flight', false, ['theirs'], 0],
    ['a cell is to be resolved again', true, [], 0],
  ])(
    'gives a slice back after a while only where nothing of it is in flight: %s',
    async (_, isIdle, keys, count) => {
      const { state, cells } = await holding(sent(), grid(1));
      if (isIdle) state.jobs.drop('k');
      const [cell] = cells;
      if (cell === undefined) throw new Error('no cell');
      state.slices.lease(1, 1).cells = 1;
      state.slices.awaited.add('theirs');
      state.cells.open.waitFor(state.cells.open.open(cell, lease), new Set(keys));
      endSlices(state);
      state.now += 2000;
      endSlices(state);
      expect(eventsOf(state.outbox.take(), 'slice:end')).toHaveLength(count);
    },
  );
});
