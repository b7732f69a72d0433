import { type BullmqPlace, type BullmqRun, queueName, queueOptions, workerOptions } from './bullmq-queue.ts';

/** Time without any data after which a connection is closed, ms: otherwise a black hole would be waited for without end. */
const socketTimeoutMs = 5000;

/** Opens BullMQ on Redis. Slices that Redis loses are fed again from the state. @param url `redis://` or `rediss://` */
export async function bullmqOnRedis(url: string, leaseMs: number): Promise<BullmqPlace> {
  const [{ Queue, Worker }, { Redis }] = await Promise.all([import('bullmq'), import('ioredis')]);
  const options = {
    socketTimeout: socketTimeoutMs,
    connectTimeout: socketTimeoutMs,
    keepAlive: socketTimeoutMs,
    // Each caller repeats its command; commands that wait for an unavailable server would pile up.
    maxRetriesPerRequest: 1,
    retryStrategy: (times: number) => Math.min(2000, 50 * 2 ** Math.min(times, 6)),
  };
  const quiet = (connection: InstanceType<typeof Redis>): InstanceType<typeof Redis> =>
    connection.on('error', ignore);
  return {
    remove: async (run) => {
      const connection = quiet(new Redis(url, options));
      const queue = new Queue(queueName(run), { connection });
      queue.on('error', ignore);
      try {
        await queue.obliterate({ force: true });
      } finally {
        await queue.close().catch(ignore);
        connection.disconnect();
      }
    },
    open: async (run) => {
      const forQueue = quiet(new Redis(url, options));
      const forWorker = quiet(
        new Redis(url, { ...options, maxRetriesPerRequest: null, commandTimeout: socketTimeoutMs }),
      );
      const worker = new Worker<{ run: number; slice: number }>(queueName(run), null, {
        connection: forWorker,
        ...workerOptions(leaseMs),
      });
      const queue = new Queue<{ run: number; slice: number }>(queueName(run), {
        connection: forQueue,
        ...queueOptions,
      });
      worker.on('error', ignore);
      queue.on('error', ignore);
      return {
        worker,
        queue: queue as unknown as BullmqRun['queue'],
        close: async () => {
          await Promise.all([worker.close(true), queue.close()]);
          for (const connection of [forQueue, forWorker]) connection.disconnect();
        },
      };
    },
  };
}

const ignore = (): void => undefined;
