import { describe, expect, it } from 'vitest';
import { failure } from '../../../rig/failure.ts';
import { type GatewayScript, ScriptedGateway } from '../../../rig/gateway/scripted-gateway.ts';
import { endsOf, oneGroup, oneJob, onlySubmit, slicesRig } from './slices-rig.ts';

describe('the end of a slice', () => {
  it('comes after 2 s also where a group waits for a cell that only waits for jobs of others', async () => {
    const { worker, cells } = await slicesRig(oneGroup);
    const [one, other] = [worker(), worker()];
    one.begin(1, cells[0]);
    onlySubmit(one.commitAll());
    other.begin(2, cells[1], cells[2]);
    other.commitAll();
    other.look();
    expect(endsOf(other.commitAll())).toEqual([]);
    other.look(2000);
    const { events, effects } = other.commitAll();
    expect([endsOf({ events }), effects]).toEqual([['2/1 waits'], []]);
    for (const { number } of cells.slice(1))
      expect(events).toContainEqual({ type: 'cell:left', cell: number });
    expect(other.scheduler.inMemory).toEqual({ jobs: 0, cells: 0 });
  });

  it('is reported once, with the commit after which all its cells are closed', async () => {
    const { worker, cells, record } = await slicesRig();
    const one = worker();
    one.begin(1, cells[0], cells[1]);
    const gateway = new ScriptedGateway();
    expect(endsOf({ events: one.finish(gateway) })).toEqual(['1/1 closed']);
    expect(record()?.status).toBe('done');
    expect(gateway.submits).toHaveLength(1);
    expect(one.scheduler.inMemory).toEqual({ jobs: 0, cells: 0 });
  });

  it('says for a closed slice whether jobs are left below an unconfirmed one', async () => {
    const ends = async (onSubmit: NonNullable<GatewayScript['onSubmit']>) => {
      const { worker, cells } = await slicesRig(oneJob.replace('a picture"', 'a picture", path: U1'));
      const one = worker();
      one.begin(1, cells[0]);
      return one.finish(new ScriptedGateway({ onSubmit })).filter(({ type }) => type === 'slice:end');
    };
    const closed = { type: 'slice:end', slice: 1, epoch: 1, how: 'closed' };
    const lost = { error: failure('connection.lost', 'lost') };
    expect(await ends(() => lost)).toEqual([{ ...closed, belowDoubt: true }]);
    expect(await ends(({ pressed }) => (pressed === '' ? undefined : lost))).toEqual([closed]);
  });

  it('waits for cells that were not passed on yet', async () => {
    const { worker, cells } = await slicesRig();
    const one = worker();
    const { left, ...claimed } = one.claim(1);
    one.give({ ...claimed, left, isWhole: false }, cells[0]);
    const gateway = new ScriptedGateway();
    expect(endsOf({ events: one.finish(gateway) })).toEqual([]);
    one.give(claimed, cells[1]);
    expect(endsOf({ events: one.finish(gateway) })).toEqual(['1/1 closed']);
  });

  it('comes after 2 s where it only waits for jobs of others, and its cells are left', async () => {
    const { worker, cells } = await slicesRig();
    const [one, other] = [worker(), worker()];
    one.begin(1, cells[0]);
    onlySubmit(one.commitAll());
    other.begin(2, cells[1]);
    other.commitAll();
    other.look();
    expect(endsOf(other.commitAll())).toEqual([]);
    other.look(999);
    expect(endsOf(other.commitAll())).toEqual([]);
    other.look(1);
    const { events } = other.commitAll();
    expect(endsOf({ events })).toEqual(['2/1 waits']);
    expect(events).toContainEqual({ type: 'cell:left', cell: cells[1]?.number });
    other.look();
    expect(other.scheduler.awaited).toEqual([]);
  });

  it('comes 2 s after it last had work, however long it had waited before', async () => {
    const text = `name: t
matrix: { turn: { from: 1, to: 2 } }
steps:
  shared: { generate: { model: text-pro, prompt: Say a word. } }
  own: { generate: { model: text-pro, prompt: "{{ steps.shared.text }}, {{ turn }}" } }
  later: { generate: { model: text-pro, prompt: Say the last word. } }
`;
    const { worker, cells, key } = await slicesRig(text);
    const [one, other] = [worker(), worker()];
    const gateway = new ScriptedGateway();
    one.begin(1, cells[0]);
    const asked = one.commitAll().effects;
    expect(asked.map(({ send }) => send.kind)).toEqual(['ask', 'ask']);
    other.begin(2, cells[1]);
    expect(other.commitAll().effects).toEqual([]);
    other.look();
    other.look(999);
    expect(endsOf(other.commitAll())).toEqual([]);
    // What it waits for is there: it has work of its own, and then waits for the rest.
    const first = asked.filter(({ job }) => job.record.key === key);
    for (const effect of first) one.input(one.carryOut(effect, gateway).input);
    one.commitAll();
    other.look(0);
    const own = other.commitAll().effects;
    expect(own.map(({ send }) => send.kind)).toEqual(['ask']);
    other.now += 60_000;
    for (const effect of own) other.input(other.carryOut(effect, gateway).input);
    expect(endsOf(other.commitAll())).toEqual([]);
    other.look(1999);
    expect(endsOf(other.commitAll())).toEqual([]);
    other.look(1);
    expect(endsOf(other.commitAll())).toEqual(['2/1 waits']);
  });

  it('does not come while one of its cells is not open yet, for lack of a slot', async () => {
    const text = `name: t
matrix: { turn: { from: 1, to: 4 } }
steps: { grid: { imagine: "{% if turn > 2 %}picture {{ turn }}{% else %}a picture{% endif %}" } }
`;
    const { worker, cells } = await slicesRig(text);
    const one = worker();
    const other = worker(undefined, { limits: { tasks: 1, requests: 8 } });
    one.begin(1, cells[0]);
    onlySubmit(one.commitAll());
    const { left, ...held } = other.claim(2);
    other.give({ ...held, left, isWhole: false }, cells[1]);
    other.commitAll();
    expect(other.scheduler.awaited).toHaveLength(1);
    other.begin(3, cells[2]);
    onlySubmit(other.commitAll());
    other.give(held, cells[3]);
    for (const ms of [0, 60_000]) {
      other.look(ms);
      expect(endsOf(other.commitAll())).toEqual([]);
    }
  });

  it('does not come while one of its own jobs is in flight', async () => {
    const text = `name: t
matrix: { turn: { from: 1, to: 2 } }
steps:
  grid: { imagine: "a picture" }
  own: { imagine: "picture {{ turn }}" }
`;
    const { worker, cells } = await slicesRig(text);
    const [one, other] = [worker(), worker()];
    one.begin(1, cells[0]);
    one.commitAll();
    other.begin(2, cells[1]);
    onlySubmit(other.commitAll());
    other.look(60_000);
    expect(endsOf(other.commitAll())).toEqual([]);
  });

  it('is not reported for a slice whose cells are left because the run ends early', async () => {
    const { worker, cells } = await slicesRig(oneJob.replace('a picture"', 'a picture", path: U1'));
    const one = worker();
    one.begin(1, cells[0]);
    const gateway = new ScriptedGateway();
    const [submitted] = one.commitAll().effects;
    if (submitted === undefined) throw new Error('Nothing was submitted.');
    one.input({ type: 'drain', end: { kind: 'interrupted', forced: false } });
    one.input(one.carryOut(submitted, gateway).input);
    const events = one.finish(gateway);
    expect(events).toContainEqual({ type: 'cell:left', cell: cells[0]?.number });
    expect([endsOf({ events }), one.scheduler.inMemory]).toEqual([[], { jobs: 0, cells: 0 }]);
  });

  it('does not delay the end of a run, which does not wait for the work of others', async () => {
    const { worker, cells } = await slicesRig();
    const [one, other] = [worker(), worker()];
    one.begin(1, cells[0]);
    onlySubmit(one.commitAll());
    other.begin(2, cells[1]);
    other.commitAll();
    expect(other.scheduler.awaited).toHaveLength(1);
    const end = { kind: 'interrupted', forced: false } as const;
    other.input({ type: 'drain', end });
    other.commitAll();
    expect([other.scheduler.awaited, other.scheduler.ended]).toEqual([[], end]);
  });
});
