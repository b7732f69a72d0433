import { type CliError, usageError } from '../../app/errors/cli-error.ts';

/**
 * Why promptpress does not run on a system; undefined where it does. On Windows a folder cannot be synced and a killed
 * run cannot end in good order, so that nothing there would keep what promptpress promises.
 *
 * @param platform as `process.platform`
 */
export const systemRefusal = (platform: NodeJS.Platform): CliError | undefined =>
  platform === 'win32'
    ? usageError(
        'Windows is not supported: promptpress runs on Linux and macOS.',
        'Run it in WSL 2 (wsl --install), with Node.js and your files inside: in ~, not below /mnt/c.',
      )
    : undefined;
