import { StateError } from '../../src/state/store.ts';

/** The StateError that a call must fail with. */
export function refusalOf(work: () => unknown): StateError {
  try {
    work();
  } catch (error) {
    if (error instanceof StateError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

/** The code of the StateError that a call fails with; `done` without one. */
export function codeOf(work: () => unknown): string {
  try {
    work();
    return 'done';
  } catch (error) {
    if (error instanceof StateError) return error.code;
    throw error;
  }
}
