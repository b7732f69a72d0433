import { describe, expect, it } from 'vitest';
import type { Attempt, JobRecord } from '../../../../src/plan/job.ts';
import { failure } from '../../../rig/failure.ts';
import { ScriptedGateway } from '../../../rig/gateway/scripted-gateway.ts';
import { asks, endsOf, oneJob, onlyAsk, onlySubmit, slicesRig, submits } from './slices-rig.ts';

const unsent = failure('connection.refused', 'unsent');
const full = { kind: 'queue-full', code: 23, message: 'queue full' } as const;

describe('an unfinished job of a slice', () => {
  it('is in doubt while its sender may live, and is not submitted again', async () => {
    const { worker, cells, record } = await slicesRig();
    const [first, second] = [worker(), worker()];
    const held = first.begin(1, cells[0]);
    onlySubmit(first.commitAll());
    second.begin(1, cells[0]);
    expect(submits(second.commitAll())).toEqual([]);
    expect(record()).toMatchObject({ status: 'in-doubt', sender: '1/1', submittedBy: '1/1' });
    second.look();
    expect(second.scheduler.awaited).toHaveLength(1);
    first.dies(held);
    second.look();
    expect(endsOf(second.commitAll())).toEqual(['1/2 closed']);
    expect(record()).toMatchObject({ status: 'in-doubt' });
  });

  it('is polled once its sender has reported the result', async () => {
    const { worker, cells, record, state, key } = await slicesRig();
    const [first, second] = [worker(), worker()];
    const held = first.begin(1, cells[0]);
    const sent = onlySubmit(first.commitAll());
    second.begin(1, cells[0]);
    second.commitAll();
    first.input({ type: 'lost', lease: held });
    first.hears(sent);
    expect(endsOf(first.commitAll())).toEqual(['1/1 lost']);
    second.look();
    second.commitAll();
    expect(record()).toMatchObject({ status: 'running', taskId: '7', submittedBy: '1/1' });
    // By its attempts others know who got the task.
    expect(state.attempts(key).at(-1)).toMatchObject({ outcome: 'accepted', taskId: '7' });
    expect(record()).not.toHaveProperty('sender');
  });

  it('is polled at once where its sender, which may live, has reported the result before', async () => {
    const { worker, cells, record } = await slicesRig();
    const [first, second] = [worker(), worker()];
    const held = first.begin(1, cells[0]);
    const sent = onlySubmit(first.commitAll());
    first.input({ type: 'lost', lease: held });
    first.hears(sent);
    first.commitAll();
    second.begin(1, cells[0]);
    second.commitAll();
    expect(record()).toMatchObject({ status: 'running', taskId: '7', submittedBy: '1/1' });
  });

  it('is submitted again where its submission was never sent, once', async () => {
    const { worker, cells, state, record } = await slicesRig();
    const [first, second] = [worker(), worker()];
    const held = first.begin(1, cells[0]);
    const { commit, request } = first.take();
    state.commit(request);
    // The answer does not come, and the slice goes to somebody else.
    first.scheduler.requeue(commit);
    second.begin(1, cells[0]);
    expect(submits(second.commitAll())).toEqual([]);
    first.input({ type: 'lost', lease: held });
    expect(submits(first.commitAll())).toEqual([]);
    second.look();
    expect(onlySubmit(second.commitAll()).job.record.submittedBy).toBe('1/2');
    expect(record()).toMatchObject({ status: 'submitting', attempts: 1 });
  });

  it('stays unchanged where this worker now runs it for another slice', async () => {
    const { worker, cells, key, record } = await slicesRig();
    const [first, second, third] = [worker(), worker(), worker()];
    const held = first.begin(1, cells[0]);
    const unaccepted = onlySubmit(first.commitAll());
    // It stands still between its claim and the turn that takes the slice.
    const stale = third.claim(1);
    expect(stale.left).toMatchObject([{ record: { status: 'submitting' } }]);
    second.begin(1, cells[0]);
    second.commitAll();
    first.input({ type: 'lost', lease: held });
    first.hears(unaccepted, full);
    first.commitAll();
    second.look();
    second.hears(onlySubmit(second.commitAll()), full);
    second.commitAll();
    expect(record()).toMatchObject({ status: 'pending' });
    third.give(third.claim(2, key), cells[1]);
    const sent = onlySubmit(third.commitAll());
    third.give(stale, cells[0]);
    third.input({ type: 'lost', lease: stale });
    expect(submits(third.commitAll())).toEqual([]);
    third.hears(sent);
    third.commitAll();
    expect(record()).toMatchObject({ status: 'running', taskId: '7', submittedBy: '2/1' });
  });

  it('is taken up once the commit that did not know it is refused', async () => {
    const { worker, cells, state, record } = await slicesRig();
    const [first, second] = [worker(), worker()];
    second.begin(2, cells[1]);
    const ignorant = second.take();
    expect(ignorant.commit.records).toMatchObject([{ status: 'submitting', submittedBy: '2/1' }]);
    first.begin(1, cells[0]);
    onlySubmit(first.commitAll());
    second.begin(1, cells[0]);
    expect(second.answered(ignorant, state.commit(ignorant.request)).effects).toEqual([]);
    expect(submits(second.commitAll())).toEqual([]);
    expect(record()).toMatchObject({ status: 'in-doubt', sender: '1/1', submittedBy: '1/1' });
    expect(state.rows.get(record()?.key ?? '')).toMatchObject({ slice: 1, holder: '1/2' });
  });

  it('is taken up even if the slice in which it was begun is lost before that is refused', async () => {
    const { worker, cells, state, record } = await slicesRig();
    const [first, second] = [worker(), worker()];
    const other = second.begin(2, cells[1]);
    const ignorant = second.take();
    first.begin(1, cells[0]);
    onlySubmit(first.commitAll());
    second.begin(1, cells[0]);
    // What is under way for the other slice is shown until it is refused: the cell of this one looks at the job meanwhile.
    second.input({ type: 'lost', lease: other });
    state.claim(2);
    expect(second.answered(ignorant, state.commit(ignorant.request)).effects).toEqual([]);
    second.look();
    expect(submits(second.commitAll())).toEqual([]);
    expect(record()).toMatchObject({ status: 'in-doubt', sender: '1/1', submittedBy: '1/1' });
  });
});

describe('a slice that is held again', () => {
  it('restarts a job whose submission for the earlier lease is refused', async () => {
    const { worker, cells, state, record } = await slicesRig();
    const one = worker();
    one.begin(1, cells[0]);
    const early = one.take();
    expect(early.commit.records).toMatchObject([{ status: 'submitting', submittedBy: '1/1' }]);
    state.claim(1);
    // It is taken back while the commit is under way.
    one.begin(1, cells[0]);
    expect(one.answered(early, state.commit(early.request)).effects).toEqual([]);
    one.look();
    expect(onlySubmit(one.commitAll()).job.record.submittedBy).toBe('1/3');
    expect(record()).toMatchObject({ status: 'submitting', attempts: 1 });
  });
});

describe('a slice without cells', () => {
  it('is not closed while its unfinished jobs wait for a commit to be refused', async () => {
    const { worker, cells, record } = await slicesRig();
    const [first, second] = [worker(), worker()];
    const held = first.begin(1, cells[0]);
    onlySubmit(first.commitAll());
    first.dies(held);
    // A later run has given the cells to other slices, and this one was read before there was the job.
    second.begin(2, cells[1]);
    second.begin(1);
    const { effects, events } = second.commitAll();
    expect([effects, endsOf({ events }), record()?.status]).toEqual([[], ['1/2 waits'], 'submitting']);
    second.begin(1);
    expect(endsOf(second.commitAll())).toContain('1/3 closed');
    expect(record()).toMatchObject({ status: 'in-doubt', submittedBy: '1/1' });
  });
});

const calls = `name: t
matrix: { turn: { from: 1, to: 2 } }
steps: { note: { generate: { model: text-pro, prompt: Tell of it. } } }
`;

describe('a slice without cells of which a result was heard late', () => {
  it('has its doubt ended, and is closed once its job is done', async () => {
    const { worker, cells, record } = await slicesRig();
    const gateway = new ScriptedGateway();
    const [first, second, third] = [worker(), worker(), worker()];
    const held = first.begin(1, cells[0]);
    const sent = onlySubmit(first.commitAll());
    const doubting = second.begin(1, cells[0]);
    second.commitAll();
    second.dies(doubting);
    first.input({ type: 'lost', lease: held });
    first.input(first.carryOut(sent, gateway).input);
    first.commitAll();
    first.dies(held);
    expect(record()?.status).toBe('in-doubt');
    third.begin(1);
    expect(endsOf({ events: third.finish(gateway) })).toEqual(['1/3 closed']);
    expect([record()?.status, gateway.submits.length]).toEqual(['done', 1]);
  });
});

describe('a slice whose job another slice needs', () => {
  it('is not closed before its unfinished jobs are durable, and the job is taken up from there', async () => {
    const { worker, cells, record } = await slicesRig(calls);
    const [first, second] = [worker(), worker()];
    const held = first.begin(1, cells[0]);
    expect(first.commitAll().effects).toMatchObject([{ send: { kind: 'ask' } }]);
    first.dies(held);
    second.begin(1);
    second.begin(2, cells[1]);
    const { effects, events } = second.commitAll();
    expect(effects).toMatchObject([{ send: { kind: 'ask' } }]);
    expect([endsOf({ events }), record()?.submittedBy]).toEqual([[], '1/2']);
    // Without a cell that asks for it, what was left is made durable, and then the slice is closed.
    const third = worker();
    second.dies({ slice: 1, epoch: 2 });
    third.begin(1);
    expect(endsOf(third.commit())).toEqual([]);
    expect(endsOf(third.commitAll())).toEqual(['1/3 closed']);
    expect(record()?.status).toBe('pending');
  });
});

describe('a late fact', () => {
  it('is combined with the decision about the job for another slice that is not durable yet', async () => {
    const { worker, cells, state, record } = await slicesRig();
    const [first, second] = [worker(), worker()];
    const held = first.begin(1, cells[0]);
    const sent = onlySubmit(first.commitAll());
    second.begin(6, cells[1]);
    second.commitAll();
    expect(second.scheduler.awaited).toHaveLength(1);
    second.begin(1, cells[0]);
    const { commit } = second.take();
    expect(commit.records).toMatchObject([{ status: 'in-doubt' }]);
    first.input({ type: 'lost', lease: held });
    first.hears(sent);
    first.commitAll();
    // The doubt is not durable; what ends it is heard for the cell of the other slice.
    second.scheduler.requeue(commit);
    second.look();
    second.commitAll();
    expect(record()).toMatchObject({ status: 'running', taskId: '7' });
    expect(state.rows.get(record()?.key ?? '')).toMatchObject({ slice: 1, holder: '1/2' });
  });
});

describe('a submission', () => {
  it('is not confused with another one of the same time by the same worker', async () => {
    const { worker, cells, record } = await slicesRig();
    const [first, second] = [worker(), worker()];
    const held = first.begin(1, cells[0]);
    first.begin(3, cells[2]);
    first.input({ type: 'lost', lease: held });
    // What was decided for the lost slice and what is decided for the other one go out in one commit.
    const commit = first.commitAll();
    expect(onlySubmit(commit).job.record.submittedBy).toBe('3/1');
    second.begin(3, cells[2]);
    second.commitAll();
    second.look();
    expect(submits(second.commitAll())).toEqual([]);
    expect(record()).toMatchObject({ status: 'in-doubt', sender: '3/1', submittedBy: '3/1' });
  });

  it('is not confused with another one of the same time by another worker', async () => {
    const { worker, cells, state, record } = await slicesRig();
    const [first, second, third] = [worker(), worker(), worker()];
    first.begin(1, cells[0]);
    const lost = first.take();
    second.begin(1, cells[0]);
    const sent = onlySubmit(second.commitAll());
    expect(lost.commit.records[0]?.submittedAt).toBe(sent.job.record.submittedAt);
    expect(submits(first.answered(lost, state.commit(lost.request)))).toEqual([]);
    // It says that its own submission never left.
    first.commitAll();
    third.begin(1, cells[0]);
    third.commitAll();
    third.look();
    expect(submits(third.commitAll())).toEqual([]);
    expect(record()).toMatchObject({ status: 'in-doubt', sender: '1/2', submittedBy: '1/2' });
  });
});

describe('an answer to a text call that comes late', () => {
  it.each([
    ['is used', undefined, 'done', 0],
    ['has the call made again', unsent, 'submitting', 1],
  ] as const)('%s only once no later call can be answered', async (_what, error, status, times) => {
    const { worker, cells, record } = await slicesRig(calls);
    const [first, second, third] = [worker(), worker(), worker()];
    const held = first.begin(1, cells[0]);
    const asked = onlyAsk(first.commitAll());
    first.dies(held);
    const later = second.begin(1, cells[0]);
    onlyAsk(second.commitAll());
    first.input({ type: 'lost', lease: held });
    first.answers(asked, error);
    first.commitAll();
    third.begin(1, cells[0]);
    expect(third.commitAll().effects).toEqual([]);
    expect(record()).toMatchObject({ status: 'pending', sender: '1/2', attempts: 2 });
    second.dies(later);
    third.look();
    expect(asks(third.commitAll())).toHaveLength(times);
    expect(record()).toMatchObject({ status, attempts: 2 });
  });
});

describe('what a worker hears of requests of others', () => {
  it.each([
    ['a submission that made nothing', oneJob, full, undefined, 0],
    ['a text', calls, undefined, undefined, 1],
    ['a text call that was never made', calls, undefined, unsent, 0],
  ] as const)('is told to the budget as it is written: %s', async (_what, text, refusal, error, answers) => {
    const { worker, cells, record, state, key } = await slicesRig(text);
    const told: (readonly [JobRecord, JobRecord])[] = [];
    const note = (before: JobRecord, after: JobRecord): void => void told.push([before, after]);
    const [first, second] = [worker(), worker({ allowance: { refusal: () => undefined, note } })];
    const held = first.begin(1, cells[0]);
    const [sent] = first.commitAll().effects;
    if (sent === undefined) throw new Error('Nothing was sent.');
    const found = spentOn(record());
    second.begin(1, cells[0]);
    second.commitAll();
    first.input({ type: 'lost', lease: held });
    if (refusal === undefined) first.answers(sent, error);
    else first.hears(sent, refusal);
    first.commitAll();
    first.dies(held);
    second.look();
    second.commitAll();
    const changed = spentOn(record()).map((amount, at) => amount - (found[at] ?? 0));
    const sums = told.map(([before, after]) =>
      spentOn(after).map((amount, at) => amount - (spentOn(before)[at] ?? 0)),
    );
    expect(sums.reduce((all, one) => all.map((amount, at) => amount + (one[at] ?? 0)), [0, 0, 0])).toEqual(
      changed,
    );
    expect(sums.flat().some((amount) => amount !== 0)).toBe(true);
    const { submittedAt } = sent.job.record;
    const answered = ({ at, outcome }: Attempt): boolean => at === submittedAt && outcome === 'done';
    expect(state.attempts(key).filter(answered)).toHaveLength(answers);
  });
});

/** Attempts, tokens, and tokens that may have been used. */
const spentOn = (record: JobRecord | undefined): readonly number[] => [
  record?.attempts ?? 0,
  record?.usage?.total ?? 0,
  (record?.doubtful?.tokens ?? 0) + (record?.assumed?.tokens ?? 0),
];
