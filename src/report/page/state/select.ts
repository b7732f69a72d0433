import { mostCompared } from './address.ts';

/** Selects a result, or takes it back. Of more than can be compared, the first ones go. */
export function select(selected: readonly number[], at: number): readonly number[] {
  return selected.includes(at)
    ? selected.filter((each) => each !== at)
    : [...selected, at].slice(-mostCompared);
}
