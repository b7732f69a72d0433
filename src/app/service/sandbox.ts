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
 * The words that a sandbox must know to be the service that a pipeline's `service.names` describes. A gateway that has the
 * native text endpoint at one of its usual paths has it at the other one too; a path of its own is the only one. A
 * rehearsal has no client but promptpress: what others send is not taken.
 */
export const sandboxNames = ({ botType, nativePath, ...names }: Names): SandboxNames => ({
  ...names,
  botTypes: [botType, 'NIJI_JOURNEY'],
  nativePaths: neutralNames.nativePaths.includes(nativePath) ? neutralNames.nativePaths : [nativePath],
  familyClients: false,
});

/** The settings that the flags of a rehearsal ask for. A rehearsal asks the models that the real run will ask, whatever they are called. */
export const rehearsalSettings = ({
  pace,
  fault,
}: Pick<RunFlags, 'pace' | 'fault'>): Partial<SandboxSettings> => ({
  anyModel: true,
  faults: fault,
  ...(pace === undefined ? {} : { pace }),
});

/**
 * The address that a run's requests go to: the service's, or that of a sandbox that is started for it.
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
    // A rehearsal has no client but promptpress, which presses by submit/change where it is told to.
    names: { ...sandboxNames(service.names), familyClients: service.clicks === 'change' },
    // On disk, so that a killed run continues with the tasks it had begun.
    state: join(directory, runFiles.sandbox),
    settings: { auth: service.auth, ...settings },
  });
  disposables.add(() => sandbox.close());
  return sandbox.url;
}
