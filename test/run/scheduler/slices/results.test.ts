import { describe, expect, it } from 'vitest';
import { withoutOthers } from '../../../../src/run/scheduler/commit.ts';
import { ScriptedGateway } from '../../../rig/gateway/scripted-gateway.ts';
import { jobRecord } from '../../../state/records.ts';
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
