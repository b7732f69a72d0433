import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { checkServer, clockAhead } from '../../../src/engine/postgres/checks.ts';
import { checkTables, makeTables } from '../../../src/engine/postgres/make-tables.ts';
import { type EnginePool, openPool, type PoolSettings } from '../../../src/engine/postgres/pool.ts';
import type { Clock } from '../../../src/run/clock.ts';
import { StateError } from '../../../src/state/store.ts';
import { certificates } from '../../rig/certificates.ts';
import { asked } from '../../rig/postgres/asked.ts';
import { hasOwnPostgres, hasPostgres, ownServer, testDatabase } from '../../rig/postgres.ts';

const open: EnginePool[] = [];

async function pool(url: string, settings: Partial<PoolSettings> = {}): Promise<EnginePool> {
  const opened = await openPool(parseEngineAddress(url), { clock: wallClock, ...settings });
  open.push(opened);
  return opened;
}

interface Silencer extends AsyncDisposable {
  readonly port: number;
  /** From now on nothing gets through, and nobody is told. */
  silence(): void;
  /** New connections get through again. */
  speak(): void;
}

/** Stands between a client and a server, as a network does. */
async function silencer(to: number): Promise<Silencer> {
  let silent = false;
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const onward = connect(to, '127.0.0.1');
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (data) => silent || onward.write(data));
    onward.on('data', (data) => silent || client.write(data));
    client.on('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    silence: () => {
      silent = true;
    },
    speak: () => {
      silent = false;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

/** The code and message with which a promise is rejected. */
async function failure(work: Promise<unknown>): Promise<StateError> {
  const error: unknown = await work.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof StateError) return error;
  throw error;
}

describe.skipIf(!hasPostgres)('a PostgreSQL server', () => {
  it('is accepted with default settings, for a user without special rights', async () => {
    await using database = await testDatabase();
    const engine = await pool(database.url);
    await checkServer(engine);
    expect(Math.abs(await clockAhead(engine, Date.now))).toBeLessThan(60_000);

    const url = new URL(database.url);
    const user = `worker_${url.pathname.slice(1)}`;
    await database.query(`CREATE ROLE ${user} LOGIN PASSWORD 'geheim-7'`);
    url.username = user;
    url.password = 'geheim-7';
    const worker = await pool(url.href);
    await checkServer(worker);
    expect(await failure(makeTables(worker, { version: 1, sql: 'CREATE TABLE a (x int)' }))).toMatchObject({
      code: 'engine.rights',
    });
    url.password = 'geheim-8';
    const wrong = await failure((await pool(url.href)).query('SELECT 1'));
    expect(wrong.code).toBe('engine.password');
    expect(`${wrong.message} ${String(wrong.hint)}`).not.toContain('geheim');
    await worker.close();
    open.splice(0);
    await engine.close();
    await database.query(`DROP ROLE ${user}`);
  });

  it('is refused where it could lose data, or where its database cannot hold all texts', async () => {
    await using database = await testDatabase();
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    expect(await failure(checkServer(await pool(database.url)))).toMatchObject({
      code: 'engine.durability',
      message: expect.stringContaining('synchronous_commit is off') as string,
    });
    // Without a standby, the disk of this server is all there is.
    await database.query(`ALTER DATABASE ${name} SET synchronous_commit = local`);
    await checkServer(await pool(database.url));

    const latin = `${name}_latin`;
    await database.query(`CREATE DATABASE ${latin} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    const url = new URL(database.url);
    url.pathname = `/${latin}`;
    const engine = await pool(url.href);
    expect(await failure(checkServer(engine))).toMatchObject({ code: 'engine.encoding' });
    url.pathname = '/none';
    expect(await failure((await pool(url.href)).query('SELECT 1'))).toMatchObject({
      code: 'engine.database',
    });
    await engine.close();
    open.splice(open.indexOf(engine), 1);
    await database.query(`DROP DATABASE ${latin}`);
  });

  it('gets its tables once, however many processes create them', async () => {
    await using database = await testDatabase();
    const schema = { version: 2, sql: 'CREATE TABLE a (x int); CREATE TABLE b (x int)' };
    const engines = await Promise.all(Array.from({ length: 6 }, () => pool(database.url)));
    const [engine] = engines as [EnginePool];
    expect(await failure(checkTables(engine, schema))).toMatchObject({ code: 'engine.empty' });
    // What fails leaves nothing of it behind.
    await expect(makeTables(engine, { ...schema, sql: `${schema.sql}; SELECT 1/0` })).rejects.toThrow('zero');
    expect(await failure(checkTables(engine, schema))).toMatchObject({ code: 'engine.empty' });
    // Each remembers that there were none.
    await Promise.all(engines.map((each) => failure(checkTables(each, schema))));
    await Promise.all(engines.map((each) => makeTables(each, schema)));
    await Promise.all(engines.map((each) => checkTables(each, schema)));
    expect(await database.query('SELECT version FROM promptpress.schema_version')).toEqual([{ version: 2 }]);

    // A release of before, and one of later: neither takes anything, nor changes anything.
    for (const act of [makeTables, checkTables]) {
      const [later, before] = [
        { ...schema, version: 3 },
        { ...schema, version: 1 },
      ];
      expect(await failure(act(engine, later))).toMatchObject({
        code: 'engine.schema',
        message: expect.stringContaining(
          'an older release of promptpress (version 2; this release needs 3)',
        ) as string,
        hint: expect.stringContaining('Continue its runs with the release that began them') as string,
      });
      expect((await failure(act(engine, before))).message).toContain('a newer release');
    }
    // The same version with another function: a build between two releases.
    for (const act of [makeTables, checkTables]) {
      await act(engine, {
        ...schema,
        sql: `-- Said otherwise.\n${schema.sql.replace('; ', '; -- or so\n')}`,
      });
      expect(await failure(act(engine, { ...schema, sql: `${schema.sql}; SELECT 1` }))).toMatchObject({
        code: 'engine.schema',
        message: expect.stringContaining('another build of promptpress (version 2 in both') as string,
        hint: expect.stringContaining('Nothing was changed there.') as string,
      });
    }
    await database.query('ALTER TABLE promptpress.schema_version DROP COLUMN sha256');
    expect((await failure(checkTables(engine, schema))).message).toContain('another build');
    expect(await database.query('SELECT version FROM promptpress.schema_version')).toEqual([{ version: 2 }]);
  });

  it('rolls back a transaction whose work fails, and commits one whose work does not', async () => {
    await using database = await testDatabase();
    const engine = await pool(database.url);
    await engine.query('CREATE TABLE a (x int)');
    await expect(
      engine.transaction(async (connection) => {
        await connection.query('INSERT INTO a VALUES (1)');
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await engine.transaction((connection) => connection.query('INSERT INTO a VALUES ($1)', [2]));
    expect((await engine.scan('SELECT x FROM a')).rows).toEqual([{ x: 2 }]);
    expect(await failure(engine.scan('INSERT INTO a VALUES (3)'))).toMatchObject({ code: 'engine.readonly' });
    const { rows } = await engine.query(
      'SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()',
    );
    expect(rows).toEqual([{ application_name: 'promptpress' }]);
  });

  it('soon notices that a machine is gone, and ends statements, on every connection', async () => {
    await using database = await testDatabase();
    const engine = await pool(database.url, { connections: 2 });
    const shown = `SELECT current_setting('tcp_keepalives_idle') AS idle, current_setting('tcp_user_timeout') AS unheard,
      current_setting('statement_timeout') AS statement, current_setting('idle_in_transaction_session_timeout') AS open`;
    const both = await Promise.all([engine.query(`${shown}, pg_sleep(0.2)`), engine.query(shown)]);
    for (const { rows } of both)
      expect(rows[0]).toMatchObject({ idle: '10', unheard: '30000', statement: '6s', open: '8s' });
    // Behind a pooler the next transaction may be on a connection that was set up by somebody else.
    const pooled = await pool(database.url, { connections: 1 });
    await pooled.query('SET statement_timeout = 0');
    const { rows } = await pooled.transaction((connection) => connection.query('SHOW statement_timeout'));
    expect(rows).toEqual([{ statement_timeout: '6s' }]);
  });

  it('ends a statement before the client gives up, on both sides', async () => {
    await using database = await testDatabase();
    const engine = await pool(database.url, { statementMs: 50 });
    expect(await failure(engine.query('SELECT pg_sleep(30)'))).toMatchObject({ code: 'engine.busy' });
    expect((await engine.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it('is disconnected at once when it is silent: a half-open connection is not a connection', async () => {
    await using database = await testDatabase();
    await using between = await silencer(Number(new URL(database.url).port));
    const url = new URL(database.url);
    url.port = String(between.port);
    const engine = await pool(url.href, { silentMs: 100 });
    await engine.query('SELECT 1');
    between.silence();
    expect(await failure(engine.query('SELECT 1'))).toMatchObject({ code: 'engine.away' });
    between.speak();
    expect((await engine.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});

describe.skipIf(!hasOwnPostgres)('a server of its own', () => {
  it('is waited for as long as the patience lasts, and no longer', async () => {
    await using server = await ownServer();
    const engine = await pool(server.url());
    await engine.query('SELECT 1');
    await server.crash();
    expect(await failure(engine.query('SELECT 1'))).toMatchObject({
      code: 'engine.away',
      hint: expect.stringContaining('give the same command again') as string,
    });

    // Waits in which the clock jumps; with the third of them the server is there again.
    const waits: number[] = [];
    let now = 0;
    const clock: Clock = {
      now: () => now,
      at: (atMs, call) => {
        waits.push(atMs - now);
        now = atMs;
        if (waits.length === 3) void server.start().then(call);
        else setImmediate(call);
        return () => undefined;
      },
    };
    const patient = await pool(server.url(), { clock, patienceMs: 10_000 });
    expect((await patient.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(waits).toEqual([100, 200, 400]);
    await server.stop();
    expect(await failure(patient.query('SELECT 1'))).toMatchObject({ code: 'engine.away' });
    expect(now).toBeLessThanOrEqual(700 + 10_000);
  });

  it('without a free connection is waited for, and the message has the numbers', async () => {
    await using server = await ownServer({ max_connections: '4', superuser_reserved_connections: '0' });
    const ours = await pool(server.url());
    await ours.query('SELECT 1');
    const others = await Promise.all([0, 1, 2].map(async () => await pool(server.url())));
    const taken = others.map((other) => other.query('SELECT pg_sleep(3)'));
    await expect
      .poll(
        async () =>
          (await ours.query('SELECT pid FROM pg_stat_activity WHERE datname IS NOT NULL')).rows.length,
      )
      .toBe(4);
    const [, refused] = await Promise.allSettled([ours.query('SELECT pg_sleep(1)'), ours.query('SELECT 1')]);
    expect((refused as PromiseRejectedResult).reason).toMatchObject({
      code: 'engine.connections',
      mayPass: true,
      message: expect.stringMatching(
        /has no connection left .*It has 4 in all \(max_connections\)\.$/,
      ) as string,
      hint: expect.stringContaining('Each worker takes up to 3, and so does whoever leads a run') as string,
    });
    // Whoever has none yet knows no figure of the server's.
    const late = await pool(server.url());
    expect(await failure(late.query('SELECT 1'))).toMatchObject({ code: 'engine.connections' });
    const patient = await pool(server.url(), { patienceMs: 30_000 });
    const waiting = patient.query('SELECT 1 AS one');
    await Promise.all(taken);
    for (const other of others) await other.close();
    open.splice(0, open.length, ours, late, patient);
    expect((await waiting).rows).toEqual([{ one: 1 }]);
  });

  it('is refused without fsync, and reported as read-only', async () => {
    await using server = await ownServer({ fsync: 'off', default_transaction_read_only: 'on' });
    const engine = await pool(server.url());
    expect(await failure(checkServer(engine))).toMatchObject({ code: 'engine.durability' });
    expect(await failure(makeTables(engine, { version: 1, sql: 'CREATE TABLE a (x int)' }))).toMatchObject({
      code: 'engine.readonly',
    });
  });

  it('is reached over TLS as the address says, or not at all', async () => {
    const files = mkdtempSync(join(tmpdir(), 'promptpress-tls-'));
    await using server = await ownServer();
    const url = (more: string, host = '127.0.0.1'): string =>
      `${server.url().replace('127.0.0.1', host)}?${more}`;
    const encrypted = async (address: string): Promise<unknown> =>
      (await (await pool(address)).query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')).rows;
    expect(await failure(encrypted(url('sslmode=require')))).toMatchObject({ code: 'engine.tls' });

    server.write('server.key', certificates.key);
    server.write('server.crt', certificates.good);
    await asked(server.url(), 'ALTER SYSTEM SET ssl = on');
    await asked(server.url(), 'SELECT pg_reload_conf()');
    writeFileSync(join(files, 'ca.pem'), certificates.ca);
    const ours = `sslrootcert=${join(files, 'ca.pem')}`;
    await expect.poll(() => encrypted(url('sslmode=require')).catch(String)).toEqual([{ ssl: true }]);
    expect(await encrypted(url('sslmode=disable'))).toEqual([{ ssl: false }]);
    expect(await encrypted(url(`sslmode=verify-full&${ours}`))).toEqual([{ ssl: true }]);
    // The certificate is for 127.0.0.1, and signed by nobody whom Node.js knows.
    expect(await encrypted(url(`sslmode=verify-ca&${ours}`, 'localhost'))).toEqual([{ ssl: true }]);
    expect(await failure(encrypted(url(`sslmode=verify-full&${ours}`, 'localhost')))).toMatchObject({
      code: 'engine.tls',
    });
    expect(await failure(encrypted(url('sslmode=verify-full')))).toMatchObject({ code: 'engine.tls' });
    expect(await failure(pool(url('sslmode=verify-full&sslrootcert=/no/file')))).toMatchObject({
      code: 'engine.tls',
    });
    rmSync(files, { recursive: true });
  });
});
