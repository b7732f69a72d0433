import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Selection } from '../../../src/plan/cell.ts';
import { ResultIndex } from '../../../src/report/serve/index/result-index.ts';
import { RunWatch } from '../../../src/report/serve/watch.ts';
import { jobCommands } from '../../../src/report/text/next-commands.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import type { StateStore, Turn } from '../../../src/state/store.ts';
import { ScriptedGateway } from '../../rig/gateway/scripted-gateway.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/plan.ts';
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
  for (const settings of [
    virtualSettings(),
    virtualSettings({ retryFailed: {} }),
    virtualSettings({ redo: [plan.resolve(cells[0]!, (key) => store.get(key))[0]?.job?.key ?? ''] }),
  ]) {
    const run = runVirtually({
      cells,
      resolve: (cell, lookup) => plan.resolve(cell, lookup),
      settings,
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
      const { plan } = await planOf(text);
      await fc.assert(
        fc.asyncProperty(fc.infiniteStream(fc.integer({ min: 1, max: 12 })), async (sizes) => {
          const directory = await mkdtemp(join(tmpdir(), 'promptpress-'));
          const state = openState(directory);
          const reader = openStateForReading(directory)!;
          const problems: unknown[] = [];
          let isRunning = true;
          const watch = await RunWatch.open({
            reader,
            plan: () => Promise.resolve({ plan, selection, advisor }),
            identity: () => Promise.resolve('one'),
            isRunning: () => isRunning,
            madeBy: 'test',
            now: () => 0,
            elapsed: () => 0,
            onProblem: (error) => problems.push(error),
          });
          try {
            await watch.filled;
            let at = 0;
            for (const size of sizes) {
              for (const turn of turns.slice(at, at + size)) state.commit(turn);
              at += size;
              isRunning = at < turns.length;
              await watch.look();
              await watch.filled;
              if (!isRunning) break;
              // What cells that were not chosen got by shared jobs is taken in when the run ends.
              if (selection.filters === undefined) await compare(watch.index);
            }
            await compare(watch.index);
            expect(problems).toEqual([]);
          } finally {
            await watch.close();
            await reader.close();
            state.close();
            await rm(directory, { recursive: true });
          }

          async function compare(index: ResultIndex): Promise<void> {
            const fresh = new ResultIndex({ plan, selection, reader, advisor });
            try {
              await fresh.fill();
              expect(await everythingOf(index)).toEqual(await everythingOf(fresh));
            } finally {
              fresh.close();
            }
          }
        }),
        { numRuns: 2 },
      );
    },
  );
});
