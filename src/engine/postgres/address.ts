import { EngineError } from './engine-error.ts';

/** How the connections to an engine are encrypted, as in libpq. */
export type SslMode = 'disable' | 'require' | 'verify-ca' | 'verify-full';

const sslModes: readonly string[] = [
  'disable',
  'require',
  'verify-ca',
  'verify-full',
] satisfies readonly SslMode[];

/** The address of an engine: `postgres://user:password@host:port/database?sslmode=…#run`. */
export interface EngineAddress {
  /** Host name or IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Absent: from PGPASSWORD or a password file, as `pg` finds it. Empty: no password, and none is looked up. */
  readonly password?: string;
  readonly database: string;
  readonly sslmode: SslMode;
  /** File of trusted certificate authorities; absent: those that Node.js trusts. */
  readonly sslrootcert?: string;
  /** Name of a run; absent where the address is of the engine as a whole. */
  readonly run?: string;
  /** `postgres://host:port` of the connections; for a socket, its folder is the host. */
  readonly origin: string;
  /** The address without its secrets and without the run. */
  readonly shown: string;
  /** Texts that must be masked in all output: the password, plain and as written in the address. */
  readonly secrets: readonly string[];
}

/** Whether a text is the address of an engine, and not a file or folder. */
export const isEngineAddress = (text: string): boolean => /^postgres(?:ql)?:\/\//i.test(text);

/** Parameters allowed in an address. */
const known: readonly string[] = ['sslmode', 'sslrootcert', 'host'];

const local = (host: string): boolean =>
  host.startsWith('/') || host === 'localhost' || host === '::1' || host.startsWith('127.');

const example = 'It has the form postgres://user:password@host:5432/database?sslmode=verify-full.';

/** Parses the address of an engine. @throws EngineError `engine.address` */
export function parseEngineAddress(text: string): EngineAddress {
  if (!isEngineAddress(text))
    throw new EngineError('address', 'The address of an engine begins with postgres://.', example);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text is not shown: a password with one of these characters ends the host early, and its rest could not be recognized.
  if (url === undefined || `${url.pathname}${url.search}${url.hash}`.includes('@')) {
    const hint = `${example} Characters of a password such as / ? # @ : % are written with % and two digits.`;
    throw new EngineError('address', 'The address of the engine is not a valid address.', hint);
  }
  const database = decoded(url.pathname.slice(1));
  const host = url.searchParams.get('host') ?? decoded(url.hostname.replace(/^\[|\]$/g, ''));
  const user = decoded(url.username);
  const password = decoded(url.password);
  const port = url.port === '' ? 5432 : Number(url.port);
  const shown = `postgres://${user === '' ? '' : `${encodeURIComponent(user)}@`}${url.host}/${url.pathname.slice(1)}`;
  const refuse = (what: string, hint: string = example): EngineError =>
    new EngineError('address', `The address of the engine ${shown} ${what}.`, hint);

  for (const name of url.searchParams.keys())
    if (!known.includes(name))
      throw refuse(
        `has an unknown setting: ${name}`,
        `Known settings: ${known.join(', ')}. A password belongs before the host.`,
      );
  if (host === '') throw refuse('names no host');
  if (user === '') throw refuse('names no user');
  if (database === '') throw refuse('names no database');
  const sslrootcert = url.searchParams.get('sslrootcert') ?? undefined;
  const run = url.hash === '' ? undefined : decoded(url.hash.slice(1));
  return {
    host,
    port,
    user,
    ...(password === '' ? {} : { password }),
    database,
    sslmode: sslMode(url, host, refuse),
    ...(sslrootcert === undefined || sslrootcert === 'system' ? {} : { sslrootcert }),
    ...(run === undefined || run === '' ? {} : { run }),
    origin: `postgres://${originHost(host)}:${port}`,
    shown,
    secrets: password === '' ? [] : [...new Set([password, url.password])],
  };
}

const originHost = (host: string): string =>
  host.startsWith('/') ? encodeURIComponent(host) : host.includes(':') ? `[${host}]` : host.toLowerCase();

function sslMode(url: URL, host: string, refuse: (what: string, hint?: string) => EngineError): SslMode {
  const mode = url.searchParams.get('sslmode');
  const ways =
    'sslmode=verify-full (encrypted, to this very host; with sslrootcert=FILE where the authority is your own), verify-ca, ' +
    'require (encrypted, to whoever answers) or disable (in a network that you trust).';
  if (mode === null) {
    if (local(host)) return 'disable';
    throw refuse('does not say whether its connections are encrypted', `Add ${ways}`);
  }
  if (sslModes.includes(mode)) return mode as SslMode;
  throw refuse(
    mode === 'prefer' || mode === 'allow'
      ? `asks for sslmode=${mode}, by which anybody between can switch the encryption off`
      : 'has an unknown sslmode',
    `Give ${ways}`,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
