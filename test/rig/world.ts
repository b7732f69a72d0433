import type { Cell } from '../../src/plan/cell.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { SlotStatus } from '../../src/plan/slot.ts';
import { type GatewayScript, ScriptedGateway } from './gateway/scripted-gateway.ts';
import { epoch } from './jobs.ts';
import { type MemoryStore, memoryStore } from './memory-store.ts';
import { planOf } from './plan.ts';
import {
  runVirtually,
  seededRandom,
  type VirtualRun,
  type VirtualRunOptions,
  virtualSettings,
} from './virtual-run.ts';

/** A pipeline of one imagine per cell, and what its path presses. */
export const grid = (cells: number, path = ''): string => `name: test
matrix: { n: { from: 1, to: ${cells} } }
steps:
  grid:
    imagine: "picture {{ n }}"
${path === '' ? '' : `    path: ${path}\n`}`;

/** A plan, what is durable, and the gateway: run after run against the same three. */
export interface World {
  readonly plan: Plan;
  readonly cells: readonly Cell[];
  readonly store: MemoryStore;
  readonly service: ScriptedGateway;
  /** Runs, or goes on a minute after the last run. */
  readonly run: (options?: Partial<VirtualRunOptions>) => VirtualRun;
  /** The same state and service after the pipeline was edited. */
  readonly edited: (text: string) => Promise<World>;
  /** Every slot's status, counted. */
  readonly statuses: () => Partial<Record<SlotStatus, number>>;
}

/** A world in which nothing has run yet. */
export async function world(text: string, script: GatewayScript = {}): Promise<World> {
  return worldOf(text, memoryStore(), new ScriptedGateway(script), epoch);
}

async function worldOf(
  text: string,
  store: MemoryStore,
  service: ScriptedGateway,
  from: number,
): Promise<World> {
  const { plan, cells } = await planOf(text);
  let startAt = from;
  return {
    plan,
    cells,
    store,
    service,
    run: (options) => {
      const result = runVirtually({
        cells,
        resolve: (cell, lookup) => plan.resolve(cell, lookup),
        settings: virtualSettings(),
        store,
        service,
        random: seededRandom(1),
        startAt,
        ...options,
      });
      startAt = result.endedAt + 60_000;
      return result;
    },
    edited: (next) => worldOf(next, store, service, startAt),
    statuses: () => {
      const counts: Partial<Record<SlotStatus, number>> = {};
      for (const cell of cells)
        for (const { status } of plan.resolve(cell, (key) => store.get(key)))
          counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    },
  };
}
