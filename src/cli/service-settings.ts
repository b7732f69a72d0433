import { randomBytes } from 'node:crypto';
import type { Pipeline, Speed } from '../pipeline/pipeline.ts';
import { readApiKey } from '../service/endpoint.ts';
import { type Names, resolveNames } from '../service/names.ts';
import { checkBaseUrl } from './address.ts';
import { fillIn, missingVariables } from './environment.ts';
import { usageError } from './failure.ts';
import type { Environment } from './io.ts';
import type { Redactor } from './redact.ts';

/** The flags that say which service is meant. */
export interface ServiceFlags {
  readonly sandbox: boolean;
  readonly 'base-url'?: string | undefined;
  readonly speed?: Speed | undefined;
}

/** Which service a run talks to, and how. */
export interface ServiceSettings {
  /** Absent with `--sandbox`: its address is known when it has started. */
  readonly baseUrl?: string;
  readonly apiKey: string;
  /** Part of every job key. */
  readonly id: string;
  readonly speed: Speed;
  readonly names: Names;
}

const addressVariable = 'PROMPTPRESS_BASE_URL';
const keyVariable = 'PROMPTPRESS_API_KEY';

/** The identity of everything that ran in a sandbox: its port changes, its images do not. */
export const sandboxId = 'sandbox';

/**
 * Settles the service block for a run: flags beat environment, environment beats file (DESIGN.md section 6).
 * Secrets go to the redactor before anything else can happen to them.
 *
 * @throws CliError (exit 2) for a missing variable, a wrong address, or no address at all
 */
export function settleService(
  pipeline: Pipeline,
  flags: ServiceFlags,
  env: Environment,
  redactor: Redactor,
): ServiceSettings {
  const { service } = pipeline;
  const shared = { speed: flags.speed ?? service.speed };
  if (flags.sandbox) {
    refuseBoth(flags);
    return {
      ...shared,
      names: settleNames(pipeline, env, redactor),
      apiKey: `sandbox-${randomBytes(12).toString('hex')}`,
      id: sandboxId,
    };
  }

  const address = settleAddress(pipeline, flags, env);
  const apiKey = settleKey(pipeline, env, redactor);
  const id =
    service.id === undefined ? undefined : secretly(service.id, 'service.id', pipeline, env, redactor);
  return {
    ...shared,
    names: settleNames(pipeline, env, redactor),
    baseUrl: address,
    apiKey,
    id: id ?? new URL(address).origin,
  };
}

/** What a plan can know of the service without a network and without a key. */
export interface ServiceIdentity {
  /** Undefined: no address is known. */
  readonly id?: string;
  /** The variable that would tell. */
  readonly missing?: string;
}

/** The identity for a plan; what is missing is no failure there. @throws CliError for a wrong address */
export function identifyService(pipeline: Pipeline, flags: ServiceFlags, env: Environment): ServiceIdentity {
  if (flags.sandbox) {
    refuseBoth(flags);
    return { id: sandboxId };
  }
  const { id, baseUrl } = pipeline.service;
  if (id !== undefined) {
    const [missing] = missingVariables(id, env);
    return missing === undefined ? { id: fillIn(id, 'service.id', { env, pipeline }).text } : { missing };
  }
  if (flags['base-url'] === undefined && (env[addressVariable] ?? '') === '') {
    const [missing] = missingVariables(baseUrl, env);
    if (missing !== undefined) return { missing };
  }
  return { id: new URL(settleAddress(pipeline, flags, env)).origin };
}

function refuseBoth(flags: ServiceFlags): void {
  if (flags['base-url'] === undefined) return;
  throw usageError('--sandbox and --base-url name two services.', 'Give one of them.');
}

function settleAddress(pipeline: Pipeline, flags: ServiceFlags, env: Environment): string {
  const flag = flags['base-url'];
  if (flag !== undefined) return checkBaseUrl(flag, '--base-url');
  const variable = env[addressVariable] ?? '';
  if (variable !== '') return checkBaseUrl(variable, addressVariable);
  const written = pipeline.service.baseUrl;
  if (written === `\${${addressVariable}}`) throw noAddress(pipeline);
  const { text } = fillIn(written, 'service.baseUrl', { env, pipeline });
  return checkBaseUrl(text, `service.baseUrl of ${pipeline.source.file}`);
}

const noAddress = ({ source }: Pipeline): Error =>
  usageError(
    'No service is named: there is no base address.',
    `Set ${addressVariable} (or give --base-url) and ${keyVariable} to run against a service, or rehearse on this machine without a key: promptpress run ${source.file} --sandbox`,
  );

function settleKey(pipeline: Pipeline, env: Environment, redactor: Redactor): string {
  const variable = env[keyVariable] ?? '';
  if (variable !== '') redactor.add(variable);
  const key =
    variable === '' ? secretly(pipeline.service.apiKey, 'service.apiKey', pipeline, env, redactor) : variable;
  const read = readApiKey(key);
  if (!read.ok) throw usageError(read.error.message);
  redactor.add(read.value);
  return read.value;
}

function settleNames(pipeline: Pipeline, env: Environment, redactor: Redactor): Names {
  const { preset, own } = pipeline.service.names;
  const settled = Object.entries(own).map(([name, text]) => [
    name,
    secretly(text, `service.names.${name}`, pipeline, env, redactor),
  ]);
  const names = resolveNames(preset, Object.fromEntries(settled) as Record<string, string>);
  if (names.ok) return names.value;
  throw usageError(
    names.error.map(({ message }) => message).join(' '),
    `See service.names of ${pipeline.source.file}.`,
  );
}

function secretly(
  text: string,
  field: string,
  pipeline: Pipeline,
  env: Environment,
  redactor: Redactor,
): string {
  const { text: filled, values } = fillIn(text, field, { env, pipeline });
  for (const value of values) redactor.add(value);
  return filled;
}
