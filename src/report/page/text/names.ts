import type { PageResult } from '../../results/wire.ts';
import { count } from './format.ts';

/** Returns the title of a result: `grid U2/Vary (Strong)`; an item of a list by its number, `draw item 3/U1`. */
export const titleOf = ({ step, branch }: Pick<PageResult, 'step' | 'branch'>): string =>
  branch === '' ? step : `${step} ${branch.replaceAll(/\[(\d+)\]/g, 'item $1')}`;

/** Returns which output of its slot a result is, `frame 1` or `output 2`, after a comma; empty for the first one. */
const outputOf = ({ output = 1, frame }: Pick<PageResult, 'output' | 'frame'>): string =>
  frame !== undefined ? `, frame ${frame}` : output > 1 ? `, output ${output}` : '';

/** Returns which result of a step it is: `cell 3`, or `cell 3, output 2`. */
export const placeOf = (result: Pick<PageResult, 'cell' | 'output' | 'frame'>): string =>
  `cell ${count(result.cell)}${outputOf(result)}`;

/** Returns what the page shows, and searches, of a pick: `picked as best/1`; empty if nothing picked the result. */
export const pickOf = ({ picked }: { readonly picked?: string | undefined }): string =>
  picked === undefined ? '' : `picked as ${picked}`;

/** Returns how `madeFrom` of other results names a picked one: `best/1 4f…`, one for each pick. */
export const pickNames = (of: {
  readonly picked?: string | undefined;
  readonly job?: string | undefined;
}): readonly string[] => (of.picked ? of.picked.split(', ').map((name) => `${name} ${of.job}`) : []);

/** Returns the full name of a result for screen readers and tests: `grid U2, cell 3, done`. */
export const nameOf = (
  result: Pick<PageResult, 'step' | 'branch' | 'cell' | 'status' | 'output' | 'frame'>,
): string => `${titleOf(result)}, cell ${result.cell}, ${result.status}${outputOf(result)}`;

/** Escapes the parts of a path for an address, because names may contain `#`, `?` and `%`. */
export const escapePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** Returns the value of a variable on one line. An object becomes a list: `ink drawing, 50`. */
export function lineOf(value: string): string {
  if (!value.startsWith('{')) return value;
  try {
    const members: readonly unknown[] = Object.values(JSON.parse(value) as Record<string, unknown>);
    return members.map((member) => (typeof member === 'string' ? member : JSON.stringify(member))).join(', ');
  } catch {
    return value;
  }
}
