import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../src/cli/adapters/clock.ts';
import { BullmqQueue } from '../../src/engine/queue/bullmq-queue.ts';
import { bullmqOnRedis } from '../../src/engine/queue/bullmq-redis.ts';
import type { SliceQueue } from '../../src/engine/queue/queue.ts';
import { describeQueue, type QueueRig } from '../engine/queue/contract.ts';
import { temporaryFolder } from '../rig/cli.ts';

/** A Redis that writes nothing, on a port of its own. */
async function startRedis(port: number, folder: string): Promise<() => Promise<void>> {
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    said += String(text);
    if (said.includes('Ready to accept connections')) break;
  }
  child.stdout.resume();
  return async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('BullMQ on Redis', async () => {
  let stop: () => Promise<void>;
  const folder = await temporaryFolder();
  const port = await freePort();
  let runs = 0;
  const opened: SliceQueue[] = [];
  beforeAll(async () => {
    stop = await startRedis(port, folder.path);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((queue) => queue.close()));
    const redis = new Redis(port);
    await redis.flushall();
    redis.disconnect();
  });
  afterAll(async () => {
    await stop();
    await folder[Symbol.asyncDispose]();
  });

  const open = async (leaseMs: number): Promise<SliceQueue> => {
    const place = await bullmqOnRedis(`redis://127.0.0.1:${port}`, leaseMs);
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
    const redis = new Redis(port);
    expect(await redis.keys('*')).toEqual([]);
    redis.disconnect();
    await queue.feed(run, [2]);
    expect(await queue.take(run)).toEqual({ run, slice: 2 });
  });

  it('rejects while Redis is away, and goes on when it is back with what it is fed again', async () => {
    const run = await rig.run([1, 2]);
    const queue = await open(60_000);
    expect(await queue.take(run)).toEqual({ run, slice: 1 });
    await stop();
    await expect(queue.take(run)).rejects.toThrow(/Connection|Command|timed out|ECONNREFUSED/);
    stop = await startRedis(port, folder.path);
    await expect
      .poll(() => queue.feed(run, [1, 2]).then(() => queue.take(run)), { timeout: 20_000 })
      .toEqual({ run, slice: 1 });
    expect(await queue.take(run)).toEqual({ run, slice: 2 });
  });
});
