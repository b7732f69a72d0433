import { describe, expect, it } from 'vitest';
import { rowFields } from '../../src/manifest/columns.ts';
import { manifestRows } from '../../src/manifest/rows.ts';
import type { Cell, Selection } from '../../src/plan/cell.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { planForRun } from '../../src/run/run-plan.ts';
import { ScriptedGateway } from '../rig/gateway/scripted-gateway.ts';
import { epoch } from '../rig/jobs.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { planOf } from '../rig/plan.ts';
import {
  runVirtually,
  seededRandom,
  type VirtualRun,
  type VirtualRunOptions,
  virtualSettings,
} from '../rig/virtual-run.ts';

const text = (seeds = 4): string => `
name: t
matrix: { seed: { from: 1, to: ${seeds} }, animal: [fox, owl, elk] }
steps:
  talk: { chat: { model: m, prompt: "{{ animal }} {{ seed }}" } }
  sum:
    gather: { step: talk, over: [seed] }
    chat: { model: m, prompt: "{{ animal }} {{ gathered | map: 'seed' | join }}" }
  tale: { from: sum, chat: { model: m, prompt: "tale of {{ animal }}: {{ steps.sum.text }}" } }
  all: { gather: { step: sum, over: [animal] }, chat: { model: m, prompt: "{{ gathered | map: 'animal' | join }}" } }
`;

async function cellsOf({ matrix }: Plan, selection: Selection): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  for await (const cell of matrix.cells(selection)) cells.push(cell);
  return cells;
}

async function world(source: string) {
  const { plan } = await planOf(source);
  const store = memoryStore();
  const service = new ScriptedGateway();
  let startAt = epoch;
  const run = async (
    selection: Selection = {},
    options: Partial<VirtualRunOptions> = {},
    limits = { tasks: 2, requests: 2 },
  ): Promise<VirtualRun> => {
    const cells = await cellsOf(plan, selection);
    const planned = planForRun(plan, selection);
    const { gathers, steps } = planned;
    const result = runVirtually({
      cells,
      resolve: (cell, lookup) => planned.resolve(cell, lookup),
      gathers,
      ...(steps && { steps }),
      settings: virtualSettings({ limits }),
      store,
      service,
      random: seededRandom(1),
      startAt,
      ...options,
    });
    startAt = result.endedAt + 60_000;
    return result;
  };
  const rows = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const row of manifestRows(plan, {}, store.reader)) {
      const [seed, animal] = rowFields(row, plan.matrix.variables).slice(-2);
      found.push(`${row.cell.number} ${row.slot.step} ${row.slot.status} ${animal} ${seed}`);
    }
    return found;
  };
  return { plan, store, service, run, rows };
}

describe('a run of a plan that gathers over axes', () => {
  it('makes one job for each group, once all its cells are settled, and lists it after the last of them', async () => {
    const { run, rows, service } = await world(text());
    const { end, submits } = await run();
    expect([end, submits]).toEqual([{ kind: 'complete' }, 12 + 3 + 3 + 1]);
    expect((await rows()).slice(9)).toEqual([
      '10 talk done fox 4',
      '10 sum done fox ',
      '10 tale done fox ',
      '11 talk done owl 4',
      '11 sum done owl ',
      '11 tale done owl ',
      '12 talk done elk 4',
      '12 sum done elk ',
      '12 tale done elk ',
      '12 all done  ',
    ]);
    expect((await run()).submits).toBe(0);
    expect(service.calls).toHaveLength(19);
  });

  it('does not hold up other cells while a group waits, and keeps as few open as any run', async () => {
    const { run } = await world(text(200));
    const { most, submits } = await run({}, {}, { tasks: 1, requests: 4 });
    expect(submits).toBe(600 + 3 + 3 + 1);
    expect(most.cells).toBeLessThanOrEqual(5);
  });

  it('leaves a group pending whose cells were not all chosen, and completes it when they are', async () => {
    const { run, rows } = await world(text());
    const first = await run({ limit: 11 });
    expect([first.end, first.submits]).toEqual([{ kind: 'complete' }, 11 + 2 + 2]);
    expect((await rows()).filter((row) => row.includes('pending'))).toEqual([
      '12 talk pending elk 4',
      '12 sum pending elk ',
      '12 tale pending elk ',
      '12 all pending  ',
    ]);
    expect((await run({ filters: [{ axis: 'seed', value: '4' }] })).submits).toBe(4);
  });

  it('never makes a job of fewer cells: by filter, and by shards, which deal whole groups', async () => {
    const filtered = await world(text());
    expect((await filtered.run({ filters: [{ axis: 'seed', value: '4' }] })).submits).toBe(3);
    expect(await filtered.rows()).toContain('10 sum pending fox ');
    const source = text().replace(/ {2}all:.*\n/, '');
    const sharded = await world(source);
    const submits: number[] = [];
    for (let index = 1; index <= 3; index++)
      submits.push((await sharded.run({ shard: { index, of: 3 } })).submits);
    expect(submits).toEqual([6, 6, 6]);
    expect((await sharded.run()).submits).toBe(0);
  });

  it('can be killed after any turn, and goes on without a second submission', async () => {
    const calm = await world(text(2));
    await calm.run();
    const expected = await calm.rows();
    for (let dieAfterTurns = 1; dieAfterTurns < 40; dieAfterTurns += 3) {
      const { run, rows, store } = await world(text(2));
      await run({}, { dieAfterTurns });
      await run();
      expect(await rows()).toEqual(expected);
      expect(store.totals().jobs.done).toBe(6 + 3 + 3 + 1);
    }
  });

  it('leaves parked cells to a later run when it is drained', async () => {
    const { run, rows } = await world(text());
    const drained = await run({}, { drainAt: epoch + 250 });
    expect(drained.end).toEqual({ kind: 'interrupted', forced: false });
    expect((await rows()).some((row) => row.endsWith('sum pending fox '))).toBe(true);
    const rest = await run();
    expect([rest.end, drained.submits + rest.submits]).toEqual([{ kind: 'complete' }, 19]);
  });

  it('makes it anew after the job of one cell was redone, and no other group', async () => {
    const { run, store, plan } = await world(text());
    await run();
    const [cell] = await cellsOf(plan, { limit: 1 });
    const [talk] = cell === undefined ? [] : plan.resolve(cell, (key) => store.get(key));
    const redone = await run({}, { redo: { keys: [talk?.job?.key ?? ''], again: true } });
    const again = [...store.withStatus('done')].filter(({ redone: times }) => times?.count === 1);
    expect([redone.end, redone.submits]).toEqual([{ kind: 'complete' }, again.length]);
    expect(again.map(({ origin }) => `${origin.cell} ${origin.step}`).toSorted()).toEqual([
      '1 talk',
      '10 sum',
      '10 tale',
      '12 all',
    ]);
  });
});
