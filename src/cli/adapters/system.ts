import { type CliError, usageError } from '../../app/errors/cli-error.ts';

/**
 * Returns the error for an unsupported system; undefined for others. On Windows a folder cannot be synced and a killed run cannot end in
 * good order, so promptpress could not keep its promises.
 *
 * @param platform `process.platform`
 */
export const systemRefusal = (platform: NodeJS.Platform): CliError | undefined =>
  platform === 'win32'
    ? usageError(
        'Windows is not supported: promptpress runs on Linux and macOS.',
        'Run it in WSL 2 (wsl --install), with Node.js and your files inside: in ~, not below /mnt/c.',
      )
    : undefined;
