/** Takes the lock of a directory, says so, and holds it until it is told to let go. */
import { acquireLock } from '../../../src/state/lock/lock.ts';
import { StateError } from '../../../src/state/store.ts';

const [directory = ''] = process.argv.slice(2);
try {
  const lock = acquireLock(directory, {
    pid: process.pid,
    host: 'here',
    startedAt: '2026-01-02T03:04:05.000Z',
  });
  process.stdout.write('held\n');
  process.stdin.once('data', () => {
    lock.release();
    process.stdin.destroy();
  });
} catch (error) {
  if (!(error instanceof StateError)) throw error;
  process.stdout.write(`${error.code}: ${error.message}\n`);
}
