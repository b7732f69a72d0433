import { StateError } from '../../state/store.ts';

/** What can be wrong with an engine. */
export type EngineFault =
  /** The address is none, or says too little. */
  | 'address'
  /** Nobody answers, or the connection broke. */
  | 'away'
  /** Encryption as the address asks for it is not possible. */
  | 'tls'
  | 'password'
  /** There is no such database. */
  | 'database'
  | 'rights'
  /** The server has no connection left. */
  | 'connections'
  /** What stands between does not let settings of a session through. */
  | 'pooler'
  /** PostgreSQL is too old. */
  | 'version'
  /** It is no primary server. */
  | 'standby'
  /** It acknowledges what is not yet on a disk. */
  | 'durability'
  | 'encoding'
  /** Its clock and the clock of this machine differ. */
  | 'clock'
  /** Nothing has run there. */
  | 'empty'
  /** Another release made its tables. */
  | 'schema'
  /** It can be used no more, while a run was at work on it: which of the others it is, its message says. */
  | 'lost'
  | 'readonly'
  | 'full'
  /** It answered too late. */
  | 'busy'
  /** Its rows hold what promptpress does not write. */
  | 'damaged'
  | 'io';

/** Faults that pass by themselves, or once somebody has done what is needed on the server: they are waited for. */
const passing: ReadonlySet<string> = new Set([
  'engine.away',
  'engine.busy',
  'engine.connections',
  'engine.full',
  'engine.readonly',
]);

/** The engine failed: what was committed is kept, and the same command continues. */
export class EngineError extends StateError {
  /** Whether it is waited for. */
  get mayPass(): boolean {
    return passing.has(this.code);
  }

  constructor(fault: EngineFault, message: string, hint: string, cause?: unknown) {
    super(`engine.${fault}`, message, cause === undefined ? { hint } : { hint, cause });
    this.name = 'EngineError';
  }
}

const again = 'give the same command again: nothing that was finished is lost';

/** What users are told of a fault, and what to do. */
const sayings: Readonly<
  Record<
    Exclude<EngineFault, 'address' | 'version' | 'durability' | 'clock' | 'empty' | 'lost'>,
    readonly [string, string]
  >
> = {
  away: ['does not answer', `Check that PostgreSQL runs there and can be reached from here, then ${again}.`],
  tls: [
    'cannot be reached over TLS as the address asks for it',
    'Check sslmode and sslrootcert in the address: verify-full checks the certificate and the name, verify-ca the certificate, require neither; disable does without TLS.',
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
    'does not allow this user what a run needs',
    'Its owner may: `ALTER DATABASE name OWNER TO user`. A superuser is not needed.',
  ],
  pooler: [
    'stands behind a pooler that refuses settings of a session',
    'Say `--queue lease` there: only the queue of BullMQ needs them. Or give the address of the server itself.',
  ],
  standby: ['is a standby, which nobody can write to', 'Give the address of the primary server.'],
  encoding: [
    'has a database that cannot hold all texts: its encoding is not UTF8',
    'Create one that can: `CREATE DATABASE name ENCODING utf8 TEMPLATE template0`.',
  ],
  schema: [
    'has not the tables and functions that this release needs',
    'Another release has changed them, or they were removed: use that release here, or begin the run again.',
  ],
  readonly: ['is read-only', `Find out why (default_transaction_read_only, a failover), then ${again}.`],
  full: ['has no space left on its disk', `Make room there, then ${again}.`],
  busy: ['is too busy', `Look for what keeps it so (locks, a slow disk), then ${again}.`],
  connections: [
    'has no connection left',
    `Each worker takes up to 3, and so does whoever leads a run: raise max_connections there, or end some of them, then ${again}.`,
  ],
  damaged: [
    'holds what promptpress does not write',
    'Somebody else has changed its rows, or they are damaged: restore its database from a backup, or remove the run (promptpress rm).',
  ],
  io: ['failed', `Look into the log of PostgreSQL, then ${again}.`],
};

/** An error in the words users read. @param shown the engine's address without its secrets */
export function engineError(fault: keyof typeof sayings, shown: string, cause?: unknown): EngineError {
  const [what, hint] = sayings[fault];
  const reason =
    cause instanceof Error && cause.message !== '' ? ` (${cause.message.split('\n', 1)[0]})` : '';
  return new EngineError(fault, `The engine ${shown} ${what}${reason}.`, hint, cause);
}

/**
 * Reads a document of an engine's rows, which others may have written.
 *
 * @param what it is, for the message: `the record of job …`
 * @throws EngineError `engine.damaged` where it is none
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

/** @param what is damaged: `the record of job …` */
export const damaged = (shown: string, what: string, cause?: unknown): EngineError =>
  engineError('damaged', shown, new Error(`${what} is none`, { cause }));

/** Conditions of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html), or whole classes of them. */
const conditions: Readonly<Record<string, keyof typeof sayings>> = {
  '08': 'away',
  // Statements take their values from rows too: a value that cannot be used there was written by others.
  '22': 'damaged',
  '23': 'damaged',
  '54': 'damaged',
  // What a release adds is there, and the row of its version does not say so: a column, a relation, a function, another object.
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

/** What an error of the client means; undefined where it is none of PostgreSQL or of the network, and so a bug. */
function faultOf(error: unknown): keyof typeof sayings | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  const { message } = error;
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in error) {
    if (code === '08P01' && /startup parameter/.test(message)) return 'pooler';
    // Said by a new connection where the disk is full, as an internal error.
    if (code === 'XX000' && message.startsWith('could not write init file')) return 'full';
    // An older server's or a damaged schema's: the check of its version has let it pass.
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

/** An error of PostgreSQL or of the network as users are told of it; a bug is returned unchanged. */
export function engineErrorOf(error: unknown, shown: string): unknown {
  if (error instanceof StateError) return error;
  if (error instanceof AggregateError && error.errors.length > 0)
    return engineErrorOf((error.errors as readonly unknown[])[0], shown);
  const fault = faultOf(error);
  return fault === undefined ? error : engineError(fault, shown, error);
}

/** What ends a run that is at work. */
export function lostEngine(error: EngineError): EngineError {
  if (error.code === 'engine.lost') return error;
  const hint =
    `${error.hint ?? ''} What was finished is kept: once that is mended, ${again.replace(/:.*/, '')}.`.trim();
  return new EngineError('lost', error.message, hint, error);
}
