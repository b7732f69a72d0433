import type { Selection } from '../plan/cell.ts';
import { anyText, axisValue, shard, wholeNumber } from './flag-values.ts';
import { type FlagValues, repeated, valued } from './flags.ts';

/** The flags that choose a part of a plan; `run` and `plan` have the same ones. */
export const selectionFlags = {
  limit: valued('N', 'only the first N cells (of those that the other flags choose)', wholeNumber(1)),
  filter: repeated(
    'AXIS=VALUE',
    'only cells with this value, for example animal=fox; for a table COLUMN=VALUE; several values of one axis: any of them; several axes: all of them',
    axisValue,
  ),
  shard: valued('I/N', 'only every Nth cell from the Ith on, to share work between machines', shard),
  only: repeated('STEP', 'only this step and what it needs', anyText),
} as const;

/** The part of a plan that the flags choose; without any, all of it. */
export const selectionOf = ({
  limit,
  filter,
  shard,
  only,
}: FlagValues<typeof selectionFlags>): Selection => ({
  ...(limit === undefined ? {} : { limit }),
  ...(filter.length === 0 ? {} : { filters: filter }),
  ...(shard === undefined ? {} : { shard }),
  ...(only.length === 0 ? {} : { only }),
});
