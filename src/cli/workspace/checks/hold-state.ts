import { hostname } from 'node:os';
import { acquireLock } from '../../../state/lock/lock.ts';
import { openState } from '../../../state/state.ts';
import type { StateStore } from '../../../state/store.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import type { Io } from '../../terminal/io.ts';

/**
 * Opens the state of a run directory for a command that changes it and is no run.
 *
 * @param named the command, for whoever finds the directory held
 * @throws StateError `state.locked` (exit 75) while a run is on
 */
export function holdState(
  directory: string,
  named: string,
  disposables: Disposables,
  io: Pick<Io, 'now'>,
): StateStore {
  const lock = acquireLock(directory, {
    pid: process.pid,
    host: hostname(),
    startedAt: new Date(io.now()).toISOString(),
    command: named,
  });
  disposables.add(() => lock.release());
  const state = openState(directory, { lock });
  disposables.add(() => state.close());
  return state;
}
