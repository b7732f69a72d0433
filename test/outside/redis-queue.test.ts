import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../src/cli/adapters/clock.ts';
import { BullmqQueue } from '../../src/engine/queue/bullmq-queue.ts';
import { bullmqOnRedis } from '../../src/engine/queue/bullmq-redis.ts';
import type { SliceQueue } from '../../src/engine/queue/queue.ts';
import { describeQueue, type QueueRig } from '../engine/queue/contract.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { startRedis, type TestRedis } from '../rig/redis.ts';

describe('BullMQ on Redis', async () => {
  let server: TestRedis;
  const folder = await temporaryFolder();
  let runs = 0;
  const opened: SliceQueue[] = [];
  beforeAll(async () => {
    server = await startRedis(folder.path);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((queue) => queue.close()));
    await server.flush();
  });
  afterAll(async () => {
    await server.stop();
    await folder[Symbol.asyncDispose]();
  });

  const open = async (leaseMs: number): Promise<SliceQueue> => {
    const place = await bullmqOnRedis(server.url, leaseMs);
    const queue = new BullmqQueue(place, {
      worker: `worker-${runs}-${opened.length}`,
      leaseMs,
      clock: wallClock,
    });
    opened.push(queue);
    return queue;
  };
  const rig: QueueRig = {
    open,
    run: async (slices) => {
      runs += 1;
      await (await open(60_000)).feed(runs, slices);
      return runs;
    },
    finish: async () => undefined,
  };
  describeQueue(() => rig);

  it('keeps nothing of a run that was removed', async () => {
    const run = await rig.run([1, 2]);
    const queue = await open(60_000);
    await queue.take(run);
    await queue.remove(run);
    const redis = new Redis(server.url);
    expect(await redis.keys('*')).toEqual([]);
    redis.disconnect();
    await queue.feed(run, [2]);
    expect(await queue.take(run)).toEqual({ run, slice: 2 });
  });

  it('rejects while Redis is away, and goes on when it is back with what it is fed again', async () => {
    const run = await rig.run([1, 2]);
    const queue = await open(2000);
    expect(await queue.take(run)).toEqual({ run, slice: 1 });
    await server.stop();
    await expect(queue.take(run)).rejects.toThrow(/Connection|Command|timed out|ECONNREFUSED/);
    await server.start();
    // A slice whose answer is lost with a connection is taken all the same, and comes again when its lease is over.
    const taken = new Set<number>();
    const feedAndTake = async (): Promise<readonly number[]> => {
      await queue.feed(run, [1, 2]);
      const turn = await queue.take(run);
      if (turn !== undefined) taken.add(turn.slice);
      return [...taken].sort((a, b) => a - b);
    };
    await expect.poll(feedAndTake, { timeout: 20_000 }).toEqual([1, 2]);
  });
});
