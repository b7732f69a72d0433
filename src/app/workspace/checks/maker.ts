import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { artifactPlaceFact } from '../../../report/facts/layout.ts';
import { pipelineFacts } from '../../../state/binding.ts';
import { acquireLock } from '../../../state/lock/lock.ts';
import type { StateReader } from '../../../state/reader.ts';
import { openState } from '../../../state/state.ts';
import { StateError, type StateStore } from '../../../state/store.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../context.ts';
import { failureText } from '../../errors/render.ts';
import type { Environment } from '../../output/io.ts';
import { isSealed, sealOf } from '../../service/maker-key.ts';

/** Name of the fact that shows who made a state: `<id>.<seal of the id>`. */
export const makerFact = 'state.maker';

/**
 * Refuses a state that this user did not make on this machine. Its maker decides what counts as done and what is sent. An accepted or new
 * state gets the user's mark.
 *
 * @param trusted `--trust-directory`
 * @throws StateError `directory.stranger`
 */
function takeState(
  state: StateStore,
  directory: string,
  { trusted }: { readonly trusted: boolean },
  { io }: Context,
): void {
  if (hasOwnMark(state.fact(makerFact), io.env)) return;
  if (!trusted && !isNew(state))
    throw new StateError(
      'directory.stranger',
      `The run in ${directory} was not begun by you on this machine: its state does not have your mark.`,
      {
        hint:
          'Whoever began it decides what counts as done and what is sent. If you trust them, or it is yours from another machine, give --trust-directory ' +
          'once: from then on it has your mark. Else take another directory with --out.\n' +
          'Your marks are made with $XDG_STATE_HOME/promptpress/maker.key (~/.local/state): a machine that keeps nothing needs the flag each time.',
      },
    );
  const own = randomUUID();
  let mark: string;
  try {
    mark = `${own}.${sealOf(own, io.env)}`;
  } catch (error) {
    if (trusted) return;
    const words = `warning: The state in ${directory} cannot get your mark: ${(error as Error).message}`;
    const hint = 'Later runs there need --trust-directory, or a folder in XDG_STATE_HOME that you may write.';
    io.err(failureText(words, hint));
    return;
  }
  state.setFact(makerFact, mark);
}

function hasOwnMark(mark: string | undefined, env: Environment): boolean {
  const [id = '', seal = ''] = mark?.split('.') ?? [];
  return isSealed(id, seal, env);
}

/**
 * Refuses a state to read jobs from that this user did not make on this machine; it is not changed.
 *
 * @param trusted `--trust-directory`
 * @throws StateError `directory.stranger`
 */
export async function refuseStranger(
  state: Pick<StateReader, 'fact'>,
  name: string,
  { trusted }: { readonly trusted: boolean },
  env: Environment,
): Promise<void> {
  if (trusted || hasOwnMark(await state.fact(makerFact), env)) return;
  throw new StateError(
    'directory.stranger',
    `The run in ${name} was not begun by you on this machine: its state does not have your mark.`,
    {
      hint: 'Whoever began it decides what counts as done. If you trust them, or it is yours from another machine, add --trust-directory.',
    },
  );
}

/** Whether a state has no facts yet: a crash may have come between its creation and its mark. */
const isNew = (state: StateStore): boolean =>
  [pipelineFacts.text, artifactPlaceFact].every((name) => state.fact(name) === undefined) &&
  Object.values(state.totals().jobs).every((jobs) => jobs === 0);

/**
 * Opens the state of a run directory for a command that changes it.
 *
 * @param named the command, shown to others who find the directory locked
 * @param trust as for {@link takeState}
 * @throws StateError `state.locked` (exit 75) while a run is on, `directory.stranger`
 */
export function lockState(
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
