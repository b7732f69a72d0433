import type { Pipeline } from '../pipeline/pipeline.ts';
import type { Model } from '../service/text-service.ts';
import type { Closing } from './closing.ts';
import { CliError, exitCodes } from './failure.ts';
import type { Environment } from './io.ts';
import { sandboxNames } from './sandbox-names.ts';
import { connectingTo, openTextService, serviceOptions } from './service-clients.ts';
import type { AdmittedService } from './trust.ts';

/** The models of a service, by id, and who was asked. */
export interface ListedModels {
  /** Origin of the address. */
  readonly origin: string;
  readonly models: readonly Model[];
}

/** Asks a service for its models; with `--sandbox` one that is started for it. @throws CliError (exit 3) when it gives none */
export async function askModels(
  service: AdmittedService,
  settings: Pick<Pipeline, 'limits' | 'timeouts'>,
  env: Environment,
  signal: AbortSignal,
  closing: Closing,
): Promise<ListedModels> {
  const baseUrl = service.baseUrl ?? (await startedSandbox(service, closing));
  const { timeouts } = settings;
  const connecting = connectingTo(service, settings, env);
  const options = serviceOptions(baseUrl, service, timeouts.requestMs, connecting, closing);
  const answer = await openTextService(options, service, timeouts, closing).models(signal);
  if (!answer.ok) throw new CliError(exitCodes.stopped, answer.error.message);
  const models = answer.value.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return { origin: new URL(baseUrl).origin, models };
}

async function startedSandbox(service: AdmittedService, closing: Closing): Promise<string> {
  // Loaded when it is wanted: it brings an image library along.
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  const sandbox = await startSandbox({ apiKey: service.apiKey, names: sandboxNames(service.names) });
  closing.add(() => sandbox.close());
  return sandbox.url;
}
