import type { Task } from '../../../src/service/image-service.ts';
import type { ServiceResult } from '../../../src/service/result.ts';
import type { Delivered } from '../../rig/driven-service.ts';
import { ScriptedGateway } from '../../rig/gateway/scripted-gateway.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/plan.ts';
import { runVirtually, seededRandom, virtualSettings } from '../../rig/virtual-run.ts';
import { grid } from '../../rig/world.ts';
import type { Bench } from '../comparison.ts';
import { chance, minute, spread } from './workloads.ts';

/** A gateway that answers the first poll of a task once the task has ended: every end is seen at once. */
class AttentiveGateway extends ScriptedGateway {
  override fetch(id: string, now: number): Delivered<ServiceResult<Task>> {
    const endsAt = Math.max(now, this.tasks.get(id)?.endsAt ?? now);
    return { ...super.fetch(id, endsAt), afterMs: Math.max(endsAt - now, 1) };
  }
}

interface Order {
  readonly slots: number;
  readonly cells: number;
}

const sigma = 0.4;
const workload = spread(sigma);

/** A number of the request itself, so that both sides do the same work in whatever order. */
function numberOf(text: string): number {
  let hash = 0;
  for (const character of text) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0;
  return hash;
}

const durationOf = (work: { readonly prompt: string; readonly pressed: string }): number =>
  workload.durationMs(1, chance(17, numberOf(`${work.prompt}|${work.pressed}`)));

/** Virtual minutes that a run takes: grid → U1 → Vary for each cell, log-normal tasks of a minute. */
async function makespan({ slots, cells: count }: Order, isAttentive: boolean): Promise<number> {
  const { plan, cells } = await planOf(grid(count, 'U1 → Vary (Strong)'));
  const script = { duration: durationOf };
  const startAt = 1_700_000_000_000;
  const { end, endedAt } = runVirtually({
    cells,
    resolve: (cell, lookup) => plan.resolve(cell, lookup),
    // Polls that wait for the end keep a request each.
    settings: virtualSettings({ limits: { tasks: slots, requests: isAttentive ? 4 * slots : 32 } }),
    store: memoryStore(),
    service: isAttentive ? new AttentiveGateway(script) : new ScriptedGateway(script),
    random: seededRandom(1),
    startAt,
    maxTurns: 5_000_000,
  });
  if (end?.kind !== 'complete') throw new Error(`The run ended: ${JSON.stringify(end)}.`);
  return (endedAt - startAt) / minute;
}

/** What no order can beat: all work evenly on all slots, or the longest chain of one cell. */
function leastMinutes({ slots, cells }: Order): number {
  let [work, longest] = [0, 0];
  for (let n = 1; n <= cells; n++) {
    const chain = ['', '/U1', '/U1/Vary (Strong)'].reduce(
      (sum, pressed) => sum + durationOf({ prompt: `picture ${n}`, pressed }),
      0,
    );
    work += chain;
    longest = Math.max(longest, chain);
  }
  return Math.max(work / slots, longest) / minute;
}

const virtual = { rounds: 1, warmUp: false } as const;

const noticed = (order: Order): Bench => ({
  ...virtual,
  asks: `${order.slots} slots × ${order.cells * 3} tasks of a minute, sigma ${sigma}, grid → U1 → Vary, default poll: makespan against the same order with every end seen at once`,
  allowed: { ratioAtMost: 1.04 },
  prepare: () => ({
    unit: 'virtual minutes',
    left: { name: 'polled', measure: () => makespan(order, false) },
    right: { name: 'seen at once', measure: () => makespan(order, true) },
  }),
});

const ordered = (order: Order): Bench => ({
  ...virtual,
  asks: `${order.slots} slots × ${order.cells * 3} tasks: the order alone, every end seen at once, against max(work / slots, longest chain)`,
  prepare: () => ({
    unit: 'virtual minutes',
    left: { name: 'seen at once', measure: () => makespan(order, true) },
    right: { name: 'least', measure: () => leastMinutes(order) },
  }),
});

const few = { slots: 12, cells: 300 };
const many = { slots: 200, cells: 3000 };

export const makespans: Readonly<Record<string, Bench>> = {
  'makespan-12': noticed(few),
  'makespan-12-order': ordered(few),
  'makespan-200': noticed(many),
  'makespan-200-order': ordered(many),
};
