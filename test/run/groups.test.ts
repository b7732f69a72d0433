import { describe, expect, it } from 'vitest';
import { rowFields } from '../../src/manifest/columns.ts';
import { manifestRows } from '../../src/manifest/rows.ts';
import type { Cell, Selection } from '../../src/plan/cell.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { RecordLookup } from '../../src/plan/slot.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { planForRun } from '../../src/run/run-plan.ts';
import { type GatewayScript, ScriptedGateway } from '../rig/gateway/scripted-gateway.ts';
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

async function world(source: string, script: GatewayScript = {}) {
  const { plan } = await planOf(source);
  const store = memoryStore();
  const service = new ScriptedGateway(script);
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
      resolve: (cell, lookup, isOwn) => planned.resolve(cell, lookup, isOwn),
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

const promptOf = ({ request }: Pick<JobRecord, 'request'>): unknown => {
  const [message] = (request.fields.messages ?? []) as readonly { readonly content?: unknown }[];
  return message?.content ?? request.fields.prompt;
};
const refused = { code: 'service.rejected', class: 'permanent', message: 'no' } as const;

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

  it.each(['fox 1', 'fox 3'])('tries %s again before the group that leaves failed jobs out', async (bad) => {
    const source = text(3)
      .replace('over: [seed] }', 'over: [seed], failed: ignore }')
      .replace(/ {2}tale:[^]*/, '');
    let isDown = true;
    const { run, store } = await world(source, {
      onAsk: ({ record }) => (isDown && promptOf(record) === bad ? refused : undefined),
    });
    await run({ only: ['talk'] });
    isDown = false;
    const settings = virtualSettings({ limits: { tasks: 2, requests: 2 }, retryFailed: {} });
    const { end, submits } = await run({}, { settings });
    expect([end, submits]).toEqual([{ kind: 'complete' }, 1 + 3]);
    expect([...store.withStatus('done')].map(promptOf)).toContain('fox 1 2 3');
    expect((await run()).submits).toBe(0);
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
  it('reports once what the failure of another cell blocks, whether it came before its own cell was opened or after', async () => {
    for (const failing of ['fox 1', 'fox 3', 'fox 4']) {
      const { run } = await world(text(), {
        onAsk: ({ record }) => (promptOf(record) === failing ? refused : undefined),
      });
      const blocked = (events: readonly RunEvent[]) =>
        events.flatMap((event) =>
          event.type === 'slot:status' ? [`${event.cell} ${event.step} ${event.status}`] : [],
        );
      const first = await run();
      expect(blocked(first.events).toSorted()).toEqual([
        '10 sum blocked',
        '10 tale blocked',
        '12 all blocked',
      ]);
      expect(blocked((await run()).events)).toEqual([]);
    }
  });

  it('decides nothing of a group before its cells are closed, of which some may be opened last', async () => {
    const source = text()
      .replace(/ {2}tale:.*\n {2}all:.*\n/, '')
      .replace(
        '  talk:',
        '  more: { chat: { model: m, prompt: "more of {{ animal }} {{ seed }}" } }\n  talk:',
      );
    let isDown = true;
    const { run, rows, store } = await world(source, {
      onAsk: ({ record }) => (isDown && promptOf(record) === 'fox 2' ? refused : undefined),
    });
    await run();
    isDown = false;
    const [failed] = store.withStatus('failed');
    const more = [...store.withStatus('done')].find((record) => promptOf(record) === 'more of fox 2');
    if (failed === undefined || more === undefined) throw new Error('no such job');
    // Another job of the cell was put back by an earlier run.
    const { text: _, usage: __, ...putBack } = more;
    store.commit({
      records: [{ ...putBack, status: 'pending', putBack: true }],
      attempts: [],
      invocation: 1,
    });
    const again = await run(
      {},
      { settings: virtualSettings({ limits: { tasks: 2, requests: 2 }, retryFailed: {} }) },
    );
    expect(again.end).toEqual({ kind: 'complete' });
    expect((await rows()).filter((row) => !row.includes('done'))).toEqual([]);
  });

  it('resolves a large group again for several done jobs of its last cell together', async () => {
    const items = Array.from({ length: 32 }, (_, index) => index + 1).join();
    const { run, plan } = await world(`
name: t
matrix: { seed: { from: 1, to: 512 } }
steps:
  talk: { chat: { model: m, prompt: "{{ seed }}" } }
  sum: { gather: { step: talk, over: [seed] }, chat: { model: m, prompt: "{{ gathered | size }}" } }
  item:
    from: sum
    each: "{{ steps.sum.text | slice: 0, 0 | append: '${items}' | split: ',' }}"
    chat: { model: m, prompt: "item {{ item }}" }
  tale: { from: item, chat: { model: m, prompt: "tale {{ item }}" } }
`);
    const planned = planForRun(plan, {});
    let visits = 0;
    const resolve: typeof planned.resolve = (cell, lookup, isOwn) => {
      if (cell.number === 512 && isOwn !== true) visits += 1;
      return planned.resolve(cell, lookup, isOwn);
    };
    const { end, submits } = await run({}, { resolve }, { tasks: 8, requests: 8 });
    expect([end, submits]).toEqual([{ kind: 'complete' }, 512 + 1 + 32 + 32]);
    expect(visits).toBeLessThan(40);
  });

  it('does not resolve the other cells of a group while jobs of its last cell or of another one are open', async () => {
    const steps = Array.from(
      { length: 8 },
      (_, n) =>
        `  s${n}: { ${n > 0 ? `from: s${n - 1}, ` : ''}when: seed == 50, chat: { model: m, prompt: "${n} of {{ animal }} {{ seed }}" } }\n`,
    );
    const { run, plan } = await world(`${text(50)}${steps.join('')}`);
    let lookups = 0;
    const planned = planForRun(plan, {});
    const counted =
      (lookup: RecordLookup): RecordLookup =>
      (key) => {
        lookups += 1;
        return lookup(key);
      };
    await run({}, { resolve: (cell, lookup, isOwn) => planned.resolve(cell, counted(lookup), isOwn) });
    expect(lookups).toBeLessThan(1600);
  });
});
