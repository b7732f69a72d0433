import { usageError } from '../../app/errors/cli-error.ts';

/** Starts a server on a port that the user chose. @throws CliError (exit 2) if the port cannot be used */
export async function onPort<Server>(port: number, start: () => Promise<Server>): Promise<Server> {
  try {
    return await start();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== 'listen' || (code !== 'EADDRINUSE' && code !== 'EACCES')) throw error;
    throw usageError(
      `Port ${port} cannot be used: ${(error as Error).message}`,
      'Take another --port; 0 takes any free one.',
    );
  }
}

/** Resolves when a signal is aborted. Meanwhile, a server keeps the process alive. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
