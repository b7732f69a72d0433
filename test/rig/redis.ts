import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';

/** A Redis of a test: it writes nothing, so what it knew is gone when it ends. */
export interface TestRedis extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
  /** On the same port. */
  start(): Promise<void>;
  restart(forMs: number): Promise<void>;
  /** It forgets everything. */
  flush(): Promise<void>;
}

/** Starts the `redis-server` of this machine. */
export async function startRedis(folder: string): Promise<TestRedis> {
  const port = await freePort();
  let child = await spawned(port, folder);
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  const start = async (): Promise<void> => {
    child = await spawned(port, folder);
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    stop,
    start,
    restart: async (forMs) => {
      await stop();
      await new Promise((resolve) => {
        setTimeout(resolve, forMs);
      });
      await start();
    },
    flush: async () => {
      const redis = new Redis(port);
      await redis.flushall();
      redis.disconnect();
    },
    [Symbol.asyncDispose]: stop,
  };
}

async function spawned(port: number, folder: string) {
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const child = spawn('redis-server', [...where, '--save', '', '--appendonly', 'no'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    said += String(text);
    if (said.includes('Ready to accept connections')) break;
  }
  child.stdout.resume();
  return child;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
