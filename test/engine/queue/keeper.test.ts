import { expect, it } from 'vitest';
import { Keeper } from '../../../src/engine/queue/keeper.ts';
import type { Turn } from '../../../src/engine/queue/queue.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';

const leaseMs = 30_000;

function rig() {
  const time = new VirtualTime(0);
  const told: (readonly [number, readonly number[]])[] = [];
  const lost: number[] = [];
  const gone = new Set<number>();
  let isAway = false;
  const keeper = new Keeper(
    {
      keep: async (turns: readonly Turn[]) => {
        told.push([time.now, turns.map(({ slice }) => slice)]);
        if (isAway) throw new Error('away');
        return turns.filter(({ slice }) => gone.has(slice));
      },
    },
    time.clock(),
    { leaseMs, onLost: ({ slice }) => void lost.push(slice) },
  );
  return { time, told, lost, gone, keeper, away: (is: boolean) => void (isAway = is) };
}

it('tells of all slices at hand three times in a lease, and of none that has ended', async () => {
  const { time, told, keeper } = rig();
  await time.pass(11_000);
  expect(told).toEqual([]);
  const end = keeper.hold({ run: 1, slice: 1 });
  keeper.hold({ run: 1, slice: 2 });
  await time.pass(10_000);
  end();
  await time.pass(10_000);
  await keeper.stop();
  await time.pass(60_000);
  expect(told).toEqual([
    [20_000, [1, 2]],
    [30_000, [2]],
  ]);
});

it('says once that a slice is lost', async () => {
  const { time, lost, gone, keeper } = rig();
  keeper.hold({ run: 1, slice: 1 });
  keeper.hold({ run: 1, slice: 2 });
  gone.add(1);
  await time.pass(60_000);
  expect(lost).toEqual([1]);
  await keeper.stop();
});

it('goes on with its slices while the queue is away, and tells it soon that they are its own', async () => {
  const { time, told, lost, keeper, away } = rig();
  keeper.hold({ run: 1, slice: 1 });
  away(true);
  await time.pass(12_500);
  expect(told.map(([at]) => at)).toEqual([10_000, 11_000, 12_000]);
  expect(keeper.error).toMatchObject({ message: 'away' });
  away(false);
  await time.pass(10_000);
  expect([told.at(-1)?.[0], keeper.error, lost]).toEqual([13_000, undefined, []]);
  await keeper.stop();
});
