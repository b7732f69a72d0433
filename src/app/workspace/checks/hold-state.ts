import { hostname } from 'node:os';
import { acquireLock } from '../../../state/lock/lock.ts';
import { openState } from '../../../state/state.ts';
import type { StateStore } from '../../../state/store.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../context.ts';
import { takeState } from './maker.ts';

/**
 * Opens the state of a run directory for a command other than `run` that changes it.
 *
 * @param named the command, shown to others who find the directory locked
 * @param trust as for {@link takeState}
 * @throws StateError `state.locked` (exit 75) while a run is on, `directory.stranger`
 */
export function holdState(
  directory: string,
  named: string,
  trust: { readonly trusted: boolean },
  disposables: Disposables,
  context: Context,
): StateStore {
  const { io } = context;
  const lock = acquireLock(directory, {
    pid: io.machine.pid,
    host: hostname(),
    startedAt: new Date(io.now()).toISOString(),
    command: named,
  });
  disposables.add(() => lock.release());
  const state = openState(directory, { lock });
  disposables.add(() => state.close());
  takeState(state, directory, trust, context);
  return state;
}
