import { createHash } from 'node:crypto';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { KnownEndpoints } from '../../service/failures/known-endpoints.ts';
import { BodyPool } from '../../service/http/body/budget.ts';
import { createDispatcher } from '../../service/http/connect/dispatcher.ts';
import type { ServiceOptions } from '../../service/http-client.ts';
import { createTextService } from '../../service/text-client.ts';
import type { TextService } from '../../service/text-service.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { Environment } from '../output/io.ts';
import { version } from '../version.ts';
import type { ServiceSettings } from './settings.ts';
import type { AdmittedService } from './trust.ts';

const longestConnectMs = 10_000;

/** How both halves of the service, and the reader of its links, connect. */
export interface Connecting {
  readonly connections: number;
  readonly connectMs: number;
  /** With proxies of the environment; absent: none, as for a service on this machine. */
  readonly env?: Environment;
}

/** A sandbox is on this machine: it is not reached through a proxy. */
export const connectingTo = (
  service: Pick<ServiceSettings, 'baseUrl'>,
  { limits, timeouts }: Pick<Pipeline, 'limits' | 'timeouts'>,
  env: Environment,
): Connecting => ({
  connections: limits.requests,
  connectMs: Math.min(longestConnectMs, timeouts.requestMs),
  ...(service.baseUrl === undefined ? {} : { env }),
});

/** Names an address with all that decides where its endpoints lie, and shows nothing of it. */
export const addressId = (
  baseUrl: string,
  { names, auth }: Pick<AdmittedService, 'names' | 'auth'>,
): string =>
  createHash('sha256')
    .update(JSON.stringify([baseUrl, names, auth]))
    .digest('hex')
    .slice(0, 16);

/** What both halves of the service are made with. What is opened is closed by `disposables`. */
export function serviceOptions(
  baseUrl: string,
  service: AdmittedService,
  requestMs: number,
  connecting: Connecting,
  disposables: Disposables,
): ServiceOptions & { readonly bodies: BodyPool } {
  const dispatcher = createDispatcher(connecting);
  // Not `close`: that waits for answers which a run that leaves at once no longer wants.
  disposables.add(() => dispatcher.destroy());
  return {
    baseUrl,
    ...(service.apiKey === undefined ? {} : { apiKey: service.apiKey }),
    auth: service.auth,
    ...(service.keySource === undefined ? {} : { keySource: service.keySource }),
    secrets: service.secrets,
    credentials: service.credentials,
    names: service.names,
    endpoints: new KnownEndpoints(),
    dispatcher,
    requestMs,
    bodies: new BodyPool(),
    version,
  };
}

/** The text half of the service. */
export function openTextService(
  options: ServiceOptions,
  { textMs, firstByteMs, idleMs }: Pick<Pipeline['timeouts'], 'textMs' | 'firstByteMs' | 'idleMs'>,
  disposables: Disposables,
): TextService {
  const text = createTextService({ ...options, textMs, firstByteMs, idleMs });
  disposables.add(() => text.close());
  return text;
}
