import { type Value, WrittenNumber } from '../../pipeline/values/value.ts';
import type { Selection } from '../../plan/cell.ts';
import type { Plan } from '../../plan/plan.ts';

/** What all values of a variable are; texts, and variables of several kinds, are text. */
export type VariableKind = 'integer' | 'number' | 'boolean' | 'json';

/**
 * The kind of each variable, from all cells that are chosen: a table's columns are texts, an axis of numbers is a column of numbers. Reads
 * the matrix once and keeps nothing of it.
 *
 * @throws TableError
 */
export async function variableKinds(
  { matrix }: Pick<Plan, 'matrix'>,
  selection: Selection,
  signal?: AbortSignal,
): Promise<readonly (readonly [name: string, kind: VariableKind | 'text'])[]> {
  const kinds = new Map<string, VariableKind | 'text'>();
  const names = matrix.variables;
  for await (const { vars } of matrix.cells(selection, signal)) {
    for (const name of names) {
      const value = vars[name];
      if (value === undefined || value === null) continue;
      kinds.set(name, widened(kinds.get(name), kindOf(value)));
    }
    if (names.every((name) => kinds.get(name) === 'text')) break;
  }
  return names.map((name) => [name, kinds.get(name) ?? 'text']);
}

function kindOf(value: Exclude<Value, null>): VariableKind | 'text' {
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return numberKind(value);
  // Digits that a number does not hold would be rounded.
  if (value instanceof WrittenNumber) return value.isLongInteger ? 'text' : numberKind(value.value);
  return typeof value === 'object' ? 'json' : 'text';
}

const numberKind = (value: number): 'integer' | 'number' =>
  Number.isSafeInteger(value) ? 'integer' : 'number';

function widened(
  one: VariableKind | 'text' | undefined,
  other: VariableKind | 'text',
): VariableKind | 'text' {
  if (one === undefined || one === other) return other;
  return (one === 'integer' || one === 'number') && (other === 'integer' || other === 'number')
    ? 'number'
    : 'text';
}
