import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealOf } from '../../src/app/service/maker-key.ts';
import { makerFact } from '../../src/app/workspace/checks/maker.ts';
import type { StateStore } from '../../src/state/store.ts';

let folder: string | undefined;

/**
 * Where commands keep what they know of their user, the same for all that one process of tests starts: what one of them makes, the next one
 * knows again.
 */
function stateHome(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'promptpress-user-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    folder = made;
  }
  return folder;
}

/** An environment with that place, unless it names one of its own. */
export const withStateHome = (
  env: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> =>
  'HOME' in env || 'XDG_STATE_HOME' in env ? env : { XDG_STATE_HOME: stateHome(), ...env };

/** Gives a state that a test has made itself the mark of the user that its commands run for. @param env of these commands */
export const markAsOwn = (state: Pick<StateStore, 'setFact'>, env?: Readonly<Record<string, string>>): void =>
  state.setFact(makerFact, `test.${sealOf('test', withStateHome(env))}`);
