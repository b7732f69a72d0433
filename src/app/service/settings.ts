import { createHash, randomBytes } from 'node:crypto';
import type { Pipeline, Speed } from '../../pipeline/pipeline.ts';
import { addressVariable, mayBeSent, variableReference } from '../../pipeline/settings/variables.ts';
import { sandboxId } from '../../report/facts/services.ts';
import { readApiKey } from '../../service/http/base-url.ts';
import { type NameKey, type Names, resolveNames } from '../../service/names.ts';
import { usageError } from '../errors/cli-error.ts';
import { without } from '../errors/correction.ts';
import type { Environment } from '../output/io.ts';
import { Redactor } from '../output/redact.ts';
import { keyVariable } from './trust-file.ts';
import { checkBaseUrl } from './warnings.ts';

/** The flags that select the service. */
export interface ServiceFlags {
  readonly sandbox: boolean;
  readonly 'base-url'?: string | undefined;
  readonly speed?: Speed | undefined;
}

/** The part of a pipeline that identifies its service. */
export type ServicePart = Pick<Pipeline, 'service' | 'source'>;

/** The service of a run, and how to talk to it. */
export interface ServiceSettings {
  /** Base address; absent with `--sandbox`: it is known once the sandbox has started. */
  readonly baseUrl?: string;
  /** True if the user gave the address by flag or environment, not the pipeline file, and with `--sandbox`. */
  readonly isUsersAddress: boolean;
  /** Variable that gave the address; absent if a flag or the pipeline file did. */
  readonly addressVariable?: string;
  /** The key; absent with `auth: none` if its variable is not set. */
  readonly apiKey?: string;
  /** Variable that holds the key; absent with `--sandbox`, which makes its own key, and if there is no key. */
  readonly keyVariable?: string;
  /** Where the key came from, for messages; absent with `--sandbox`. */
  readonly keySource?: string;
  /** The key and the values of all other variables that must not be shown. */
  readonly secrets: readonly string[];
  /** Values that give access: the key, and each variable in the path of the address. */
  readonly credentials: readonly string[];
  /** Id of the service, part of every job key. */
  readonly id: string;
  /** Speed mode; undefined: the gateway's default. */
  readonly speed: Speed | undefined;
  readonly names: Names;
  readonly auth: Pipeline['service']['auth'];
  readonly clicks: Pipeline['service']['clicks'];
}

/**
 * Settles the service block for a run: flags override the environment, which overrides the file. Secrets are passed to the redactor first.
 *
 * @throws CliError (exit 2) for a missing variable, a wrong address, or no address at all
 */
export function settleService(
  pipeline: ServicePart,
  flags: ServiceFlags,
  env: Environment,
  redactor: Redactor,
): ServiceSettings {
  const { service } = pipeline;
  const { auth, clicks } = service;
  const shared = { speed: flags.speed ?? service.speed, auth, clicks };
  if (flags.sandbox) {
    refuseBoth(flags);
    const apiKey = `sandbox-${randomBytes(12).toString('hex')}`;
    redactor.addCredential(apiKey);
    const names = settleNames(pipeline, env, redactor);
    return { ...shared, names, apiKey, isUsersAddress: true, ...maskedBy(redactor), id: sandboxId };
  }

  const address = settleAddress(pipeline, flags, env, redactor);
  const { baseUrl } = address;
  const key = settleKey(pipeline, env, redactor);
  const id =
    service.id === undefined ? new URL(baseUrl).origin : settleId(service.id, pipeline, env, redactor);
  const names = settleNames(pipeline, env, redactor);
  return { ...shared, ...key, ...address, names, id, ...maskedBy(redactor) };
}

const maskedBy = ({ secrets, credentials }: Redactor): Pick<ServiceSettings, 'secrets' | 'credentials'> => ({
  secrets,
  credentials,
});

/** The facts about a service that a plan can know without a network and without a key. */
export interface ServiceIdentity {
  /** Id of the service; undefined: no address is known. */
  readonly id?: string;
  /** Origin of requests; undefined if no address is known, and in a rehearsal. */
  readonly origin?: string;
  /** The missing variable that would give the address. */
  readonly missing?: string;
}

/** Returns the service's identity for a plan, which may lack an address. @throws CliError for a wrong address */
export function identifyService(
  pipeline: ServicePart,
  flags: ServiceFlags,
  env: Environment,
): ServiceIdentity {
  if (flags.sandbox) {
    refuseBoth(flags);
    return { id: sandboxId };
  }
  const { id, baseUrl } = pipeline.service;
  const isFiles = flags['base-url'] === undefined && (env[addressVariable] ?? '') === '';
  const [noAddress] = isFiles ? missingVariables(baseUrl, env) : [];
  const at = noAddress === undefined ? originOf(pipeline, flags, env) : undefined;
  if (id === undefined)
    return at === undefined ? { missing: noAddress ?? addressVariable } : { id: at, origin: at };
  const [missing] = missingVariables(id, env);
  return {
    ...(missing === undefined ? { id: settleId(id, pipeline, env, new Redactor()) } : { missing }),
    ...(at === undefined ? {} : { origin: at }),
  };
}

const originOf = (pipeline: ServicePart, flags: ServiceFlags, env: Environment): string =>
  new URL(settleAddress(pipeline, flags, env, new Redactor()).baseUrl).origin;

function refuseBoth(flags: ServiceFlags): void {
  if (flags['base-url'] === undefined) return;
  throw usageError(
    '--sandbox and --base-url name two services.',
    'Give one of them: --sandbox for the local service, --base-url for another one.',
    without('--sandbox'),
  );
}

type Address = Pick<ServiceSettings, 'isUsersAddress' | 'addressVariable'> & { readonly baseUrl: string };

function settleAddress(
  pipeline: ServicePart,
  flags: ServiceFlags,
  env: Environment,
  redactor: Redactor,
): Address {
  const flag = flags['base-url'];
  if (flag !== undefined) return { baseUrl: checkBaseUrl(flag, '--base-url'), isUsersAddress: true };
  const variable = env[addressVariable] ?? '';
  if (variable !== '')
    return { baseUrl: checkBaseUrl(variable, addressVariable), isUsersAddress: true, addressVariable };
  const written = pipeline.service.baseUrl;
  if (written === `\${${addressVariable}}`) throw noAddress(pipeline);
  const { text, values } = fillIn(written, 'service.baseUrl', { env, pipeline });
  // Scheme and host are recorded and shown, to identify the service. A variable's value after them may be a token.
  for (const value of values) if (!isOrigin(value, text)) redactor.addCredential(value);
  // Even if variables are parts of the address: the file decides which part is the host.
  return { baseUrl: checkBaseUrl(text, `service.baseUrl of ${pipeline.source.file}`), isUsersAddress: false };
}

const noAddress = ({ source }: ServicePart): Error =>
  usageError(
    'No service is named: there is no base address.',
    `Set ${addressVariable} (or give --base-url) and ${keyVariable} to run against a service, or rehearse on this machine without a key: promptpress run ${source.file} --sandbox`,
  );

const isOrigin = (value: string, address: string): boolean =>
  value.includes('://') || (URL.canParse(address) && new URL(address).origin.includes(value));

/** Returns the key and its variable, which the user checks when the key is rejected. */
function settleKey(
  pipeline: ServicePart,
  env: Environment,
  redactor: Redactor,
): Pick<ServiceSettings, 'apiKey' | 'keyVariable' | 'keySource'> {
  const { apiKey: written, auth } = pipeline.service;
  const variable = env[keyVariable] ?? '';
  if (auth === 'none' && variable === '' && missingVariables(written, env).length > 0) return {};
  const { text: key, values } =
    variable === '' ? fillIn(written, keyField, { env, pipeline }) : { text: variable, values: [] };
  for (const value of [key, ...values]) if (value !== '') redactor.addCredential(value);
  const beaten = written === `\${${keyVariable}}` ? '' : `, which beats service.apiKey of the pipeline`;
  const keySource =
    variable === '' ? `${written} (service.apiKey of the pipeline)` : `the variable ${keyVariable}${beaten}`;
  const read = readApiKey(key);
  if (!read.ok) throw usageError(read.error.message, `It comes from ${keySource}.`);
  redactor.addCredential(read.value);
  return { apiKey: read.value, keyVariable: variable === '' ? written.slice(2, -1) : keyVariable, keySource };
}

/**
 * Returns the service's id. It is part of every key and kept in the state, which must not hold the value of a variable. So an id with
 * variables is stored as written, with a hash of its expanded value.
 */
function settleId(written: string, pipeline: ServicePart, env: Environment, redactor: Redactor): string {
  const { text, values } = fillIn(written, 'service.id', { env, pipeline });
  if (values.length === 0) return text;
  for (const value of values) redactor.add(value);
  return `${written}#${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

/** Names that occur in every address and customId of the service: masking them would spoil the data. */
const openNames: readonly NameKey[] = [
  'path',
  'relaxPrefix',
  'fastPrefix',
  'turboPrefix',
  'nativePath',
  'customId',
];

function settleNames(pipeline: ServicePart, env: Environment, redactor: Redactor): Names {
  const { preset, own } = pipeline.service.names;
  const settled = Object.entries(own).map(([name, text]) => {
    const field = `service.names.${name}`;
    const { text: filled, values } = fillIn(text, field, { env, pipeline });
    if (!openNames.some((open) => open === name)) for (const value of values) redactor.add(value);
    return [name, filled];
  });
  const names = resolveNames(preset, Object.fromEntries(settled) as Record<string, string>);
  if (names.ok) return names.value;
  throw usageError(
    names.error.map(({ message }) => message).join(' '),
    `See service.names of ${pipeline.source.file}.`,
  );
}

/** A text of the service block after its variables were replaced. */
interface FilledText {
  readonly text: string;
  /** Values from the environment, which must never be shown. */
  readonly values: readonly string[];
}

/** The field that names the key. */
const keyField = 'service.apiKey';

/** Returns the variables that a text needs and that are not set. An empty variable counts as not set. */
export const missingVariables = (text: string, env: Environment): readonly string[] =>
  [...text.matchAll(variableReference)].flatMap(([, name = '', fallback]) =>
    fallback === undefined && (env[name] ?? '') === '' ? [name] : [],
  );

/**
 * Replaces `${VAR}` and `${VAR:-default}` in a text. The value of a variable is not expanded again.
 *
 * @param field of the text: `service.apiKey` may hold any variable, every other field only those that may be sent anywhere
 * @throws CliError (exit 2) naming the variable and the line of the pipeline that needs it
 */
export function fillIn(
  text: string,
  field: string,
  { env, pipeline }: { readonly env: Environment; readonly pipeline: Pick<Pipeline, 'source'> },
): FilledText {
  const values: string[] = [];
  const filled = text.replaceAll(variableReference, (_, name: string, fallback: string | undefined) => {
    if (field !== keyField && !mayBeSent(name))
      throw new Error(`Internal error: ${name} in ${field} passed the checks`);
    const value = env[name] ?? '';
    if (value !== '') {
      values.push(value);
      return value;
    }
    if (fallback !== undefined) return fallback;
    throw usageError(
      `The environment variable ${name} is not set: ${whereAsked(pipeline, name, field)} needs it.`,
      `Set it (export ${name}=…), or rehearse without a service: promptpress run ${pipeline.source.file} --sandbox`,
    );
  });
  return { text: filled, values };
}

/** Returns the place that needs a variable, such as `pipeline.yaml:4 (service.apiKey)`; a default has no line. */
function whereAsked({ source }: Pick<Pipeline, 'source'>, name: string, field: string): string {
  const at = source.text
    .split('\n')
    .findIndex((line) => !line.trimStart().startsWith('#') && line.includes(`\${${name}`));
  return at < 0
    ? `${field}, which ${source.file} leaves at its default of \${${name}},`
    : `${source.file}:${at + 1} (${field})`;
}
