import { seededRandom, virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';
import type { Bench } from './comparison.ts';

const cells = 300;

/** A run whose tasks take 45 to 75 seconds, in virtual time: the same on every machine. Means over its tasks. */
async function polls(poll: { readonly minMs: number; readonly maxMs: number }) {
  const random = seededRandom(7);
  let lateMs = 0;
  const { run, service } = await world(grid(cells), {
    duration: () => 45_000 + random() * 30_000,
    onFetch: (taskId, _, at) => {
      lateMs += Math.max(0, at - (service.tasks.get(taskId)?.endsAt ?? at));
      return undefined;
    },
  });
  run({ settings: virtualSettings({ poll }) });
  if (service.tasks.size !== cells) throw new Error(`${service.tasks.size} tasks instead of ${cells}.`);
  return { polls: service.fetchTimes.length / cells, lateSeconds: lateMs / 1000 / cells };
}

const bench = (asks: string, unit: string, what: 'polls' | 'lateSeconds'): Bench => ({
  asks,
  prepare: () => {
    const side = (name: string, minMs: number, maxMs: number) => ({
      name,
      measure: async () => (await polls({ minMs, maxMs }))[what],
    });
    return { unit, left: side('learned pace', 1000, 15_000), right: side('every 5 s', 5000, 5000) };
  },
});

export const poll = bench(
  'how many requests it saves to learn how long tasks take',
  'polls per task',
  'polls',
);
export const notice = bench('and how much later the end of a task is seen for it', 's late', 'lateSeconds');
