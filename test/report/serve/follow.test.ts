import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Selection } from '../../../src/plan/cell.ts';
import { ResultIndex } from '../../../src/report/serve/index/result-index.ts';
import { RunWatch, type WatchOptions } from '../../../src/report/serve/watch.ts';
import { jobCommands } from '../../../src/report/text/next-commands.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import type { TextReply } from '../../../src/service/text-service.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import type { StateStore, Turn } from '../../../src/state/store.ts';
import { ScriptedGateway, type TextCall } from '../../rig/gateway/scripted-gateway.ts';
import { epoch } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/plan.ts';
import { textReply } from '../../rig/text-reply.ts';
import { runVirtually, seededRandom, virtualSettings } from '../../rig/virtual-run.ts';

/** Three cells share each grid, and two of them what is pressed on it. */
const text = `name: test
matrix: { animal: [fox, owl], note: [a, b, c] }
steps:
  grid:
    imagine: "{{ animal }}"
    path: U1..U2 → Vary (Strong)
  say: { generate: { model: text-pro, prompt: "{{ note }} of {{ animal }}" } }
`;

/** All that three runs commit: the first with failures, the second tries them again, the third makes a job again. */
async function history(): Promise<readonly Turn[]> {
  const { plan, cells } = await planOf(text);
  const turns: Turn[] = [];
  const store = memoryStore();
  const noting: StateStore = {
    ...store,
    commit: (turn) => {
      turns.push(turn);
      store.commit(turn);
    },
    commitSoon: (turn) => noting.commit(turn),
  };
  const service = new ScriptedGateway({
    fails: ({ number }) => (number % 3 === 2 ? 'a failure of its own' : undefined),
  });
  let startAt: number | undefined;
  for (const settings of [virtualSettings(), virtualSettings({ retryFailed: {} }), 'redo' as const]) {
    const run = runVirtually({
      cells,
      resolve: (cell, lookup) => plan.resolve(cell, lookup),
      settings: settings === 'redo' ? virtualSettings() : settings,
      ...(settings === 'redo' && {
        redo: { keys: [plan.resolve(cells[0]!, (key) => store.get(key))[0]?.job?.key ?? ''], again: true },
      }),
      store: noting,
      service,
      random: seededRandom(1),
      price: () => 0.5,
      ...(startAt === undefined ? {} : { startAt }),
    });
    startAt = run.endedAt + 60_000;
  }
  return turns;
}

const advisor = {
  commands: { ...jobCommands('run'), run: undefined, find: undefined },
  mask: (each: string): string => each,
};
const refused = { code: 'service.rejected', class: 'permanent', message: 'no' } as const;
const never = new AbortController().signal;

async function everythingOf(index: ResultIndex): Promise<unknown> {
  const { total, results } = await index.find({}, { offset: 0, limit: 500 }, never);
  const newest = await index.find({ sort: 'newest' }, { offset: 0, limit: 500 }, never);
  const searched = await index.find(
    { search: 'failure', statuses: ['failed'], vars: { note: ['b', 'c'] } },
    { offset: 0, limit: 500 },
    never,
  );
  return {
    total,
    results,
    newest: newest.results.map(({ at }) => at),
    searched: searched.results.map(({ at }) => at),
    statuses: index.statuses,
    summary: await index.summary({ madeBy: 'test', at: 0, live: false }),
  };
}

describe('an index that follows a state', () => {
  it.each<[string, Selection]>([
    ['a whole plan', {}],
    ['some of its cells', { filters: [{ axis: 'note', value: 'b' }] }],
  ])(
    'has the results that a fresh one has, whatever was committed between two looks: %s',
    async (_name, selection) => {
      const turns = await history();
      expect(turns.length).toBeGreaterThan(30);
      await fc.assert(
        fc.asyncProperty(fc.infiniteStream(fc.integer({ min: 1, max: 12 })), async (sizes) => {
          await using watched = await watching({}, selection);
          const { watch, state, problems } = watched;
          await watch.filled;
          for (let at = 0; at < turns.length; ) {
            const size = sizes.next().value as number;
            for (const turn of turns.slice(at, at + size)) state.commit(turn);
            at += size;
            if (at >= turns.length) watched.end();
            await watch.look();
            await watch.filled;
            // What cells that were not chosen got by shared jobs is taken in when the run ends.
            if (selection.filters === undefined || at >= turns.length) await watched.expectAll();
          }
          expect(problems).toEqual([]);
        }),
        { numRuns: 2 },
      );
    },
  );
});

describe('an index of a plan with groups', () => {
  const picks = `name: test
matrix: { seed: [1, 2, 3] }
steps:
  talk: { chat: { model: m, prompt: "T {{ seed }}" } }
  best: { best: { from: talk, by: "{{ steps.talk.text }}", over: [seed] } }
  tale: { from: best, chat: { model: m, prompt: "tale {{ seed }}" } }
`;

  /** An index, and runs of some of the cells; each answer is told by the seed. */
  async function grouped(answer: (seed: string) => TextReply | ServiceFailure) {
    const { plan, cells } = await planOf(picks);
    const store = memoryStore();
    const index = new ResultIndex({ plan, selection: {}, reader: store.reader, advisor });
    await index.fill();
    const onAsk = ({ record: { request } }: TextCall): TextReply | ServiceFailure =>
      answer((request.fields.prompt as string).slice(-1));
    const service = new ScriptedGateway({ onAsk });
    let startAt = epoch;
    return async (numbers: readonly number[], redo: readonly string[] = []) => {
      const { endedAt } = runVirtually({
        cells: cells.filter(({ number }) => numbers.includes(number)),
        resolve: (cell, lookup) => plan.resolve(cell, lookup),
        steps: new Set(['talk']),
        settings: virtualSettings(),
        ...(redo.length > 0 && { redo: { keys: redo, again: true } }),
        store,
        service,
        random: seededRandom(1),
        startAt,
      });
      startAt = endedAt + 60_000;
      await index.refresh(redo, redo.length > 0 ? [] : numbers);
      const { results } = await index.find({}, { offset: 0, limit: 9 }, never);
      const first = plan.resolve(cells[0]!, (key) => store.get(key))[0]?.job?.key ?? '';
      const rows = results.map(({ result: { cell, step, status, picked = '' } }) =>
        `${cell} ${step} ${status} ${picked}`.trim(),
      );
      const found = await index.find({ search: 'best/1' }, { offset: 0, limit: 9 }, never);
      const picked = found.results.map(({ at }) => at);
      return { rows, first, picked, links: results.map(({ at }) => index.otherCells(at)) };
    };
  }

  it('shows which result of another cell is picked now', async () => {
    let best = '1';
    const run = await grouped((seed) => textReply({ text: seed === '1' ? best : seed }));
    expect((await run([2, 3])).rows).toContain('3 talk done');
    const { rows, first } = await run([1]);
    expect(rows).toEqual(['1 talk done', '2 talk done', '3 talk done best/1', '3 tale pending']);
    best = '9';
    const after = await run([1], [first]);
    expect(after.rows).toEqual(['1 talk done best/1', '2 talk done', '3 talk done', '3 tale pending']);
    expect(after.picked).toEqual([0]);
    expect(after.links).toEqual([
      { above: null, below: [3] },
      { above: null, below: [] },
      { above: null, below: [] },
      { above: 0, below: [] },
    ]);
  });

  it('shows that a failure in another cell blocks a row of the group', async () => {
    const run = await grouped((seed) => (seed === '1' ? refused : textReply({ text: seed })));
    expect((await run([2, 3])).rows).toContain('3 tale pending');
    expect((await run([1])).rows).toEqual(['1 talk failed', '2 talk done', '3 talk done', '3 tale blocked']);
  });
});

/** A watch of a state in which these turns are to be committed, with a run that the test ends. */
async function watching(
  options: Partial<WatchOptions>,
  selection: Selection = {},
  through: (reader: WatchOptions['reader']) => WatchOptions['reader'] = (reader) => reader,
) {
  const { plan } = await planOf(text);
  const directory = await mkdtemp(join(tmpdir(), 'promptpress-'));
  const state = openState(directory);
  const reader = openStateForReading(directory)!;
  const problems: unknown[] = [];
  let isRunning = true;
  const watch = await RunWatch.open({
    reader: through(reader),
    plan: () => Promise.resolve({ plan, selection, advisor }),
    identity: () => Promise.resolve('one'),
    isRunning: () => Promise.resolve(isRunning),
    madeBy: 'test',
    now: () => 0,
    elapsed: () => 0,
    onProblem: (error) => problems.push(error),
    ...options,
  });
  return {
    state,
    reader,
    watch,
    problems,
    end: () => {
      isRunning = false;
    },
    expectAll: async (): Promise<void> => {
      const fresh = new ResultIndex({ plan, selection, reader, advisor });
      try {
        await fresh.fill();
        expect(await everythingOf(watch.index)).toEqual(await everythingOf(fresh));
      } finally {
        fresh.close();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await watch.close();
      await reader.close();
      state.close();
      await rm(directory, { recursive: true });
    },
  };
}

describe('a watch', () => {
  it('misses nothing when slow reads of open jobs are rare', async () => {
    const turns = await history();
    for (const [rest, size] of [
      [30, 3],
      [400, 7],
    ] as const) {
      // Each question what the time is takes some of it: to read the open jobs seems to take just as long.
      let clock = 0;
      await using watched = await watching({ elapsed: () => (clock += rest) });
      const { watch, state } = watched;
      await watch.filled;
      for (let at = 0; at < turns.length; at += size) {
        for (const turn of turns.slice(at, at + size)) state.commit(turn);
        await watch.look();
      }
      watched.end();
      // Nothing is committed any more: what was left out comes by itself.
      for (let looks = 0; looks < 40; looks += 1) await watch.look();
      await watch.filled;
      await watched.expectAll();
      expect(JSON.parse(watch.summary)).toMatchObject({ live: false, statuses: watch.index.statuses });
    }
  });

  it('follows a job that is postponed between updates without the open jobs', async () => {
    const turns = await history();
    const sent = turns.flatMap(({ records }) => records.filter(({ status }) => status === 'submitting'));
    // No look at the cells of one of them is a look at those of the other.
    const [first, second] = [sent[0]!, sent.find(({ origin }) => origin.cell > 3)!];
    let clock = 0;
    await using watched = await watching({ elapsed: () => (clock += 30) });
    const { watch, state } = watched;
    await watch.filled;
    for (const record of [first, second]) {
      state.commit({ records: [record], attempts: [] });
      await watch.look();
    }
    // Without an entry in the history, as after a refusal for want of room.
    state.commit({ records: [{ ...second, status: 'pending' }], attempts: [] });
    for (let looks = 0; looks < 40; looks += 1) await watch.look();
    expect(watch.index.statuses).not.toHaveProperty('submitting', 2);
    await watched.expectAll();
  });

  it('adds results of shared jobs in other cells when the run ends before all results are read', async () => {
    const turns = await history();
    const selection: Selection = { filters: [{ axis: 'note', value: 'b' }] };
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow = (reader: WatchOptions['reader']): WatchOptions['reader'] => ({
      ...reader,
      many: async (keys) => {
        await gate;
        return await reader.many(keys);
      },
    });
    await using watched = await watching({}, selection, slow);
    const { watch, state } = watched;
    for (const turn of turns) state.commit(turn);
    watched.end();
    const looked = watch.look();
    expect(watch.index.isFilled).toBe(false);
    open();
    await looked;
    await watch.filled;
    await watch.look();
    await watch.filled;
    await watched.expectAll();
  });

  it('reads everything again after a failed read and a pause', async () => {
    const turns = await history();
    let [clock, reads] = [0, 0];
    const broken = (reader: WatchOptions['reader']): WatchOptions['reader'] => ({
      ...reader,
      many: async (keys) => {
        reads += 1;
        if (reads === 1) {
          clock += 100;
          throw new Error('the disk is gone for a moment');
        }
        return await reader.many(keys);
      },
    });
    await using watched = await watching({ elapsed: () => clock }, {}, broken);
    const { watch, state, problems } = watched;
    for (const turn of turns) state.commit(turn);
    await watch.filled;
    expect([watch.index.isFilled, problems.length]).toEqual([false, 1]);
    clock += 1999;
    await watch.look();
    await watch.filled;
    expect(watch.index.isFilled).toBe(false);
    clock += 1;
    await watch.look();
    await watch.filled;
    await watch.look();
    await watched.expectAll();
    expect(problems.length).toBe(1);
  });
});
