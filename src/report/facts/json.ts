import type { StateReader } from '../../state/reader.ts';
import { stateErrorOf } from '../../state/state-error.ts';

/**
 * Reads a fact that the state stores as JSON. promptpress writes each fact in one transaction, so a malformed one shows that the file is
 * damaged or was edited.
 *
 * @param isWhole checks that the value has everything that its readers use
 * @returns undefined if the state has no such fact or an empty one
 * @throws StateError `state.corrupt`
 */
export async function jsonFact<T>(
  state: Pick<StateReader, 'file' | 'fact'>,
  name: string,
  isWhole: (value: unknown) => value is T,
): Promise<T | undefined> {
  const text = (await state.fact(name)) ?? '';
  if (text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw damaged(state, name, cause);
  }
  if (!isWhole(value)) throw damaged(state, name);
  return value;
}

const damaged = (state: Pick<StateReader, 'file'>, name: string, cause?: unknown): Error =>
  stateErrorOf(
    'corrupt',
    state.file ?? 'The state',
    new Error(`what it keeps as "${name}" is not as promptpress writes it`, { cause }),
  );

/** Whether a value is a time in Unix ms that a `Date` can hold. */
export const isMoment = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= 8.64e15;
