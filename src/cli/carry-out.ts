import { join } from 'node:path';
import type { ManifestTally } from '../manifest/tally.ts';
import { writeManifest } from '../manifest/write.ts';
import type { RunListener } from '../run/event.ts';
import type { RunControl, RunReport, RunSettings } from '../run/ports.ts';
import { runPlan } from '../run/run.ts';
import { BodyPool } from '../service/body-pool.ts';
import { createImageService } from '../service/client.ts';
import { createDispatcher } from '../service/dispatcher.ts';
import { maskOf } from '../service/secrets.ts';
import { openArtifacts } from './artifacts.ts';
import { wallClock } from './clock.ts';
import type { Closing } from './closing.ts';
import type { Environment } from './io.ts';
import { memoryOf } from './memory.ts';
import type { Redactor } from './redact.ts';
import { runFiles } from './run-files.ts';
import { planForRun } from './run-plan.ts';
import type { RunSession } from './run-session.ts';
import { followedAt } from './sandbox-links.ts';
import { sandboxNames } from './sandbox-names.ts';
import type { ServiceSettings } from './service-settings.ts';
import { version } from './version.ts';

/** Longest time to set up one connection. */
const longestConnectMs = 10_000;

/** The address that a run's requests go to: the service's, or that of a sandbox that is started for it. */
export async function reachService(
  service: ServiceSettings,
  { directory }: RunSession,
  closing: Closing,
): Promise<string> {
  if (service.baseUrl !== undefined) return service.baseUrl;
  // Loaded when it is wanted: it brings an image library along.
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  const sandbox = await startSandbox({
    apiKey: service.apiKey,
    names: sandboxNames(service.names),
    // On disk, so that a run that is killed goes on with the tasks it had begun.
    state: join(directory, runFiles.sandbox),
  });
  closing.add(() => sandbox.close());
  return sandbox.url;
}

/** Runs the plan of a session against the service at an address. */
export async function carryOut(
  { plan, selection, state, directory }: RunSession,
  to: {
    readonly baseUrl: string;
    readonly service: ServiceSettings;
    readonly settings: RunSettings;
    readonly env: Environment;
  },
  control: RunControl,
  listener: RunListener,
  closing: Closing,
): Promise<RunReport> {
  const { baseUrl, service, settings } = to;
  const { timeouts, limits } = plan.pipeline;
  // A sandbox is on this machine: it is not reached through a proxy.
  const env = service.baseUrl === undefined ? undefined : to.env;
  const connecting = {
    connections: limits.requests,
    connectMs: Math.min(longestConnectMs, timeouts.requestMs),
  };
  const dispatcher = createDispatcher({ ...connecting, ...(env === undefined ? {} : { env }) });
  // Not `close`: that waits for answers which a run that leaves at once no longer wants.
  closing.add(() => dispatcher.destroy());
  const bodies = new BodyPool();
  const images = createImageService({
    baseUrl,
    apiKey: service.apiKey,
    ...(service.keySource === undefined ? {} : { keySource: service.keySource }),
    secrets: service.secrets,
    names: service.names,
    dispatcher,
    requestMs: timeouts.requestMs,
    bodies,
    version,
  });
  closing.add(() => images.close());
  const { requestMs } = timeouts;
  const artifacts = openArtifacts(
    { directory, baseUrl, env, requestMs, mask: maskOf(service.secrets), ...connecting },
    closing,
  );
  closing.add(() => artifacts.close());
  return await runPlan(
    planForRun(plan, selection),
    selection,
    settings,
    {
      store: state,
      service: images,
      artifacts: service.baseUrl === undefined ? followedAt(baseUrl, artifacts) : artifacts,
      clock: wallClock,
      random: Math.random,
      memory: () => memoryOf(bodies),
    },
    control,
    listener,
  );
}

/**
 * Writes the manifest of a session; undefined when the user would not wait for it.
 *
 * @throws the error of the file system, StateError, TableError
 */
export async function listResults(
  { plan, selection, state, directory }: RunSession,
  redactor: Redactor,
  leave: AbortSignal,
  options: { readonly escapeFormulas: boolean },
): Promise<ManifestTally | undefined> {
  if (leave.aborted) return undefined;
  try {
    return await writeManifest({
      plan,
      selection,
      reader: state,
      file: join(directory, runFiles.manifest),
      redact: redactor.apply,
      signal: leave,
      ...options,
    });
  } catch (error) {
    if (leave.aborted) return undefined;
    throw error;
  }
}
