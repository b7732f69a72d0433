import { readFileSync } from 'node:fs';
import type { ClientBase, Pool, PoolClient, PoolConfig } from 'pg';
import type { Clock } from '../../run/clock.ts';
import type { EngineAddress } from './address.ts';
import { EngineError, engineErrorOf } from './engine-error.ts';
import { EngineTroubles } from './troubles.ts';

/** Rows of a query. */
export interface Rows<Row> {
  readonly rows: Row[];
}

/** What can be asked of an engine on one connection. */
export interface Connection {
  /** @throws EngineError */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Rows<Row>>;
}

/** The connections of this process to an engine. */
export interface EnginePool extends Connection {
  /** The engine's address without its secrets, for messages. */
  readonly shown: string;
  /** What the questions of this process have shown of the engine. */
  readonly troubles: EngineTroubles;
  /** The same for what reads much: up to ten minutes. @throws EngineError */
  scan<Row>(text: string, values?: readonly unknown[]): Promise<Rows<Row>>;
  /** Does some work in one transaction, which is undone where the work throws. @throws EngineError, what the work throws */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** How an engine is connected to. */
export interface PoolSettings {
  readonly clock: Clock;
  /** Shown by PostgreSQL beside its connections: `promptpress worker`. */
  readonly name?: string;
  /** Connections at most. Default 3. */
  readonly connections?: number;
  /**
   * How long it is tried to connect, ms, before that fails: a server that is started again is waited for. Only connecting is
   * ever repeated here. Default 0: it fails at once.
   */
  readonly patienceMs?: number;
  /** How long the server works on a statement at most, ms. Default 6000. */
  readonly statementMs?: number;
  /**
   * How long the client waits for an answer, ms: what is longer silent is no connection any more. Longer than `statementMs`, so that
   * the server executes nothing any more once the client has given up. Default 8000.
   */
  readonly silentMs?: number;
}

const defaultStatementMs = 6000;
const defaultSilentMs = 8000;

/** What reads much, ms. */
const scanMs = 600_000;

/** The first wait before a connection is tried again, ms; each further one is twice as long, up to `longestWaitMs`. */
const firstWaitMs = 100;
const longestWaitMs = 2000;

/** How long a new connection may take, ms. */
const connectMs = 5000;

const ignore = (): void => undefined;

/** How a pool of connections to an engine is set up. @param onLimit told how many connections the server has in all */
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
    // A function is asked in place of PGPASSWORD and password files, also where what it gives is empty.
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
    // What it returns is waited for.
    onConnect: (client): unknown => setUp(client),
  };
}

/**
 * What a connection is told first, by a statement: a pooler refuses most settings that come with the greeting. By the keep-alives the server
 * finds out within half a minute that a machine is gone: without them it may take two hours.
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
 * Keeps the process alive where a connection breaks. One that nobody uses leaves the pool, and whoever asks next gets another; of one that is
 * used, the next question says so. Listeners are there from the start: a server that goes away may say so in the very packet that ends the
 * greeting, before whoever waits for the connection has it.
 */
export function outliveConnections(pool: Pool): void {
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
}

/** Connects to an engine when it is first asked something. */
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
  // Behind a pooler the next transaction may be on a connection that somebody else has set up.
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

/** What the server refused leaves a connection as it was; any other failure is the end of it. */
function release(client: PoolClient, failure: unknown): void {
  const refused = failure === undefined || (failure instanceof Error && sqlState(failure) !== undefined);
  if (refused) {
    client.release();
    return;
  }
  client.release(true);
  // A silent connection would not even take a farewell.
  (
    client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
  ).connection.stream.destroy();
}

/** The condition that the server named, also where the error was put in other words. */
function sqlState(error: Error): string | undefined {
  const from = error instanceof EngineError ? error.cause : error;
  const { code, severity } = (from ?? {}) as { code?: string; severity?: string };
  // After a fatal one the server has hung up.
  return severity === 'ERROR' ? code : undefined;
}

/** @param most how many connections the server has in all; undefined: none was ever had here */
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
  // As libpq does: without a check of who answers, the encryption keeps out only those who listen.
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
