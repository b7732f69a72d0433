import { createRequire, isBuiltin } from 'node:module';
import runtime from 'node:process';

/** A value that SQLite stores. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A row by column name. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** The members of a prepared statement that both drivers have. */
interface RawStatement {
  run(...values: SqlValue[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
  iterate(...values: SqlValue[]): IterableIterator<unknown>;
}

/** The members of `DatabaseSync` that both drivers have. */
export interface RawDatabase {
  exec(sql: string): void;
  prepare(sql: string): RawStatement;
  close(): void;
}

/** A source of SQLite. */
export interface Driver {
  readonly name: 'node:sqlite' | '@photostructure/sqlite';
  /** Version of the SQLite library, for example `3.53.0`. */
  readonly version: string;
  open(location: string, options: { readonly readOnly: boolean }): RawDatabase;
}

type DatabaseConstructor = new (location: string, options: { readonly readOnly: boolean }) => RawDatabase;

const require = createRequire(import.meta.url);

/**
 * Loads SQLite without Node 22's warning that it is experimental, which does not help a user. The warning is raised while the module is
 * loaded, so it is suppressed for just that call, and no other warning is.
 */
function withoutExperimentalWarning<T>(work: () => T): T {
  const emitWarning = Reflect.get(runtime, 'emitWarning') as (...values: unknown[]) => void;
  runtime.emitWarning = (...values: unknown[]): void => {
    if (String(values[0]).startsWith('SQLite is an experimental feature')) return;
    Reflect.apply(emitWarning, runtime, values);
  };
  try {
    return work();
  } finally {
    runtime.emitWarning = emitWarning;
  }
}

function load(name: Driver['name']): Driver {
  const module = withoutExperimentalWarning(() => require(name) as { DatabaseSync: DatabaseConstructor });
  const { DatabaseSync } = module;
  const probe = new DatabaseSync(':memory:', { readOnly: false });
  try {
    const { version } = probe.prepare('SELECT sqlite_version() AS version').get() as { version: string };
    return { name, version, open: (location, options) => new DatabaseSync(location, options) };
  } finally {
    probe.close();
  }
}

/**
 * Whether a version of SQLite has the WAL-reset bug: 3.7.0 to 3.51.2 can corrupt a WAL database when two connections write and
 * checkpoint at one moment (https://sqlite.org/wal.html#walresetbug; repaired in 3.51.3, 3.50.7 and 3.44.6).
 */
export function hasWalResetBug(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (major !== 3) return major < 3;
  if (minor === 50) return patch < 7;
  if (minor === 44) return patch < 6;
  return minor < 51 || (minor === 51 && patch < 3);
}

/**
 * Chooses the first driver without the WAL-reset bug, in the given order; if all have it, the first that loads (with one writing
 * process and readers that never checkpoint, the bug does not occur).
 * @throws Error with every driver's own failure as `cause` (an AggregateError)
 */
export function chooseDriver(candidates: readonly (() => Driver)[]): Driver {
  const failures: unknown[] = [];
  let fallback: Driver | undefined;
  for (const candidate of candidates) {
    try {
      const driver = candidate();
      if (!hasWalResetBug(driver.version)) return driver;
      fallback ??= driver;
    } catch (failure) {
      failures.push(failure);
    }
  }
  if (fallback !== undefined) return fallback;
  throw new Error(
    'No SQLite could be loaded: this Node.js has no node:sqlite and @photostructure/sqlite does not load here. ' +
      'Use Node.js 22.13 or newer, or install the dependencies again with `npm ci`.',
    { cause: new AggregateError(failures) },
  );
}

let chosen: Driver | undefined;

/** Returns Node's own SQLite, or else the package with the same interface; loads it at the first call. */
export function sqliteDriver(): Driver {
  chosen ??= chooseDriver([
    ...(isBuiltin('node:sqlite') ? [() => load('node:sqlite')] : []),
    () => load('@photostructure/sqlite'),
  ]);
  return chosen;
}

/** Returns one driver by name; for tests that must hold with either. */
export function driverNamed(name: Driver['name']): Driver {
  return load(name);
}
