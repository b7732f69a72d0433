import { expect, it } from 'vitest';
import type { SliceQueue } from '../../../src/engine/queue/queue.ts';

/** Queues of several workers on one place, to be tried by what every queue promises. */
export interface QueueRig {
  /** A queue of a worker of its own. */
  open(leaseMs: number): Promise<SliceQueue>;
  /** Makes the run with these slices in the state, and feeds them. @returns its number */
  run(slices: readonly number[]): Promise<number>;
  /** The state says that a slice is done. */
  finish(run: number, slice: number): Promise<void>;
}

/** No lease of a test ends by itself, unless it waits for that. */
const long = 60_000;
const short = 1500;

/** What every queue promises; what is beyond that is a matter of the slices' epochs. */
export function describeQueue(rig: () => QueueRig): void {
  const rest = async (queue: SliceQueue, run: number): Promise<readonly number[]> => {
    const taken: number[] = [];
    for (;;) {
      const turn = await queue.take(run);
      if (turn === undefined) return taken;
      taken.push(turn.slice);
    }
  };

  it('gives each slice to one worker, in the order of the slices', async () => {
    const run = await rig().run([1, 2, 3, 4, 5, 6]);
    const [first, second] = [await rig().open(long), await rig().open(long)];
    expect(await first.take(run)).toEqual({ run, slice: 1 });
    const both = await Promise.all([rest(first, run), rest(second, run)]);
    expect(both.flat().toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6]);
  });

  it('gives back a slice to any worker after its delay', async () => {
    const run = await rig().run([1]);
    const [first, second] = [await rig().open(long), await rig().open(long)];
    const turn = await first.take(run);
    expect(turn).toEqual({ run, slice: 1 });
    await first.giveBack({ run, slice: 1 }, 60_000);
    expect(await second.take(run)).toBeUndefined();

    const other = await rig().run([2]);
    expect(await first.take(other)).toEqual({ run: other, slice: 2 });
    await first.giveBack({ run: other, slice: 2 }, 0);
    await expect.poll(() => second.take(other), { timeout: 10_000 }).toEqual({ run: other, slice: 2 });
  });

  it('forgets a slice that is done, and adds no second copy of a known one', async () => {
    const run = await rig().run([1, 2]);
    const queue = await rig().open(long);
    await queue.feed(run, [1, 2]);
    expect(await rest(queue, run)).toEqual([1, 2]);
    await rig().finish(run, 1);
    await queue.done({ run, slice: 1 });
    await queue.feed(run, [2]);
    expect(await queue.take(run)).toBeUndefined();
    expect(await queue.keep([{ run, slice: 2 }])).toEqual([]);
  });

  it('takes slices of the requested run, for several runs at once', async () => {
    const [one, two] = [await rig().run([1, 2]), await rig().run([1, 2])];
    const queue = await rig().open(long);
    expect(await queue.take(two)).toEqual({ run: two, slice: 1 });
    expect(await queue.take(one)).toEqual({ run: one, slice: 1 });
    expect(
      await queue.keep([
        { run: one, slice: 1 },
        { run: two, slice: 1 },
      ]),
    ).toEqual([]);
    await queue.giveBack({ run: two, slice: 1 }, 0);
    await queue.leave(two);
    expect(await rest(queue, one)).toEqual([2]);
    const taken: number[] = [];
    await expect
      .poll(
        async () => {
          taken.push(...(await rest(queue, two)));
          return taken.toSorted((a, b) => a - b);
        },
        { timeout: 10_000 },
      )
      .toEqual([1, 2]);
  });

  it('keeps a slice for a worker that renews it, and gives that of a dead one to another', async () => {
    const run = await rig().run([1, 2]);
    const [living, other] = [await rig().open(short), await rig().open(short)];
    expect(await living.take(run)).toEqual({ run, slice: 1 });
    const dead = await rig().open(short);
    expect(await dead.take(run)).toEqual({ run, slice: 2 });
    await expect
      .poll(
        async () => {
          expect(await living.keep([{ run, slice: 1 }])).toEqual([]);
          return other.take(run);
        },
        { timeout: 20_000, interval: short / 8 },
      )
      .toEqual({ run, slice: 2 });
    // The dead one comes back: the slice is not its own, and it ends nothing.
    expect(await dead.keep([{ run, slice: 2 }])).toEqual([{ run, slice: 2 }]);
    await dead.giveBack({ run, slice: 2 }, 0);
    await dead.done({ run, slice: 2 });
    expect(await other.keep([{ run, slice: 2 }])).toEqual([]);
  });

  it('gives a slice to the next worker, however often its workers die', async () => {
    const run = await rig().run([1]);
    for (let death = 0; death < 4; death += 1) {
      const queue = await rig().open(100);
      await expect.poll(() => queue.take(run), { timeout: 20_000, interval: 30 }).toEqual({ run, slice: 1 });
    }
  });
}
