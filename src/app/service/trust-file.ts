import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { getuid } from 'node:process';
import { writeWhole } from '../../manifest/whole-file.ts';
import { makeFolders } from '../../state/files/folders.ts';
import type { Environment } from '../output/io.ts';

/** A permission of the user: the value of this variable may be sent to this origin. */
export interface Trust {
  /** Name of an environment variable. */
  readonly key: string;
  /** Origin in the form of {@link originOf}. */
  readonly origin: string;
}

/** Default variable of the key, which overrides the variables that a pipeline names. */
export const keyVariable = 'PROMPTPRESS_API_KEY';

/** The variable of the password for PostgreSQL. */
export const passwordVariable = 'PGPASSWORD';

/** The variable of the secret key of a bucket store; its id and session token are sent with it. */
export const secretKeyVariable = 'AWS_SECRET_ACCESS_KEY';

/** The contents of the trust file. */
export interface Remembered {
  readonly trusted: readonly Trust[];
  /** Why the file cannot be used; then nothing is trusted, and the file is not written. */
  readonly damage?: string;
}

/** Largest size of the trust file, in bytes. */
const maxBytes = 1_048_576;

const version = 1;

/** Returns `$XDG_STATE_HOME/promptpress/trust.json`; a relative folder is ignored, as the XDG specification asks. */
export function trustFile(env: Environment): string {
  const given = env['XDG_STATE_HOME'] ?? '';
  const home = env['HOME'] ?? '';
  const base = isAbsolute(given) ? given : join(isAbsolute(home) ? home : homedir(), '.local/state');
  return join(base, 'promptpress/trust.json');
}

/** Reads the trust file. If it cannot be read safely, nothing is trusted. */
export function readTrust(file: string): Remembered {
  try {
    const text = readPrivate(file, mayWrite);
    return text === undefined ? { trusted: [] } : { trusted: parseTrust(text) };
  } catch (error) {
    return { trusted: [], damage: `${file}: ${(error as Error).message}` };
  }
}

/** Writes the trust file as a whole, readable by its owner only. @throws the error of the file system */
export async function writeTrust(file: string, trusted: readonly Trust[]): Promise<void> {
  makeFolders(dirname(file), 0o700);
  const sorted = trusted.toSorted((a, b) => compare(a.origin, b.origin) || compare(a.key, b.key));
  await writeWhole(file, [`${JSON.stringify({ version, trusted: sorted }, undefined, 2)}\n`], {
    mode: 0o600,
  });
}

export const isTrusted = (trusted: readonly Trust[], { key, origin }: Trust): boolean =>
  trusted.some((one) => one.key === key && one.origin === origin);

/** Mode bits of other users: a file that they may write is not trusted. */
const mayWrite = 0o022n;

/**
 * Reads a small private file of the user.
 *
 * @param others mode bits that other users must not have
 * @returns undefined if there is no file @throws Error that says what is wrong with it
 */
export function readPrivate(file: string, others: bigint): string | undefined {
  let handle: number;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') throw new Error('it is a link', { cause: error });
    throw error;
  }
  try {
    refuseOthers(fstatSync(handle, { bigint: true }), others);
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}

function refuseOthers(found: BigIntStats, others: bigint): void {
  if (!found.isFile()) throw new Error('it is not a file');
  if (found.size > BigInt(maxBytes)) throw new Error('it is too large');
  const user = getuid?.();
  if (user === undefined) return;
  if (found.uid !== BigInt(user) && found.uid !== 0n) throw new Error('it belongs to another user');
  const verb = (found.mode & mayWrite) === 0n ? 'read' : 'write';
  if ((found.mode & others) !== 0n) throw new Error(`others may ${verb} it: chmod 600 prevents that`);
}

function parseTrust(text: string): readonly Trust[] {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
  const { version: found, trusted } = (read ?? {}) as {
    readonly version?: unknown;
    readonly trusted?: unknown;
  };
  if (typeof found === 'number' && found > version)
    throw new Error('it was written by a newer release of promptpress');
  if (found !== version || !Array.isArray(trusted) || !trusted.every(isTrust))
    throw new Error('it does not hold what promptpress trust writes');
  return trusted;
}

function isTrust(value: unknown): value is Trust {
  const { key, origin } = (value ?? {}) as { readonly key?: unknown; readonly origin?: unknown };
  return (
    typeof key === 'string' &&
    isVariableName(key) &&
    typeof origin === 'string' &&
    originOf(origin) === origin
  );
}

/**
 * Returns an address's origin: of `https://` as `URL.origin` writes it (ASCII, lower case, no default port), of an engine
 * `postgres://host:port` (or a socket's folder), of a bucket `s3://bucket`. Undefined: none.
 */
export function originOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, origin } = new URL(text);
  if (protocol === 's3:') return `s3://${hostname}`;
  if (!/^postgres(?:ql)?:$/.test(protocol)) return origin;
  const host = hostname.includes('%') ? hostname : hostname.toLowerCase();
  return `postgres://${host}:${port === '' ? '5432' : port}`;
}

/** Returns the default variable for an origin. */
export const keyOf = (origin: string): string =>
  origin.startsWith('s3://')
    ? secretKeyVariable
    : origin.startsWith('postgres://')
      ? passwordVariable
      : keyVariable;

/** Whether a text is a name that `${…}` in a pipeline can hold. */
export const isVariableName = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
