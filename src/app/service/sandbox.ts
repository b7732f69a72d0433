import { join } from 'node:path';
import { runFiles } from '../../report/facts/layout.ts';
import { neutralNames, type SandboxNames } from '../../sandbox/names.ts';
import type { SandboxSettings } from '../../sandbox/settings.ts';
import { sandboxKey } from '../../service/http/secrets.ts';
import type { Names } from '../../service/names.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { RunFlags } from '../flags.ts';
import type { ServiceSettings } from './settings.ts';

/**
 * Returns the names of a sandbox that acts as the service in `service.names`. A gateway that has the native text endpoint at one of its
 * usual paths has it at the other one too; a custom path is the only one. A rehearsal has no client but promptpress, so the sandbox refuses
 * the requests of other clients.
 */
export const sandboxNames = ({ botType, nativePath, ...names }: Names): SandboxNames => ({
  ...names,
  botTypes: [botType, 'NIJI_JOURNEY'],
  nativePaths: neutralNames.nativePaths.includes(nativePath) ? neutralNames.nativePaths : [nativePath],
  familyClients: false,
});

/** Returns the sandbox settings from the flags of a rehearsal. The sandbox accepts any model name, as the real run will use them. */
export const rehearsalSettings = ({
  pace,
  pixels,
  fault,
}: Pick<RunFlags, 'pace' | 'pixels' | 'fault'>): Partial<SandboxSettings> => ({
  anyModel: true,
  faults: fault,
  ...(pace === undefined ? {} : { pace }),
  ...(pixels === undefined ? {} : { pixels }),
});

/**
 * Returns the address for a run's requests: that of the service, or of a sandbox that is started for the run.
 *
 * @param settings of that sandbox
 */
export async function reachService(
  service: ServiceSettings,
  { directory }: { readonly directory: string },
  settings: Partial<SandboxSettings>,
  disposables: Disposables,
): Promise<string> {
  if (service.baseUrl !== undefined) return service.baseUrl;
  const { startSandbox } = await import('../../sandbox/sandbox.ts');
  const sandbox = await startSandbox({
    apiKey: service.apiKey ?? sandboxKey,
    // A rehearsal has no client but promptpress, which clicks by submit/change if `service.clicks` says so.
    names: { ...sandboxNames(service.names), familyClients: service.clicks === 'change' },
    // Stored on disk, so that a killed run can continue its tasks.
    state: join(directory, runFiles.sandbox),
    settings: { auth: service.auth, ...settings },
  });
  disposables.add(() => sandbox.close());
  return sandbox.url;
}
