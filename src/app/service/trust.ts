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

/** A service that the key may be sent to. Only {@link admit} makes one, and only with one can a client be opened. */
export type AdmittedService = ServiceSettings & { readonly [admitted]: true };

/** Origins that the environment says are trusted with every key, for machines where nothing can be kept. */
export const originsVariable = 'PROMPTPRESS_TRUSTED_ORIGINS';

/**
 * Lets the key go to a service, or does not. An address that the user gave himself is trusted, and so is the sandbox. One that
 * a file names may be a stranger's: it is trusted with the variable that the user was asked about, whatever that holds and
 * whatever else the file says, and with no other.
 *
 * Requests go to the origin that is judged here and to no other: redirects are not followed, and links that the
 * service gives are followed without the key. A proxy is one that the environment names.
 *
 * Where there is no key (`service.auth: none`) there is nothing to ask about, unless a stranger may have named the address.
 *
 * @param file the pipeline as the user named it
 * @param mayAsk false for commands that never ask
 * @throws CliError (exit 2) where the origin is not trusted, with the ways to trust it; nothing has been sent then
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

/** Whether a user may be asked: false for commands that never ask. */
interface Asking {
  readonly mayAsk: boolean;
  /** Also where no key goes there: what is sent beside it, such as files, is for an address that the user knows. Default: not then. */
  readonly isKeyless?: boolean;
}

/**
 * Lets the value of a variable go to an address that another variable names. Whoever wrote a file of variables does not know the values of
 * the environment: an address of such a file gets none of them unasked. What stands in the file itself may go where the file says.
 *
 * @param address variable that names the address; absent: the user wrote it
 * @throws CliError (exit 2) where it is not trusted, before anything is sent
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
 * Lets the keys of a store be used with a bucket. One that the user names is remembered: the state that it is written into, or another machine,
 * says it from then on.
 *
 * @param namedBy the state that names it, for messages; absent: the user did
 * @throws CliError (exit 2) where it is not trusted, before anything is sent
 */
export async function admitBucket(
  bucket: string,
  namedBy: string | undefined,
  context: Context,
): Promise<void> {
  const wanted = { key: secretKeyVariable, origin: `s3://${bucket}` };
  if (namedBy !== undefined) return await askFor(wanted, namedBy, context, { mayAsk: true });
  if (mayGo(wanted, context)) return;
  hear(wanted, context);
  const file = trustFile(context.io.env);
  const { trusted, damage } = readTrust(file);
  // Where nothing can be kept he names it again.
  if (damage === undefined) await writeTrust(file, [...trusted, wanted]).catch(() => undefined);
}

/** Whether a variable came from a file of variables, and not from the environment. */
export const isOfEnvFile = (variable: string | undefined, { envFile }: Context): boolean =>
  variable !== undefined && envFile?.names.has(variable) === true;

/** What the user has said to this command, also where it cannot be kept. Its redactor is the one thing that all of a command has in common. */
const heard = new WeakMap<Redactor, Set<string>>();

const textOf = ({ key, origin }: Trust): string => `${key} ${origin}`;

function hear(wanted: Trust, { redactor }: Context): void {
  const said = heard.get(redactor) ?? new Set();
  said.add(textOf(wanted));
  heard.set(redactor, said);
}

/** Whether the user has said already that a value may go to an address. @throws CliError (exit 2) as {@link readOrigin} does */
export function mayGo(wanted: Trust, { io: { env }, redactor }: Context): boolean {
  if (heard.get(redactor)?.has(textOf(wanted)) === true) return true;
  if (trustedOrigins(env).includes(wanted.origin)) return true;
  return isTrusted(readTrust(trustFile(env)).trusted, wanted);
}

/** @param file that names the address @throws CliError (exit 2) */
async function askFor(wanted: Trust, file: string, context: Context, { mayAsk }: Asking): Promise<void> {
  const { io } = context;
  if (mayGo(wanted, context)) return;
  const memory = trustFile(io.env);
  const remembered = readTrust(memory);
  showDamage(remembered, context);
  if (!mayAsk || io.ask === undefined) throw notTrusted(wanted, file, 'is not trusted with it yet');
  const typed = await io.ask(questionOf(wanted));
  if (!/^\s*y(?:es)?\s*$/i.test(typed ?? '')) throw notTrusted(wanted, file, 'was not trusted with it');
  hear(wanted, context);
  await remember(memory, remembered, wanted, context);
}

/** @throws CliError (exit 2) for what is no origin: it could be meant for one that is not trusted then */
function trustedOrigins(env: Environment): readonly string[] {
  const words = (env[originsVariable] ?? '').split(/[\s,]/).filter((word) => word !== '');
  return words.map((word) => readOrigin(word, originsVariable));
}

/**
 * The origin that an address names, as {@link originOf} writes it: what is compared is what requests go to.
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
    'An origin is written so: https://gateway.example',
  );
}

/** `https://x`, and what one should know of it before a key goes there. */
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
      'Where you know it, either of these trusts it:',
      `promptpress trust ${origin}${key === keyOf(origin) ? '' : ` --key ${key}`}`,
      `${originsVariable}=${origin}`,
    ].join('\n'),
  );

/** Reports once that a file is not believed. */
function showDamage({ damage }: Remembered, { io }: Context): void {
  if (damage === undefined) return;
  const hint = 'Move it away; promptpress trust ORIGIN writes it again.';
  io.err(failureText(`warning: What you trust cannot be read, so nothing is trusted. ${damage}`, hint));
}

/** The answer counts for this command, also where it cannot be kept. */
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
