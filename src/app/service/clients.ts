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

/** Connection settings for images, texts and downloads. */
export interface Connecting {
  readonly connections: number;
  readonly connectMs: number;
  /** Environment with proxies; absent: none, as for a service on this machine. */
  readonly env?: Environment;
}

/** Returns the connection settings. A sandbox is on this machine, so it is not reached through a proxy. */
export const connectingTo = (
  service: Pick<ServiceSettings, 'baseUrl'>,
  { limits, timeouts }: Pick<Pipeline, 'limits' | 'timeouts'>,
  env: Environment,
): Connecting => ({
  connections: limits.requests,
  connectMs: Math.min(longestConnectMs, timeouts.requestMs),
  ...(service.baseUrl === undefined ? {} : { env }),
});

/** Returns a hash of everything that decides where the endpoints are; the address cannot be read from it. */
export const addressId = (
  baseUrl: string,
  { names, auth }: Pick<AdmittedService, 'names' | 'auth'>,
): string =>
  createHash('sha256')
    .update(JSON.stringify([baseUrl, names, auth]))
    .digest('hex')
    .slice(0, 16);

/** Returns the options of the image and text clients. `disposables` closes what it opens. */
export function serviceOptions(
  baseUrl: string,
  service: AdmittedService,
  requestMs: number,
  connecting: Connecting,
  disposables: Disposables,
): ServiceOptions & { readonly bodies: BodyPool } {
  const dispatcher = createDispatcher(connecting);
  // Not `close`: that waits for answers that a run no longer wants when it leaves at once.
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

/** Opens the client for text calls. */
export function openTextService(
  options: ServiceOptions,
  { textMs, firstByteMs, idleMs }: Pick<Pipeline['timeouts'], 'textMs' | 'firstByteMs' | 'idleMs'>,
  disposables: Disposables,
): TextService {
  const text = createTextService({ ...options, textMs, firstByteMs, idleMs });
  disposables.add(() => text.close());
  return text;
}
