import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CalmCrowd, calmCrowd, chaosRound, writeCrowd } from '../e2e/engine/round.ts';
import { startService } from '../e2e/engine/service-process.ts';
import { nothingWrong, wrongWith } from '../e2e/engine/wrong.ts';
import { startCli, temporaryFolder } from '../rig/cli.ts';
import { type PgBouncer, startPgbouncer } from '../rig/pgbouncer.ts';
import { asked } from '../rig/postgres/asked.ts';
import { installedAt } from '../rig/postgres/installation.ts';
import { type PostgresServer, startServer } from '../rig/postgres/server.ts';

/** Debian's; the newest. */
const versions = '/usr/lib/postgresql';
const [programs = ''] = readdirSync(versions)
  .map((version) => join(versions, version, 'bin'))
  .filter((bin) => existsSync(join(bin, 'postgres')))
  .sort()
  .reverse();

const numbers = 4;

describe('behind PgBouncer in transaction mode', () => {
  const open: AsyncDisposable[] = [];
  let server: PostgresServer;
  let bouncer: PgBouncer;
  let calm: CalmCrowd;
  beforeAll(async () => {
    const installation = await installedAt(programs);
    open.push(installation);
    server = await startServer(installation);
    const folder = await temporaryFolder();
    bouncer = await startPgbouncer(folder.path, server);
    open.push(server, folder, bouncer);
    calm = await calmCrowd(numbers);
  }, 120_000);
  afterAll(async () => {
    for (const each of open.reverse()) await each[Symbol.asyncDispose]();
  });

  it('a run whose processes are killed and stopped ends, and nothing is paid twice', async () => {
    const kill = (whom: number, forMs: number) => ({ kind: 'kill', whom, forMs }) as const;
    const plan = [
      { tasks: 2, ms: 100, does: kill(1, 300) },
      { tasks: 2, ms: 100, does: kill(0, 300) },
      { tasks: 2, ms: 100, does: { kind: 'stop', whom: 2, forMs: 5000 } as const },
      { tasks: 2, ms: 100, does: kill(0, 300) },
    ];
    const options = {
      seed: 21,
      queue: 'lease',
      numbers,
      leaseMs: 1500,
      faults: plan.length,
      plan,
      workers: 3,
    } as const;
    const round = await chaosRound(server, calm, {
      ...options,
      through: (url) => bouncer.through(url),
      patienceMs: 120_000,
    });
    const { found, why } = wrongWith(round);
    expect(found, why).toEqual({ ...nothingWrong, missed: round.missed });
  }, 300_000);

  it('a run whose lead was killed is led again within 15 s, and has 3 connections a process at most', async () => {
    await using folder = await temporaryFolder();
    await using service = await startService(folder.path);
    await writeCrowd(folder.path, numbers);
    await asked(server.url(), "CREATE DATABASE led ENCODING 'UTF8' TEMPLATE template0");
    const address = bouncer.through(server.url('led'));
    const command = ['run', 'crowd.yaml', '--engine', address, '--queue', 'lease', '--lease', '2s'];
    const begin = () => startCli(command, { cwd: folder.path, env: { ...service.env } });
    const killed = begin();
    await killed.said(/^Engine: /m);
    while ((await service.made()) < 2)
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    killed.child.kill('SIGKILL');
    await killed.done;
    const from = Date.now();
    const next = begin();
    await next.said(/^Engine: /m);
    expect(Date.now() - from).toBeLessThan(15_000);
    const clients = 'SELECT count(*)::int AS connections FROM pg_stat_activity WHERE datname = $1';
    const [row] = await asked<{ connections: number }>(server.url(), clients, ['led']);
    expect(row?.connections).toBeLessThanOrEqual(3);
    const { code, stderr } = await next.done;
    expect(code === 0 || code === 5, stderr).toBe(true);
  }, 120_000);

  it('a run with the queue of BullMQ is refused, and told what to say', async () => {
    await using folder = await temporaryFolder();
    await using service = await startService(folder.path);
    await writeCrowd(folder.path, numbers);
    await asked(server.url(), "CREATE DATABASE refused ENCODING 'UTF8' TEMPLATE template0");
    const address = bouncer.through(server.url('refused'));
    const { code, stderr } = await startCli(['run', 'crowd.yaml', '--engine', address], {
      cwd: folder.path,
      env: { ...service.env },
    }).done;
    expect(code, stderr).toBe(2);
    expect(stderr).toContain('stands behind a pooler that refuses settings of a session');
    expect(stderr).toContain('Use `--queue lease` there');
  }, 60_000);
});
