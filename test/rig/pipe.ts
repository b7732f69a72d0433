import { execFileSync } from 'node:child_process';

/** Makes a named pipe: Node.js has no call of its own for it. */
export const makePipe = (path: string): void => {
  execFileSync('mkfifo', [path]);
};
