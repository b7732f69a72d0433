import type { StateReader } from '../../state/reader.ts';
import { stateErrorOf } from '../../state/state-error.ts';

/**
 * Reads a fact of a state that is kept as JSON. promptpress writes each in one transaction; one that is not as it was written shows that
 * the file is damaged, or that somebody has edited it.
 *
 * @param isWhole whether a value has all that its readers rely on
 * @returns undefined where the state has no such fact, or an empty one
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

/** A moment in Unix ms that a `Date` can show. */
export const isMoment = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= 8.64e15;
