import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { PostgresServer } from './postgres/server.ts';

/** A PgBouncer of a test, in transaction mode, before one PostgreSQL. */
export interface PgBouncer extends AsyncDisposable {
  /** The address through it. @param url of the server */
  through(url: string): string;
}

/** The user `nobody` of Debian: PgBouncer does not run as root. */
const nobody = 65_534;

/** Starts the `pgbouncer` of this machine, with Debian's defaults but for the mode. */
export async function startPgbouncer(folder: string, server: PostgresServer): Promise<PgBouncer> {
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'userlist.txt');
  await writeFile(users, `"postgres" "${server.password}"\n`);
  await writeFile(
    file,
    `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
max_client_conn = 100
default_pool_size = 20
`,
  );
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    await chmod(folder, 0o755);
    for (const own of [file, users]) await chown(own, nobody, nobody);
  }
  const child = spawn('pgbouncer', [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  });
  let said = '';
  for await (const text of child.stderr.setEncoding('utf8')) {
    said += String(text);
    if (said.includes('process up')) break;
  }
  if (child.exitCode !== null) throw new Error(`PgBouncer did not start:\n${said}`);
  child.stderr.resume();
  return {
    through: (url) => {
      const to = new URL(url);
      to.port = String(port);
      return to.href;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
