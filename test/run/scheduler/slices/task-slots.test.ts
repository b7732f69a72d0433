import { describe, expect, it } from 'vitest';
import { failure } from '../../../rig/failure.ts';
import { ScriptedGateway } from '../../../rig/gateway/scripted-gateway.ts';
import { endsOf, onlyAsk, onlySubmit, type SlicesRig, slicesRig, submits } from './slices-rig.ts';

const pictures = `name: t
matrix: { turn: { from: 1, to: 2 } }
steps: { grid: { imagine: "picture {{ turn }}" } }
`;

/** A slice of two cells whose holder is gone: the first has a task, for the second there was no slot. */
async function leftSlice(): Promise<SlicesRig & { readonly gateway: ScriptedGateway }> {
  const rig = await slicesRig(pictures);
  const gateway = new ScriptedGateway();
  const gone = rig.worker({ taskSlots: { granted: 1 } });
  const held = gone.begin(1, ...rig.cells);
  const sent = onlySubmit(gone.commitAll());
  const { result } = gateway.submit(sent.job.record, undefined, gone.now);
  if ('unread' in result || !result.ok) throw new Error('The gateway has refused the task.');
  gone.hears(sent, result.value);
  gone.commitAll();
  gone.dies(held);
  return { ...rig, gateway };
}

describe('a worker without task slots', () => {
  it('finishes the task that a dead one has left, and the rest of the slice once it has slots', async () => {
    const { worker, cells, record, gateway } = await leftSlice();
    const taskSlots = {
      get granted() {
        return record()?.status === 'done' ? 1 : 0;
      },
    };
    const one = worker({ taskSlots });
    expect(one.scheduler.wantsCells).toBe(true);
    one.begin(1, ...cells);
    expect([one.scheduler.tasks, one.scheduler.inMemory]).toEqual([1, { jobs: 1, cells: 0 }]);
    // The end of the task may free a slot.
    expect(one.scheduler.wantsCells).toBe(false);
    expect(endsOf({ events: one.finish(gateway) })).toEqual([]);
    expect([record()?.status, gateway.submits.length]).toEqual(['done', 1]);
    one.input({ type: 'refilled' });
    expect(endsOf({ events: one.finish(gateway) })).toEqual(['1/2 closed']);
    expect([gateway.submits.length, one.scheduler.submits]).toEqual([2, 1]);
    expect(record()).toMatchObject({ status: 'done', attempts: 1 });
  });

  it('gives the rest of the slice back where it gets no slot in time', async () => {
    const { worker, cells, key, record, gateway } = await leftSlice();
    const taskSlots = { granted: 0 };
    const one = worker({ taskSlots });
    one.begin(1, ...cells);
    expect(endsOf({ events: one.finish(gateway) })).toEqual(['1/2 waits']);
    expect([record()?.status, gateway.submits.length]).toEqual(['done', 1]);
    // What it has given back it does not begin later.
    taskSlots.granted = 1;
    one.input({ type: 'refilled' });
    expect(one.finish(gateway)).toEqual([]);
    const next = worker({ taskSlots: { granted: 1 } });
    next.give(next.claim(1, key), ...cells);
    expect(endsOf({ events: next.finish(gateway) })).toEqual(['1/3 closed']);
    expect(gateway.submits).toHaveLength(2);
  });

  it('holds a few slices in which nothing is in flight, for 5 s', async () => {
    const { worker, cells } = await slicesRig(pictures);
    const one = worker({ taskSlots: { granted: 0 } });
    let taken = 0;
    for (; one.scheduler.wantsCells && taken < 100; taken += 1) {
      one.begin(taken, cells[0]);
      one.commitAll();
    }
    expect(taken).toBe(8);
    one.now += 4999;
    one.input({ type: 'tick' });
    expect(one.commitAll()).toEqual({ effects: [], events: [] });
    one.now += 1;
    one.input({ type: 'tick' });
    expect(endsOf(one.commitAll())).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((slice) => `${slice}/1 waits`));
    expect(one.scheduler.wantsCells).toBe(true);
    one.begin(8, cells[0]);
    expect([one.commitAll().effects, one.scheduler.inMemory.cells]).toEqual([[], 0]);
  });

  it('gives back the slices that wait for slots it has lost', async () => {
    const { worker, cells } = await slicesRig(pictures);
    const taskSlots = { granted: 1 };
    const one = worker({ taskSlots });
    one.begin(1, cells[0]);
    const sent = onlySubmit(one.commitAll());
    // The service takes nothing more now, and another worker has all task slots from here on.
    taskSlots.granted = 0;
    one.hears(sent, { kind: 'queue-full', code: 23, message: 'queue full' });
    one.commitAll();
    expect(one.scheduler.inMemory).toEqual({ jobs: 1, cells: 1 });
    for (const ms of [0, 4999]) {
      one.now += ms;
      one.input({ type: 'tick' });
      expect(endsOf(one.commitAll())).toEqual([]);
    }
    one.now += 1;
    one.input({ type: 'tick' });
    expect(endsOf(one.commitAll())).toEqual(['1/1 waits']);
    expect(one.scheduler.inMemory).toEqual({ jobs: 0, cells: 0 });
    const next = worker({ taskSlots });
    taskSlots.granted = 1;
    next.give(next.claim(1, sent.job.record.key), cells[0]);
    expect(submits(next.commitAll())).toHaveLength(1);
  });

  it('gives no slice back before the answer to its request is durable', async () => {
    const { worker, cells, record } = await slicesRig(pictures);
    const taskSlots = { granted: 1 };
    const one = worker({ taskSlots });
    one.begin(1, cells[0]);
    const sent = onlySubmit(one.commitAll());
    taskSlots.granted = 0;
    one.hears(sent, { kind: 'queue-full', code: 23, message: 'queue full' });
    // The state cannot be written for a while.
    for (const ms of [0, 60_000]) {
      one.now += ms;
      one.input({ type: 'tick' });
    }
    expect([endsOf(one.commitAll()), record()?.status]).toEqual([[], 'pending']);
    for (const ms of [0, 5000]) {
      one.now += ms;
      one.input({ type: 'tick' });
    }
    expect(endsOf(one.commitAll())).toEqual(['1/1 waits']);
  });

  it('forgets a refusal with the slice that it gives back: no other refused job is judged earlier for it', async () => {
    const text = `name: t
matrix: { turn: { from: 1, to: 3 } }
steps:
  grid: { imagine: "picture {{ turn }}", when: turn != 2 }
  note: { generate: { model: text-pro, prompt: Tell of it. }, when: turn == 2 }
`;
    const { worker, cells } = await slicesRig(text);
    const taskSlots = { granted: 1 };
    const one = worker({ taskSlots });
    const refused = failure('service.rejected', 'permanent', { status: 403, message: 'no' });
    const wait = (ms: number): readonly string[] => {
      one.now += ms;
      one.input({ type: 'tick' });
      return endsOf(one.commitAll());
    };
    one.begin(2, cells[1]);
    one.answers(onlyAsk(one.commitAll()), failure('service.throttled', 'throttle', { retryAfterMs: 60_000 }));
    one.begin(1, cells[0]);
    one.answers(onlySubmit(one.commitAll()), refused);
    taskSlots.granted = 0;
    expect([wait(0), wait(0), wait(5000)]).toEqual([[], [], ['1/1 waits']]);
    taskSlots.granted = 1;
    one.begin(3, cells[2]);
    one.answers(onlySubmit(one.commitAll()), refused);
    expect([wait(0), wait(0), wait(10_000)]).toEqual([[], [], []]);
    expect(one.scheduler.inMemory.jobs).toBe(2);
  });

  it('is like any other once it has slots, or shares none', async () => {
    const { worker, cells } = await slicesRig(pictures);
    const taskSlots = { granted: 0 };
    const one = worker({ taskSlots });
    one.begin(1, cells[0]);
    one.commitAll();
    one.now += 4000;
    taskSlots.granted = 1;
    one.input({ type: 'refilled' });
    expect(submits(one.commitAll())).toHaveLength(1);
    one.begin(2, cells[1]);
    one.now += 60_000;
    one.input({ type: 'tick' });
    expect(endsOf(one.commitAll())).toEqual([]);
    expect(one.scheduler.wantsCells).toBe(false);
  });
});
