import { readFileSync } from 'node:fs';
import type { ClientBase, Pool, PoolClient, PoolConfig } from 'pg';
import type { Clock } from '../../run/clock.ts';
import type { EngineAddress } from './address.ts';
import { EngineError, engineErrorOf } from './engine-error.ts';
import { EngineTroubles } from './troubles.ts';

/** The rows of a query result. */
export interface Rows<Row> {
  readonly rows: Row[];
}

/** A connection to an engine for queries. */
export interface Connection {
  /** Runs a query. @throws EngineError */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Rows<Row>>;
}

/** The connection pool of this process to an engine. */
export interface EnginePool extends Connection {
  /** The engine's address without its secrets, for messages. */
  readonly shown: string;
  /** Failures of the engine that the queries of this process have met. */
  readonly troubles: EngineTroubles;
  /** Runs a query that reads much, with a timeout of ten minutes. @throws EngineError */
  scan<Row>(text: string, values?: readonly unknown[]): Promise<Rows<Row>>;
  /** Runs work in one transaction, which is rolled back where the work throws. @throws EngineError, any error of the work */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Connection settings of an engine. */
export interface PoolSettings {
  readonly clock: Clock;
  /** Application name, which PostgreSQL shows with its connections: `promptpress worker`. */
  readonly name?: string;
  /** Largest number of connections. Default 3. */
  readonly connections?: number;
  /** How long to retry connecting, ms, for example while a server restarts. Only connecting is ever retried here. Default 0: no retry. */
  readonly patienceMs?: number;
  /** Timeout of a statement on the server, ms. Default 6000. */
  readonly statementMs?: number;
  /**
   * Timeout of an answer on the client, ms: a connection that is silent longer is closed. Longer than `statementMs`, so that the server
   * runs nothing any more once the client has given up. Default 8000.
   */
  readonly silentMs?: number;
}

const defaultStatementMs = 6000;
const defaultSilentMs = 8000;

/** Timeout of a query that reads much, ms. */
const scanMs = 600_000;

/** First delay before connecting is retried, ms; each further one is twice as long, up to `longestWaitMs`. */
const firstWaitMs = 100;
const longestWaitMs = 2000;

/** Timeout of a new connection, ms. */
const connectMs = 5000;

const ignore = (): void => undefined;

/** Returns the configuration of a connection pool. @param onLimit receives the server's maximum number of connections */
export function poolConfig(
  address: EngineAddress,
  settings: Omit<PoolSettings, 'clock' | 'patienceMs'>,
  onLimit: (connections: number) => void = ignore,
): PoolConfig {
  const {
    name = 'promptpress',
    connections = 3,
    statementMs = defaultStatementMs,
    silentMs = defaultSilentMs,
  } = settings;
  const { password } = address;
  const setUp = async (client: ClientBase): Promise<void> => {
    const { rows } = await client.query<{ most: number }>(
      `SELECT ${settingsOf(statementMs, silentMs)}, current_setting('max_connections')::int AS most`,
    );
    if (rows[0] !== undefined) onLimit(rows[0].most);
  };
  return {
    host: address.host,
    port: address.port,
    user: address.user,
    // A function replaces PGPASSWORD and password files, even where it returns an empty password.
    ...(password === undefined ? {} : { password: () => password }),
    database: address.database,
    ssl: tlsOf(address),
    application_name: name,
    max: connections,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    query_timeout: silentMs,
    // The pool waits for the returned promise.
    onConnect: (client): unknown => setUp(client),
  };
}

/**
 * Settings of a new connection, set by a statement because a pooler rejects most settings in the startup packet. Keep-alives let the server
 * notice within half a minute that a machine is gone; without them it may take two hours.
 */
const settingsOf = (statementMs: number, silentMs: number): string =>
  Object.entries({
    statement_timeout: statementMs,
    // A transaction whose client has gone must not keep its locks.
    idle_in_transaction_session_timeout: silentMs,
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 4,
    tcp_user_timeout: 30_000,
  })
    .map(([name, value]) => `set_config('${name}', '${value}', false)`)
    .join(', ');

/**
 * Keeps the process alive when a connection breaks. An idle one leaves the pool, and the next query gets another; on a busy one the next
 * query fails. The listeners exist from the start, because a server that shuts down may report it in the packet that completes the startup,
 * before the caller has the connection.
 */
export function outliveConnections(pool: Pool): void {
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
}

/** Creates a connection pool, which connects on the first query. */
export async function openPool(address: EngineAddress, settings: PoolSettings): Promise<EnginePool> {
  const { clock, patienceMs = 0, statementMs = defaultStatementMs, silentMs = defaultSilentMs } = settings;
  const { shown } = address;
  let most: number | undefined;
  const config = poolConfig(address, settings, (connections) => {
    most = connections;
  });
  const pg = (await import('pg')).default;
  const pool = new pg.Pool(config);
  outliveConnections(pool);
  const connect = (): Promise<PoolClient> =>
    connected(pool, clock, patienceMs, (failure) => failureOf(failure, shown, most));

  const using = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await connect();
    let failure: unknown;
    try {
      return await work(client);
    } catch (error) {
      failure = error;
      throw engineErrorOf(error, shown);
    } finally {
      release(client, failure);
    }
  };
  const query = <Row>(text: string, values: readonly unknown[] = []): Promise<Rows<Row>> =>
    using(async (client) => (await client.query(text, [...values])) as unknown as Rows<Row>);
  const transaction = <T>(
    work: (connection: Connection) => Promise<T>,
    begin: string,
    ms?: number,
  ): Promise<T> =>
    using(async (client) => {
      const ask = async <Row>(text: string, values: readonly unknown[] = []): Promise<Rows<Row>> => {
        const patient = ms === undefined ? {} : { query_timeout: ms };
        try {
          const found: unknown = await client.query({ text, values: [...values], ...patient });
          return found as Rows<Row>;
        } catch (error) {
          throw engineErrorOf(error, shown);
        }
      };
      await ask(begin);
      try {
        const result = await work({ query: ask });
        await ask('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK').catch(() => undefined);
        throw error;
      }
    });
  // Behind a pooler the next transaction may use a connection that another client has set up.
  const begin = `BEGIN; SET LOCAL statement_timeout = ${statementMs}; SET LOCAL idle_in_transaction_session_timeout = ${silentMs}`;
  const troubles = new EngineTroubles(clock);
  return {
    shown,
    troubles,
    query: (text, values) => troubles.watch(text, () => query(text, values)),
    scan: (text, values) =>
      troubles.watch(text, () =>
        transaction(
          (connection) => connection.query(text, values),
          `BEGIN READ ONLY; SET LOCAL statement_timeout = ${scanMs}`,
          scanMs + 2000,
        ),
      ),
    transaction: (work) => troubles.watch('transaction', () => transaction(work, begin)),
    close: async () => {
      await pool.end();
    },
  };
}

/** After an error of the server a connection is unchanged; any other failure closes it. */
function release(client: PoolClient, failure: unknown): void {
  const refused = failure === undefined || (failure instanceof Error && sqlState(failure) !== undefined);
  if (refused) {
    client.release();
    return;
  }
  client.release(true);
  // A silent connection would not even take the message that closes it.
  (
    client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
  ).connection.stream.destroy();
}

/** The SQLSTATE of the server, even where the error was reworded. */
function sqlState(error: Error): string | undefined {
  const from = error instanceof EngineError ? error.cause : error;
  const { code, severity } = (from ?? {}) as { code?: string; severity?: string };
  // After a fatal error the server has closed the connection.
  return severity === 'ERROR' ? code : undefined;
}

/** @param most the server's maximum number of connections; undefined where this process never had a connection */
function failureOf(failure: unknown, shown: string, most: number | undefined): unknown {
  const error = engineErrorOf(failure, shown);
  if (most === undefined || !(error instanceof EngineError) || error.code !== 'engine.connections')
    return error;
  const message = `${error.message} It has ${most} in all (max_connections).`;
  return new EngineError('connections', message, error.hint ?? '', failure);
}

async function connected(
  pool: Pool,
  clock: Clock,
  patienceMs: number,
  said: (failure: unknown) => unknown,
): Promise<PoolClient> {
  const until = clock.now() + patienceMs;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    try {
      return await pool.connect();
    } catch (failure) {
      const error = said(failure);
      const mayPass = error instanceof EngineError && error.mayPass;
      if (!mayPass || clock.now() + waitMs > until) throw error;
    }
    const at = clock.now() + waitMs;
    await new Promise<void>((resolve) => {
      clock.at(at, resolve);
    });
  }
}

function tlsOf({ sslmode, sslrootcert, shown }: EngineAddress): Exclude<PoolConfig['ssl'], undefined> {
  if (sslmode === 'disable') return false;
  // As in libpq: without a check of the certificate, encryption only prevents passive eavesdropping.
  if (sslmode === 'require') return { rejectUnauthorized: false };
  return {
    rejectUnauthorized: true,
    ...(sslrootcert === undefined ? {} : { ca: authorities(sslrootcert, shown) }),
    ...(sslmode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
  };
}

function authorities(file: string, shown: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const message = `sslrootcert of the engine ${shown} cannot be read: ${file}.`;
    throw new EngineError('tls', message, 'Name a readable file of certificates in PEM form.', cause);
  }
}
