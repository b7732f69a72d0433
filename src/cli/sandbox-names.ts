import type { SandboxNames } from '../sandbox/names.ts';
import type { Names } from '../service/names.ts';

/** The words that a sandbox must know to be the service that a pipeline's `service.names` describes. */
export const sandboxNames = ({ botType, ...names }: Names): SandboxNames => ({
  ...names,
  botTypes: [botType, 'NIJI_JOURNEY'],
});
