import { StateError } from '../../state/store.ts';

/** The kinds of failure of an engine. */
export type EngineFault =
  /** The address is invalid or incomplete. */
  | 'address'
  /** The server does not answer, or the connection broke. */
  | 'away'
  /** The encryption that the address requires is not possible. */
  | 'tls'
  | 'password'
  /** The database does not exist. */
  | 'database'
  | 'rights'
  /** The server has no free connection. */
  | 'connections'
  /** A connection pooler in between blocks session settings. */
  | 'pooler'
  /** The PostgreSQL version is too old. */
  | 'version'
  /** The server is not a primary. */
  | 'standby'
  /** The server acknowledges data that is not yet on a disk. */
  | 'durability'
  | 'encoding'
  /** The clocks of the server and of this machine differ. */
  | 'clock'
  /** No run was ever made there. */
  | 'empty'
  /** The tables were made by another release. */
  | 'schema'
  /** The engine became unusable while a run was using it; the message says why. */
  | 'lost'
  | 'readonly'
  | 'full'
  /** The server answered too late. */
  | 'busy'
  /** Rows contain data that promptpress does not write. */
  | 'damaged'
  | 'io';

/** Failures that pass by themselves, or once the server is repaired: promptpress waits for that. */
const passing: ReadonlySet<string> = new Set([
  'engine.away',
  'engine.busy',
  'engine.connections',
  'engine.full',
  'engine.readonly',
]);

/** A failure of the engine: committed data is kept, and the same command continues the run. */
export class EngineError extends StateError {
  /** Whether the failure may pass, so that promptpress waits. */
  get mayPass(): boolean {
    return passing.has(this.code);
  }

  constructor(fault: EngineFault, message: string, hint: string, cause?: unknown) {
    super(`engine.${fault}`, message, cause === undefined ? { hint } : { hint, cause });
    this.name = 'EngineError';
  }
}

const again = 'give the same command again: nothing that was finished is lost';

/** The message for users per kind of failure, and what to do. */
const sayings: Readonly<
  Record<
    Exclude<EngineFault, 'address' | 'version' | 'durability' | 'clock' | 'empty' | 'lost'>,
    readonly [string, string]
  >
> = {
  away: ['does not answer', `Check that PostgreSQL runs there and can be reached from here, then ${again}.`],
  tls: [
    'cannot be reached over TLS as the address requires',
    'Check sslmode and sslrootcert in the address: verify-full checks the certificate and the name, verify-ca the certificate, require neither; disable uses no TLS.',
  ],
  password: [
    'refuses this user or password',
    'Check user and password in the address, and pg_hba.conf of the server.',
  ],
  database: [
    'has no such database',
    'Check the name in the address, or create it: `CREATE DATABASE name ENCODING utf8 TEMPLATE template0`.',
  ],
  rights: [
    'does not give this user the rights that a run needs',
    'Its owner may: `ALTER DATABASE name OWNER TO user`. A superuser is not needed.',
  ],
  pooler: [
    'stands behind a pooler that refuses settings of a session',
    'Use `--queue lease` there: only the queue of BullMQ needs them. Or give the address of the server itself.',
  ],
  standby: ['is a standby, which nobody can write to', 'Give the address of the primary server.'],
  encoding: [
    'has a database that cannot hold all texts: its encoding is not UTF8',
    'Create one that can: `CREATE DATABASE name ENCODING utf8 TEMPLATE template0`.',
  ],
  schema: [
    'does not have the tables and functions that this release needs',
    'Another release has changed them, or they were removed: use that release here, or begin the run again.',
  ],
  readonly: ['is read-only', `Find out why (default_transaction_read_only, a failover), then ${again}.`],
  full: ['has no space left on its disk', `Make room there, then ${again}.`],
  busy: ['is too busy', `Find the cause (locks, a slow disk), then ${again}.`],
  connections: [
    'has no connection left',
    `Each worker takes up to 3, and so does whoever leads a run: raise max_connections there, or end some of them, then ${again}.`,
  ],
  damaged: [
    'holds what promptpress does not write',
    'Somebody else has changed its rows, or they are damaged: restore its database from a backup, or remove the run (promptpress rm).',
  ],
  io: ['failed', `Check the log of PostgreSQL, then ${again}.`],
};

/** Creates the error of a failure, in words for users. @param shown the engine's address without its secrets */
export function engineError(fault: keyof typeof sayings, shown: string, cause?: unknown): EngineError {
  const [what, hint] = sayings[fault];
  const reason =
    cause instanceof Error && cause.message !== '' ? ` (${cause.message.split('\n', 1)[0]})` : '';
  return new EngineError(fault, `The engine ${shown} ${what}${reason}.`, hint, cause);
}

/**
 * Parses a document from a row of the engine, which others may have written.
 *
 * @param what names the document in the message: `the record of job …`
 * @throws EngineError `engine.damaged` where it is invalid
 */
export function documentOf<T>(
  text: string,
  isWhole: (value: unknown) => value is T,
  shown: string,
  what: string,
  parse: (text: string) => unknown = JSON.parse,
): T {
  let cause: unknown;
  try {
    const value = parse(text);
    if (isWhole(value)) return value;
  } catch (error) {
    cause = error;
  }
  throw damaged(shown, what, cause);
}

/** Creates the error for damaged data. @param what names the data: `the record of job …` */
export const damaged = (shown: string, what: string, cause?: unknown): EngineError =>
  engineError('damaged', shown, new Error(`${what} is none`, { cause }));

/** Conditions of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html), or whole classes of them. */
const conditions: Readonly<Record<string, keyof typeof sayings>> = {
  '08': 'away',
  // Statements take values from rows too: an unusable value was written by others.
  '22': 'damaged',
  '23': 'damaged',
  '54': 'damaged',
  // An object of a newer release exists although the version row does not say so: a column, a relation, a function or another object.
  '42701': 'damaged',
  '42P07': 'damaged',
  '42723': 'damaged',
  '42710': 'damaged',
  '28': 'password',
  '3D': 'database',
  '42501': 'rights',
  '42P01': 'schema',
  '42703': 'schema',
  '42883': 'schema',
  '3F': 'schema',
  '57P04': 'database',
  '25006': 'readonly',
  '53100': 'full',
  '53300': 'connections',
  '53': 'busy',
  '55P03': 'busy',
  '57014': 'busy',
  '57': 'away',
  '58': 'io',
  '40': 'busy',
  F0: 'io',
  XX: 'io',
};

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'ENOENT',
  'EACCES',
]);

/** Returns the kind of failure for an error of the client; undefined for an error of neither PostgreSQL nor the network, which is a bug. */
function faultOf(error: unknown): keyof typeof sayings | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  const { message } = error;
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in error) {
    if (code === '08P01' && /startup parameter/.test(message)) return 'pooler';
    // A new connection reports a full disk as an internal error.
    if (code === 'XX000' && message.startsWith('could not write init file')) return 'full';
    // A database of an older release, or a damaged one, that passed the version check.
    return conditions[code] ?? conditions[code.slice(0, 2)];
  }
  if (typeof code === 'string' && networkCodes.has(code)) return 'away';
  if (
    /\bCERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS|^ERR_SSL|^EPROTO/.test(String(code)) ||
    /support SSL/.test(message)
  )
    return 'tls';
  if (/^SASL|password must be/.test(message)) return 'password';
  if (
    /^Query read timeout|^Connection terminated|timeout (?:expired|exceeded)|not queryable|connection error/i.test(
      message,
    )
  )
    return 'away';
  return undefined;
}

/** Converts an error of PostgreSQL or of the network into an EngineError; returns a bug unchanged. */
export function engineErrorOf(error: unknown, shown: string): unknown {
  if (error instanceof StateError) return error;
  if (error instanceof AggregateError && error.errors.length > 0)
    return engineErrorOf((error.errors as readonly unknown[])[0], shown);
  const fault = faultOf(error);
  return fault === undefined ? error : engineError(fault, shown, error);
}

/** Returns the error that ends a run in progress. */
export function lostEngine(error: EngineError): EngineError {
  if (error.code === 'engine.lost') return error;
  const hint =
    `${error.hint ?? ''} What was finished is kept: once that is fixed, ${again.replace(/:.*/, '')}.`.trim();
  return new EngineError('lost', error.message, hint, error);
}
