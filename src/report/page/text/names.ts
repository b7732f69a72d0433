import type { PageResult } from '../../results/wire.ts';
import { count } from './format.ts';

/** Returns the title of a result: `grid U2/Vary (Strong)`. */
export const titleOf = ({ step, branch }: Pick<PageResult, 'step' | 'branch'>): string =>
  branch === '' ? step : `${step} ${branch}`;

/** Returns which result of a step it is: `cell 3`, or `cell 3, output 2`. */
export const placeOf = ({ cell, output = 1 }: Pick<PageResult, 'cell' | 'output'>): string =>
  output > 1 ? `cell ${count(cell)}, output ${output}` : `cell ${count(cell)}`;

/** Returns the full name of a result for screen readers and tests: `grid U2, cell 3, done`. */
export function nameOf(result: Pick<PageResult, 'step' | 'branch' | 'cell' | 'status' | 'output'>): string {
  const name = `${titleOf(result)}, cell ${result.cell}, ${result.status}`;
  return (result.output ?? 1) > 1 ? `${name}, output ${result.output}` : name;
}

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
