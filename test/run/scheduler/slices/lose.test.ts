import { describe, expect, it } from 'vitest';
import type { Effect } from '../../../../src/run/scheduler/commit.ts';
import { answered } from '../../../rig/driven-service.ts';
import type { Row } from '../../../rig/fenced/fenced-state.ts';
import { ScriptedGateway } from '../../../rig/gateway/scripted-gateway.ts';
import { endsOf, oneGroup, onlyAsk, onlySubmit, slicesRig, submits, type TestWorker } from './slices-rig.ts';

const full = { kind: 'queue-full', code: 23, message: 'queue full' } as const;

const oneCall = `name: t
steps: { note: { generate: { model: text-pro, prompt: Tell of it. } } }
`;

const twoCalls = `name: t
matrix: { turn: { from: 1, to: 2 } }
steps: { note: { generate: { model: text-pro, prompt: "Tell of {{ turn }}." } } }
`;

const twoPictures = `name: t
matrix: { turn: { from: 1, to: 2 } }
steps: { grid: { imagine: "picture {{ turn }}" } }
`;

const zoom = `name: t
steps:
  grid: { imagine: a fox, path: U1 }
  wide: { from: grid/U1, click: Custom Zoom, prompt: a fox --zoom 2 }
`;

describe('a slice that is lost', () => {
  it('takes the group along that waits there, whose job is begun once by whoever has it next', async () => {
    const { worker, cells } = await slicesRig(oneGroup);
    const one = worker();
    const held = one.begin(1, ...cells);
    const gateway = new ScriptedGateway();
    const { input } = one.carryOut(onlySubmit(one.commitAll()), gateway);
    one.input({ type: 'lost', lease: held });
    const left = one.commitAll().events.flatMap((event) => (event.type === 'cell:left' ? [event.cell] : []));
    expect(left.toSorted((a, b) => a - b)).toEqual(cells.map(({ number }) => number));
    one.input(input);
    expect(one.commitAll().effects).toEqual([]);
    const again = one.begin(1, ...cells);
    expect(endsOf({ events: one.finish(gateway) })).toContain(`1/${again.epoch} closed`);
    expect(gateway.submits.length).toBe(2);
  });

  it('ends no run before the answer to its paid request, of which others are told', async () => {
    const { worker, cells } = await slicesRig();
    const one = worker();
    const held = one.begin(1, cells[0]);
    const sent = onlySubmit(one.commitAll());
    one.input({ type: 'lost', lease: held });
    one.input({ type: 'cells', cells: [], last: true });
    one.commitAll();
    expect(one.scheduler.ended).toBeUndefined();
    one.hears(sent);
    const { lateFacts } = one.take().commit;
    expect(lateFacts).toMatchObject([{ key: sent.job.record.key, taskId: '7' }]);
  });

  it('leaves its task slots to others, who are told after each input how many are in use', async () => {
    const { worker, cells } = await slicesRig();
    const used: number[] = [0];
    const one = worker({ taskSlots: { granted: 5, note: (tasks) => used.push(tasks) } });
    const held = one.begin(1, cells[0]);
    one.hears(onlySubmit(one.commitAll()));
    one.commitAll();
    expect([used.at(-1), one.scheduler.tasks]).toEqual([1, 1]);
    one.input({ type: 'lost', lease: held });
    expect([used.at(-1), one.scheduler.tasks]).toEqual([0, 0]);
  });

  it('leaves nothing to commit except that its submission was never sent', async () => {
    const { worker, cells, key, record } = await slicesRig();
    const one = worker();
    const held = one.begin(1, cells[0]);
    one.input({ type: 'lost', lease: held });
    const { commit } = one.take();
    expect(commit).toMatchObject({ records: [], attempts: [], effects: [] });
    expect(commit.lateFacts).toMatchObject([{ key, submittedBy: '1/1' }]);
    expect(commit.lateFacts?.[0]).not.toHaveProperty('taskId');
    expect(endsOf(commit)).toEqual(['1/1 lost']);
    expect(commit.events).toContainEqual({ type: 'cell:left', cell: cells[0]?.number });
    expect(record()).toBeUndefined();
    expect(one.scheduler.inMemory).toEqual({ jobs: 0, cells: 0 });
  });

  it('sends nothing of a commit in flight, durable or not', async () => {
    const { worker, cells, state, record } = await slicesRig();
    const one = worker();
    const held = one.begin(1, cells[0]);
    const taken = one.take();
    one.input({ type: 'lost', lease: held });
    const committed = state.commit(taken.request);
    expect(committed.lost.size).toBe(0);
    expect(one.answered(taken, committed).effects).toEqual([]);
    expect(one.commitAll().effects).toEqual([]);
    expect(record()?.status).toBe('submitting');
    expect(state.claim(1).left).toMatchObject([{ lateFact: { submittedBy: '1/1' } }]);
  });

  it.each([
    ['written', 1],
    ['not written', 0],
  ] as const)('counts a submission that is never sent once as long as it is %s', async (_what, counted) => {
    const { worker, cells, state, record } = await slicesRig();
    const one = worker();
    const held = one.begin(1, cells[0]);
    const taken = one.take();
    one.input({ type: 'lost', lease: held });
    if (counted === 0) state.claim(1);
    one.answered(taken, state.commit(taken.request));
    expect([record()?.attempts ?? 0, one.scheduler.submits]).toEqual([counted, counted]);
    one.commitAll();
    // Who takes the slice over reverts what is written, here the same worker.
    one.begin(1, cells[0]);
    onlySubmit(one.commitAll());
    expect([record()?.attempts, one.scheduler.submits]).toEqual([1, 1]);
  });

  it('reverts a submission once that is also refused', async () => {
    const { worker, cells, state } = await slicesRig();
    const [one, other] = [worker(), worker()];
    const held = one.begin(1, cells[0]);
    other.begin(2, cells[1]);
    const taken = one.take();
    onlySubmit(other.commitAll());
    one.input({ type: 'lost', lease: held });
    const committed = state.commit(taken.request);
    expect([committed.refused.size, committed.lost.size]).toEqual([1, 0]);
    one.answered(taken, committed);
    expect([one.scheduler.submits, one.scheduler.requests]).toEqual([0, 0]);
  });

  it('sends nothing of a commit that failed, and does not commit it again', async () => {
    const { worker, cells, state, record } = await slicesRig();
    const one = worker();
    one.begin(1, cells[0]);
    const { commit } = one.take();
    one.input({ type: 'lost', lease: { slice: 1, epoch: 1 } });
    one.scheduler.requeue(commit);
    expect(one.commitAll().effects).toEqual([]);
    expect([record(), state.attempts('')]).toEqual([undefined, []]);
  });

  it('adopts no task for a submission that was to replace it, and was not accepted', async () => {
    const { worker, cells, state, key } = await slicesRig();
    const one = worker();
    one.begin(1, cells[0]);
    one.finish(new ScriptedGateway());
    const row = state.rows.get(key) as Row;
    // It was done in an earlier invocation.
    state.rows.set(key, { ...row, record: { ...row.record, invocation: 0 } });
    state.redos.add({ keys: [key], again: true });
    const two = worker();
    const of = two.claim(1, key);
    two.give(of, cells[0]);
    two.hears(onlySubmit(two.commitAll()), full);
    two.input({ type: 'lost', lease: { slice: 1, epoch: of.epoch } });
    const { lateFacts = [] } = two.take().commit;
    expect(lateFacts).toMatchObject([{ key, submittedBy: `1/${of.epoch}` }]);
    expect(lateFacts[0]).not.toHaveProperty('taskId');
  });

  it('has no other end than its loss from then on, whatever was decided before', async () => {
    for (let turns = 0, isDone = false; !isDone; turns += 1) {
      const { worker, cells, record } = await slicesRig();
      const one = worker();
      const held = one.begin(1, cells[0]);
      const gateway = new ScriptedGateway();
      // Everything happens as in a run, up to the decision after this many commits.
      for (let turn = 0; turn < turns; turn += 1) {
        const { effects } = one.commit();
        for (const effect of effects) one.input(one.carryOut(effect, gateway).input);
        if (one.scheduler.hasDecided) continue;
        one.now = Math.max(one.now, one.scheduler.nextWakeAt() ?? 0);
        one.input({ type: 'tick' });
      }
      isDone = record()?.status === 'done' && !one.scheduler.hasDecided;
      one.input({ type: 'lost', lease: held });
      const ends = endsOf({ events: one.finish(gateway) });
      expect(ends.filter((end) => end !== '1/1 lost')).toEqual([]);
    }
  });

  it('ends only once its request in flight has a result', async () => {
    const { worker, cells, state } = await slicesRig();
    const one = worker();
    const held = one.begin(1, cells[0]);
    const sent = onlySubmit(one.commitAll());
    one.input({ type: 'lost', lease: held });
    expect(endsOf(one.commitAll())).toEqual([]);
    one.hears(sent);
    expect(endsOf(one.commitAll())).toEqual(['1/1 lost']);
    expect(state.claim(1).left).toMatchObject([{ lateFact: { taskId: '7' } }]);
  });

  it.each([
    ['names the task', undefined, '7'],
    ['says that there is none', full, undefined],
  ] as const)('%s that it has received and could not make durable', async (_what, answer, taskId) => {
    const { worker, cells, state } = await slicesRig();
    const one = worker();
    const held = one.begin(1, cells[0]);
    one.hears(onlySubmit(one.commitAll()), answer);
    one.input({ type: 'lost', lease: held });
    expect(one.commitAll().effects).toEqual([]);
    const [left] = state.claim(1).left;
    expect(left?.record.status).toBe('submitting');
    expect(left?.lateFact?.taskId).toBe(taskId);
    expect(left?.lateFact?.submittedBy).toBe('1/1');
  });

  it('leaves its jobs to another slice that this worker holds', async () => {
    const { worker, cells, record } = await slicesRig();
    const one = worker();
    const held = one.begin(1, cells[0]);
    one.begin(2, cells[1]);
    one.input({ type: 'lost', lease: held });
    const commit = one.commitAll();
    expect(submits(commit).map(({ job }) => job.lease)).toMatchObject([{ slice: 2, epoch: 1 }]);
    expect(record()).toMatchObject({ status: 'submitting', attempts: 1, submittedBy: '2/1' });
  });

  it('has none of its cells opened any more', async () => {
    const { worker, cells } = await slicesRig(twoPictures);
    const one = worker(undefined, { limits: { tasks: 1, requests: 8 } });
    const held = one.begin(1, ...cells);
    onlySubmit(one.commitAll());
    expect(one.scheduler.inMemory.cells).toBe(1);
    one.input({ type: 'lost', lease: held });
    expect([one.commitAll().effects, one.scheduler.inMemory.cells]).toEqual([[], 0]);
  });

  it('is distinguished from the same slice under a new lease', async () => {
    const { worker, cells, record } = await slicesRig();
    const one = worker();
    const held = one.begin(1, cells[0]);
    one.commitAll();
    const again = one.begin(1, cells[0]);
    expect(again.epoch).toBe(2);
    one.input({ type: 'lost', lease: held });
    one.commitAll();
    expect(record()).toMatchObject({ status: 'in-doubt', sender: '1/1' });
    expect(one.scheduler.inMemory.cells).toBe(1);
  });

  it('is not closed because of a decision for an earlier lease that is never written', async () => {
    const { worker, cells, state, record } = await slicesRig(oneCall);
    const [one, other] = [worker(), worker()];
    const held = one.begin(1, cells[0]);
    const [effect] = one.commitAll().effects;
    if (effect === undefined) throw new Error('Nothing was asked.');
    const { input } = answered(effect, new ScriptedGateway(), one.view, one.now);
    one.input({ type: 'result', effect, input });
    const early = one.take();
    expect(early.commit.records).toMatchObject([{ status: 'done' }]);
    other.begin(1, cells[0]);
    other.commitAll();
    one.input({ type: 'lost', lease: held });
    // It takes the slice again while the commit is under way, and is shown the result.
    one.begin(1, cells[0]);
    one.answered(early, state.commit(early.request));
    expect(endsOf(one.commitAll())).toEqual(['1/1 lost', '1/3 waits']);
    expect(record()?.status).toBe('pending');
  });

  it('is not closed because of a decision that is refused later', async () => {
    const text = oneCall.replace('steps:', 'matrix: { turn: { from: 1, to: 2 } }\nsteps:');
    const { worker, cells, key } = await slicesRig(text);
    const one = worker();
    one.begin(1, cells[0]);
    one.answers(onlyAsk(one.commitAll()));
    const early = one.take();
    expect(early.commit.records).toMatchObject([{ key, status: 'done' }]);
    // Its cell needs the job of the other slice, and finds it done.
    one.begin(2, cells[1]);
    one.answered(early, { refused: new Set([key]), lost: new Set() });
    const { events } = one.commitAll();
    expect(events).toContainEqual({ type: 'cell:close', cell: cells[1]?.number });
    expect(endsOf({ events })).toContain('2/1 waits');
    expect(endsOf({ events })).not.toContain('2/1 closed');
  });

  it('reverts no submission for the first confirm of a modal, which counted none, but that of a further one', async () => {
    const { worker, cells, state } = await slicesRig(zoom);
    const gateway = new ScriptedGateway();
    const answers = ({ commit }: ReturnType<TestWorker['take']>): boolean =>
      commit.effects.some(({ send }) => send.kind === 'modal');
    /** A worker whose answer to the dialog is about to leave: one that was left in doubt is sent again. */
    const answering = () => {
      const one = worker(undefined, { inDoubt: 'retry' });
      const { left, ...lease } = one.claim(1, ...state.rows.keys());
      one.give({ ...lease, left }, cells[0]);
      let taken = one.take();
      for (let turns = 0; turns < 100 && !answers(taken); turns += 1) {
        const { effects } = one.answered(taken, state.commit(taken.request));
        for (const effect of effects) one.input(one.carryOut(effect, gateway).input);
        one.now = Math.max(one.now, one.scheduler.nextWakeAt() ?? 0);
        one.input({ type: 'tick' });
        taken = one.take();
      }
      expect(answers(taken)).toBe(true);
      const lose = (isWritten: boolean): number => {
        one.input({ type: 'lost', lease });
        if (!isWritten) state.claim(1);
        expect(one.answered(taken, state.commit(taken.request)).effects).toEqual([]);
        return one.scheduler.submits;
      };
      return { submits: one.scheduler.submits, lose };
    };
    const first = answering();
    // Its intent is durable: whether it left nobody knows.
    expect([gateway.submits.length, first.submits, first.lose(true)]).toEqual([3, 3, 3]);
    const further = answering();
    expect([further.submits, further.lose(false)]).toEqual([1, 0]);
  });

  /** One call at a time: none leaves while another is under way, or any tokens count. */
  const tight = { limits: { tasks: 12, requests: 32, tokens: { count: 1, perMs: 60_000 } } };
  const asks = ({ effects }: { readonly effects: readonly Effect[] }): readonly (number | undefined)[] =>
    effects.flatMap(({ job, send }) => (send.kind === 'ask' ? [job.lease?.slice] : []));

  it('leaves the tokens of an unsent call to the others', async () => {
    const { worker, cells } = await slicesRig(twoCalls);
    const one = worker(undefined, tight);
    const held = one.begin(1, cells[0]);
    one.begin(2, cells[1]);
    one.input({ type: 'lost', lease: held });
    expect(asks(one.commitAll())).toEqual([2]);
  });

  it('leaves the tokens of a call to the others whose commit was in flight when it was lost', async () => {
    const { worker, cells, state } = await slicesRig(twoCalls);
    const one = worker(undefined, tight);
    const held = one.begin(1, cells[0]);
    one.begin(2, cells[1]);
    const taken = one.take();
    one.input({ type: 'lost', lease: held });
    expect(asks(one.answered(taken, state.commit(taken.request)))).toEqual([]);
    expect(asks(one.commitAll())).toEqual([2]);
  });

  it('keeps the tokens of a sent call until it is answered, and then counts those it took', async () => {
    const { worker, cells } = await slicesRig(twoCalls);
    const one = worker(undefined, tight);
    const held = one.begin(1, cells[0]);
    one.begin(2, cells[1]);
    const { effects } = one.commitAll();
    expect(asks({ effects })).toEqual([1]);
    const [effect] = effects;
    if (effect === undefined) throw new Error('Nothing was asked.');
    one.input({ type: 'lost', lease: held });
    one.now += 3_600_000;
    one.input({ type: 'tick' });
    expect(asks(one.commitAll())).toEqual([]);
    one.input(one.carryOut(effect, new ScriptedGateway()).input);
    expect(asks(one.commitAll())).toEqual([]);
    one.now += 61_000;
    one.input({ type: 'tick' });
    expect(asks(one.commitAll())).toEqual([2]);
  });
});
