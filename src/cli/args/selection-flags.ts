import { repeated, valued } from './flags.ts';
import { anyText, axisValue, shard, wholeNumber } from './values.ts';

/** Flags that select a part of a plan, for `run` and `plan`. */
export const selectionFlags = {
  limit: valued(
    'N',
    'only the first N cells (of those that the other flags choose)',
    wholeNumber(1, { absent: 'Without --limit all cells are chosen.' }),
  ),
  filter: repeated(
    'AXIS=VALUE',
    'only cells with this value, for example animal=fox, medium.name="ink drawing"; for a table COLUMN=VALUE; several values of one axis: any of them; several axes: all of them',
    axisValue,
  ),
  shard: valued('I/N', 'only every Nth cell from the Ith on, to share work between machines', shard),
  only: repeated('STEP', 'only this step and what it needs', anyText),
} as const;
