import type { PageResult } from '../../results/wire.ts';
import { count } from './format.ts';

/** `grid U2/Vary (Strong)`: what was made. */
export const titleOf = ({ step, branch }: Pick<PageResult, 'step' | 'branch'>): string =>
  branch === '' ? step : `${step} ${branch}`;

/** `cell 3`, or `cell 3, output 2`: which of the results of its name it is. */
export const placeOf = ({ cell, output = 1 }: Pick<PageResult, 'cell' | 'output'>): string =>
  output > 1 ? `cell ${count(cell)}, output ${output}` : `cell ${count(cell)}`;

/** `grid U2, cell 3, done`: the name by which a result is found, by screen readers and tests too. */
export function nameOf(result: Pick<PageResult, 'step' | 'branch' | 'cell' | 'status' | 'output'>): string {
  const name = `${titleOf(result)}, cell ${result.cell}, ${result.status}`;
  return (result.output ?? 1) > 1 ? `${name}, output ${result.output}` : name;
}

/** Parts of an address are escaped, as names may hold `#`, `?` and `%`. */
export const escapePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** Value of a variable that is an object, as a line: `ink drawing, 50`. Other values are lines already. */
export function lineOf(value: string): string {
  if (!value.startsWith('{')) return value;
  try {
    const members: readonly unknown[] = Object.values(JSON.parse(value) as Record<string, unknown>);
    return members.map((member) => (typeof member === 'string' ? member : JSON.stringify(member))).join(', ');
  } catch {
    return value;
  }
}
