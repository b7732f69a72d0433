import { type BullmqPlace, queueName, queueOptions, workerOptions } from './bullmq-queue.ts';

/** A connection on which nothing comes back for so long is none any more, ms: without this a black hole is waited for without end. */
const socketTimeoutMs = 5000;

/** BullMQ on Redis. What Redis forgets is fed again from the state. @param url `redis://` or `rediss://` */
export async function bullmqOnRedis(url: string, leaseMs: number): Promise<BullmqPlace> {
  const [{ Queue, Worker }, { Redis }] = await Promise.all([import('bullmq'), import('ioredis')]);
  const options = {
    socketTimeout: socketTimeoutMs,
    connectTimeout: socketTimeoutMs,
    keepAlive: socketTimeoutMs,
    // Each verb is repeated by who asked; commands that wait for a server that is away would pile up.
    maxRetriesPerRequest: 1,
    retryStrategy: (times: number) => Math.min(2000, 50 * 2 ** Math.min(times, 6)),
  };
  const forQueue = new Redis(url, options);
  const forWorker = new Redis(url, {
    ...options,
    maxRetriesPerRequest: null,
    commandTimeout: socketTimeoutMs,
  });
  for (const connection of [forQueue, forWorker]) connection.on('error', ignore);
  const worker = new Worker<{ run: number; slice: number }>(queueName, null, {
    connection: forWorker,
    ...workerOptions(leaseMs),
  });
  const queue = new Queue<{ run: number; slice: number }>(queueName, {
    connection: forQueue,
    ...queueOptions,
  });
  worker.on('error', ignore);
  queue.on('error', ignore);
  return {
    worker,
    queue: queue as unknown as BullmqPlace['queue'],
    close: async () => {
      await Promise.all([worker.close(true), queue.close()]);
      for (const connection of [forQueue, forWorker]) connection.disconnect();
    },
  };
}

const ignore = (): void => undefined;
