import { dirname, join } from 'node:path';
import type { EngineAddress } from '../../../engine/postgres/address.ts';
import type { EnginePool } from '../../../engine/postgres/pool.ts';
import type { ReceivedFile } from '../../../engine/slices/received-file.ts';
import type { Clock } from '../../../run/clock.ts';
import { StateError } from '../../../state/store.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../errors/cli-error.ts';
import { failureText } from '../../errors/render.ts';
import { admitKey, isOfEnvFile, mayGo } from '../trust.ts';
import { passwordVariable, trustFile } from '../trust-file.ts';

/** Variable that replaces `--engine`: the address contains a password, and everybody on the machine can see a command line. */
export const engineVariable = 'PROMPTPRESS_ENGINE';

/** An engine that was reached and whose tables have the version of this release. */
export interface OpenEngine {
  readonly address: EngineAddress;
  readonly pool: EnginePool;
  readonly clock: Clock;
  /** For a worker: the file that keeps answers while the engine is unavailable. */
  readonly received?: ReceivedFile;
}

/** How a command uses an engine. */
export interface EngineUse {
  /**
   * `run` makes or upgrades the tables; `worker` refuses those of another release; both refuse a server that could lose committed data.
   * `reading` accepts any server that holds runs of this release.
   */
  readonly as: 'run' | 'worker' | 'reading';
  /** Name that PostgreSQL shows beside the connections: `promptpress worker`. */
  readonly name: string;
  /** Largest number of connections. Default 3. */
  readonly connections?: number;
  /** If the server has no free connection, say so once and wait until the signal is aborted. Absent: fail at once. */
  readonly waits?: { readonly signal: AbortSignal; say(text: string): void };
  /** How long a server that does not answer is retried, ms. Default 0. */
  readonly patienceMs?: number;
}

/** Whether a word is the address of an engine, not a file or a folder. */
export const isEngineWord = (word: string): boolean => /^postgres(?:ql)?:\/\//i.test(word);

/** Makes the error for a command that works on run directories only. */
export const noEngineHere = (command: string, instead: string): CliError =>
  usageError(`promptpress ${command} takes no run on an engine: it works on run directories.`, instead);

/** Returns the address that the user gave, else that of the environment; undefined: none. */
export const givenEngine = (
  given: string | undefined,
  { env }: { readonly env: Context['io']['env'] },
): string | undefined => given ?? (env[engineVariable] === '' ? undefined : env[engineVariable]);

/** Variable that names a file with passwords, which `pg` reads by itself. */
const passwordFileVariable = 'PGPASSFILE';

/**
 * Returns the address of an engine with its password, which is masked in messages from then on. An address from a file of variables gets
 * passwords from that file, and others only if the user has allowed it.
 *
 * @param how whether the user may be asked
 * @throws CliError (exit 2) if no address is given, or a password may not be sent there; EngineError `engine.address`
 */
export async function readEngineAddress(
  given: string | undefined,
  context: Context,
  how = { mayAsk: true },
): Promise<EngineAddress> {
  const { io, redactor } = context;
  const text = givenEngine(given, io);
  if (text === undefined)
    throw usageError(
      'No engine is named.',
      `Give --engine postgres://user@host:5432/database, or set ${engineVariable} to it; put a password into the variable only.`,
    );
  const { parseEngineAddress } = await import('../../../engine/postgres/address.ts');
  const address = parseEngineAddress(text);
  const isFiles = isOfEnvFile(engineVariable, context) && text === io.env[engineVariable];
  const password = address.password ?? passwordFor(address, io.env, parseEngineAddress);
  for (const secret of [...address.secrets, ...(password === undefined ? [] : [password])])
    if (!isGuessed(secret, address)) redactor.addCredential(secret);
  if (password === undefined) {
    const wanted = { key: passwordFileVariable, origin: address.origin };
    return isFiles && !mayGo(wanted, context) ? { ...address, password: '' } : address;
  }
  if (isFiles && address.password === undefined)
    await admitKey({ key: passwordVariable, origin: address.origin }, engineVariable, context, how);
  return { ...address, password };
}

/** Whether a password is easily guessed. It is not masked, because masking it would make every address illegible. */
const isGuessed = (password: string, { user, database }: EngineAddress): boolean =>
  ['postgres', user, database].includes(password);

/** Returns the password from the environment for an address without one, for the same user and database. */
function passwordFor(
  { host, port, user, database }: EngineAddress,
  env: Context['io']['env'],
  parse: (text: string) => EngineAddress,
): string | undefined {
  const own = env[passwordVariable];
  if (own !== undefined && own !== '') return own;
  const text = givenEngine(undefined, { env });
  if (text === undefined) return undefined;
  try {
    const other = parse(text);
    const isSame =
      other.host === host && other.port === port && other.user === user && other.database === database;
    return isSame ? other.password : undefined;
  } catch {
    // The user was not asked about that address.
    return undefined;
  }
}

/**
 * Connects to an engine. `disposables` closes its connections.
 *
 * @param given address from a flag or an operand; absent: that of the environment
 * @throws CliError (exit 2), EngineError
 */
export async function openEngine(
  given: string | undefined,
  use: EngineUse,
  disposables: Disposables,
  context: Context,
): Promise<OpenEngine> {
  const address = await readEngineAddress(given, context);
  const [{ openPool }, { checkServer }, { checkTables, makeTables }, { engineSchema }] = await Promise.all([
    import('../../../engine/postgres/pool.ts'),
    import('../../../engine/postgres/checks.ts'),
    import('../../../engine/postgres/make-tables.ts'),
    import('../../../engine/schema.ts'),
  ]);
  const { as, name, connections, patienceMs } = use;
  const { clock } = context.io.machine;
  const pool = await openPool(address, {
    clock,
    name: `promptpress ${name}`,
    ...(connections === undefined ? {} : { connections }),
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
  disposables.add(() => pool.close());
  if (use.waits !== undefined) await freeConnection(pool, use.waits, clock);
  if (as !== 'reading') await checkServer(pool);
  if (as === 'run') await makeTables(pool, engineSchema);
  else await checkTables(pool, engineSchema);
  const received = as === 'reading' ? undefined : await openReceived(pool, disposables, context);
  return { address, pool, clock, ...(received && { received }) };
}

/** Opens the file for answers that arrive while the engine is unavailable. Undefined, with a warning, if it cannot be kept. */
async function openReceived(
  pool: OpenEngine['pool'],
  disposables: Disposables,
  { io }: Context,
): Promise<OpenEngine['received']> {
  const { ReceivedFile } = await import('../../../engine/slices/received-file.ts');
  const folder = join(dirname(trustFile(io.env)), 'heard');
  const warn = (text: string): void => io.err(failureText(`warning: ${text}`));
  try {
    const received = new ReceivedFile(folder, pool, warn, io.machine.clock);
    disposables.add(() => received.close());
    return received;
  } catch (error) {
    warn(
      `Answers that arrive while the engine is unavailable are lost if this process ends before it is back: they cannot be kept in ${folder} (${(error as Error).message}).`,
    );
    return undefined;
  }
}

const againMs = 2000;

async function freeConnection(
  pool: EnginePool,
  waits: NonNullable<EngineUse['waits']>,
  clock: Clock,
): Promise<void> {
  const { pause } = await import('../../../engine/slices/feeder.ts');
  for (let isSaid = false; ; isSaid = true) {
    try {
      await pool.query('SELECT 1');
      return;
    } catch (error) {
      const isFull = error instanceof StateError && error.code === 'engine.connections';
      if (!isFull || waits.signal.aborted) throw error;
      if (!isSaid) waits.say(`${error.message} promptpress waits for it.`);
    }
    await pause(clock, againMs, waits.signal);
  }
}
