import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { copyCluster, handOver, type Installation, programOptions } from './installation.ts';

/** A PostgreSQL server of a test. */
export interface PostgresServer {
  readonly port: number;
  /** Of the process that starts all others of it; undefined while it is down. */
  readonly pid: number | undefined;
  readonly password: string;
  /** Writes a file beside its data that only it may read, such as a key. */
  write(name: string, text: string): void;
  /** What it has said since it was started first. */
  readonly log: () => string;
  /** The address of one of its databases, as its superuser. */
  url(database?: string): string;
  /** Ends it at once and without a last word, as a crash does. Resolves when it is gone. */
  crash(): Promise<void>;
  /** The same with SIGKILL to all of its processes, which leaves its lock file and its shared memory behind. */
  kill(): Promise<void>;
  /** Ends it in good order: its clients are told. */
  stop(): Promise<void>;
  /** Starts it again, on the same port. */
  start(): Promise<void>;
  /** Copies its data while it is down. @returns puts them back in place of what is there then, as often as it is called while it is down */
  backup(): Promise<() => Promise<void>>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Settings by name, as in `postgresql.conf`. */
export type PostgresSettings = Readonly<Record<string, string>>;

/** What every server of a test has: little memory, no socket file, and the promises of a real one. */
const base: PostgresSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '32MB',
  max_connections: '60',
  max_wal_size: '256MB',
  dynamic_shared_memory_type: 'mmap',
  jit: 'off',
  autovacuum_naptime: '5s',
  log_checkpoints: 'off',
  log_line_prefix: '%p ',
};

/**
 * Starts a server on a cluster of its own. It ends with {@link PostgresServer} `[Symbol.asyncDispose]`, and with the installation however
 * the process ends.
 */
export async function startServer(
  installation: Installation,
  settings: PostgresSettings = {},
): Promise<PostgresServer> {
  const cluster = await copyCluster(installation);
  const { folder, password } = installation;
  let log = '';
  let port = 0;
  let child: ChildProcess | undefined;
  let closed: Promise<unknown> = Promise.resolve();

  const spawnOnce = async (): Promise<boolean> => {
    const all = { ...base, ...settings, port: String(port) };
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    // A process group of its own: Ctrl-C in a terminal is for the test, which then ends the server.
    const spawned = spawn(join(folder, 'bin/postgres'), ['-D', cluster, ...args], {
      ...programOptions(folder),
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = spawned;
    const from = log.length;
    closed = new Promise((resolve) => {
      spawned.once('close', resolve);
    });
    return new Promise((resolve, reject) => {
      spawned.once('error', reject);
      spawned.once('close', () => {
        if (/could not bind|could not create any TCP/.test(log.slice(from))) resolve(false);
        else reject(new Error(`PostgreSQL did not start:\n${log.slice(from)}`));
      });
      spawned.stderr.setEncoding('utf8').on('data', (text: string) => {
        log += text;
        if (log.includes('database system is ready to accept connections', from)) resolve(true);
      });
    });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child?.exitCode === null && child.signalCode === null) child.kill(signal);
    await closed;
  };
  const start = async (): Promise<void> => {
    if (!(await spawnOnce())) throw new Error(`port ${port} of the stopped server was taken by another`);
  };

  // Between the question for a free port and its use another process may take it.
  for (let tries = 0; ; tries += 1) {
    port = await freePort();
    if (await spawnOnce()) break;
    if (tries === 5) throw new Error(`no free port for PostgreSQL:\n${log}`);
  }
  return {
    get port() {
      return port;
    },
    get pid() {
      return child?.exitCode === null && child.signalCode === null ? child.pid : undefined;
    },
    password,
    write: (name, text) => {
      const file = join(cluster, name);
      writeFileSync(file, text, { mode: 0o600 });
      handOver(file);
    },
    log: () => log,
    url: (database = 'postgres') => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`,
    crash: async () => {
      // The postmaster kills its processes with it: none of them says anything, nothing is written.
      await end('SIGQUIT');
    },
    kill: async () => {
      const { pid } = child ?? {};
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ');
      const gone = end('SIGKILL');
      for (const each of children) process.kill(Number(each), 'SIGKILL');
      // All of them hold its standard error.
      await gone;
    },
    stop: () => end('SIGINT'),
    start,
    backup: async () => {
      const copy = await copyCluster(installation, cluster);
      return async () => {
        await rm(cluster, { recursive: true, force: true });
        await copyCluster(installation, copy, cluster);
      };
    },
    [Symbol.asyncDispose]: async () => {
      await end('SIGQUIT');
      await rm(cluster, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === 'object' && address !== null ? address.port : 0;
}
