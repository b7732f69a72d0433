import { readBaseUrl } from '../../service/http/base-url.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors/cli-error.ts';
import { failureText } from '../errors/render.ts';
import type { Environment } from '../output/io.ts';
import type { Redactor } from '../output/redact.ts';
import type { ServiceSettings } from './settings.ts';
import {
  isTrusted,
  keyOf,
  keyVariable,
  originOf,
  type Remembered,
  readTrust,
  secretKeyVariable,
  type Trust,
  trustFile,
  writeTrust,
} from './trust-file.ts';

declare const admitted: unique symbol;

/** A service that may receive the key. Only {@link admit} makes one, and a client can only be opened with one. */
export type AdmittedService = ServiceSettings & { readonly [admitted]: true };

/** Variable that lists origins trusted with every key, for machines without permanent files. */
export const originsVariable = 'PROMPTPRESS_TRUSTED_ORIGINS';

/**
 * Checks that the key may be sent to a service. An address that the user gave himself is trusted, and so is the sandbox. An address from a
 * file may be a stranger's: it receives only the variable that the user was asked about, whatever its value and whatever else the file
 * says.
 *
 * Requests go only to the origin that is checked here: redirects are not followed, and links from the service are followed without the key.
 * A proxy must be named by the environment.
 *
 * Without a key (`service.auth: none`) there is nothing to ask about, unless a stranger may have named the address.
 *
 * @param file the pipeline as the user named it
 * @param mayAsk false for commands that never ask
 * @throws CliError (exit 2) if the origin is not trusted, with the ways to trust it; nothing has been sent then
 */
export async function admit(
  service: ServiceSettings,
  file: string,
  context: Context,
  how: Asking,
): Promise<AdmittedService> {
  if (service.baseUrl === undefined) return service as AdmittedService;
  if (service.apiKey === undefined && (service.isUsersAddress || how.isKeyless !== true))
    return service as AdmittedService;
  const wanted = { key: service.keyVariable ?? keyVariable, origin: new URL(service.baseUrl).origin };
  if (service.isUsersAddress) await admitKey(wanted, service.addressVariable, context, how);
  else await askFor(wanted, file, context, how);
  return service as AdmittedService;
}

interface Asking {
  readonly mayAsk: boolean;
  /** True: also ask if no key is sent, because files are sent to the address. Default: false. */
  readonly isKeyless?: boolean;
}

/**
 * Checks that the value of a variable may be sent to an address from another variable. The author of a file of variables does not know the
 * values of the environment: an address in such a file receives none of them unasked, only values of the file itself.
 *
 * @param address variable that names the address; absent: the user wrote it
 * @throws CliError (exit 2) if the address is not trusted, before anything is sent
 */
export async function admitKey(
  wanted: Trust,
  address: string | undefined,
  context: Context,
  how: Asking,
): Promise<void> {
  const { envFile } = context;
  if (!isOfEnvFile(address, context) || envFile?.names.has(wanted.key)) return;
  await askFor(wanted, envFile?.file ?? '', context, how);
}

/**
 * Checks that the keys of a store may be used with a bucket. A bucket that the user names is remembered as trusted, because later only the
 * state or another machine names it.
 *
 * @param namedBy the state that names the bucket, for messages; absent: the user did
 * @throws CliError (exit 2) if the bucket is not trusted, before anything is sent
 */
export const admitBucket = (bucket: string, namedBy: string | undefined, context: Context): Promise<void> =>
  admitNamed({ key: secretKeyVariable, origin: `s3://${bucket}` }, namedBy, context);

/** The same for any address that a state names later: an engine whose jobs are taken over. */
export async function admitNamed(
  wanted: Trust,
  namedBy: string | undefined,
  context: Context,
): Promise<void> {
  if (namedBy !== undefined) return await askFor(wanted, namedBy, context, { mayAsk: true });
  if (mayGo(wanted, context)) return;
  noteAllowed(wanted, context);
  const file = trustFile(context.io.env);
  const { trusted, damage } = readTrust(file);
  // If nothing can be kept, the user names it again next time.
  if (damage === undefined) await writeTrust(file, [...trusted, wanted]).catch(() => undefined);
}

/** Whether a variable came from a file of variables, not from the environment. */
export const isOfEnvFile = (variable: string | undefined, { envFile }: Context): boolean =>
  variable !== undefined && envFile?.names.has(variable) === true;

/** Answers of the user to this command, even if they cannot be saved. The redactor is the one object that a whole command shares. */
const allowed = new WeakMap<Redactor, Set<string>>();

const textOf = ({ key, origin }: Trust): string => `${key} ${origin}`;

function noteAllowed(wanted: Trust, { redactor }: Context): void {
  const said = allowed.get(redactor) ?? new Set();
  said.add(textOf(wanted));
  allowed.set(redactor, said);
}

/** Whether the user has allowed a value to be sent to an address. @throws CliError (exit 2) as {@link readOrigin} does */
export function mayGo(wanted: Trust, { io: { env }, redactor }: Context): boolean {
  if (allowed.get(redactor)?.has(textOf(wanted)) === true) return true;
  if (trustedOrigins(env).includes(wanted.origin)) return true;
  return isTrusted(readTrust(trustFile(env)).trusted, wanted);
}

/** Asks the user. @param file that names the address @throws CliError (exit 2) */
async function askFor(wanted: Trust, file: string, context: Context, { mayAsk }: Asking): Promise<void> {
  const { io } = context;
  if (mayGo(wanted, context)) return;
  const memory = trustFile(io.env);
  const remembered = readTrust(memory);
  showDamage(remembered, context);
  if (!mayAsk || io.ask === undefined) throw notTrusted(wanted, file, 'is not trusted with it yet');
  const typed = await io.ask(questionOf(wanted));
  if (!/^\s*y(?:es)?\s*$/i.test(typed ?? '')) throw notTrusted(wanted, file, 'was not trusted with it');
  noteAllowed(wanted, context);
  await remember(memory, remembered, wanted, context);
}

/** Reads the variable. @throws CliError (exit 2) for a text that is not an origin: it might mean one that is not trusted */
function trustedOrigins(env: Environment): readonly string[] {
  const words = (env[originsVariable] ?? '').split(/[\s,]/).filter((word) => word !== '');
  return words.map((word) => readOrigin(word, originsVariable));
}

/**
 * Returns the origin of an address, in the form of {@link originOf}: the origin that requests go to.
 * @param from where the address came from, for the message
 * @throws CliError (exit 2)
 */
export function readOrigin(text: string, from: string): string {
  const origin = originOf(text);
  if (origin !== undefined && /^(?:postgres|s3):\/\/[^/]/.test(origin)) return origin;
  const read = readBaseUrl(text);
  if (read.ok) return new URL(read.value).origin;
  throw usageError(
    `${read.error.message} It comes from ${from}.`,
    'An origin looks like this: https://gateway.example',
  );
}

/** Returns an origin such as `https://x`, with warnings for a user who is about to send it a key. */
export function originWords(origin: string): string {
  const { protocol, hostname } = new URL(origin);
  const reasons = [
    ...(protocol === 'http:' ? ['plain http: unencrypted'] : []),
    ...(/(?:^|\.)xn--/.test(hostname) ? ['xn-- stands for letters that may look like others'] : []),
  ];
  return reasons.length === 0 ? origin : `${origin} (${reasons.join('; ')})`;
}

const questionOf = ({ key, origin }: Trust): string => `Send $${key} to ${originWords(origin)}? [y/N] `;

const notTrusted = ({ key, origin }: Trust, file: string, why: string): Error =>
  usageError(
    `$${key} was not sent to ${originWords(origin)}: that address is written in ${file}, and ${why}.`,
    [
      'If you know it, trust it in one of these ways:',
      `promptpress trust ${origin}${key === keyOf(origin) ? '' : ` --key ${key}`}`,
      `${originsVariable}=${origin}`,
    ].join('\n'),
  );

/** Warns once that the trust file cannot be used. */
function showDamage({ damage }: Remembered, { io }: Context): void {
  if (damage === undefined) return;
  const hint = 'Move it away; promptpress trust ORIGIN writes it again.';
  io.err(failureText(`warning: What you trust cannot be read, so nothing is trusted. ${damage}`, hint));
}

/** Saves the answer. It counts for this command even if it cannot be saved. */
async function remember(
  place: string,
  { trusted, damage }: Remembered,
  wanted: Trust,
  { io }: Context,
): Promise<void> {
  if (damage !== undefined) return;
  try {
    await writeTrust(place, [...trusted, wanted]);
  } catch (error) {
    const message = `warning: Your answer could not be remembered: ${(error as Error).message}`;
    io.err(failureText(message));
  }
}
