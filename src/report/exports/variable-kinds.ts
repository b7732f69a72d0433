import { type Value, WrittenNumber } from '../../pipeline/values/value.ts';
import type { Selection } from '../../plan/cell.ts';
import type { Plan } from '../../plan/plan.ts';

/** Type of all values of a variable. Texts and mixed values have the kind `text` instead. */
export type VariableKind = 'integer' | 'number' | 'boolean' | 'json';

/**
 * Returns the kind of each variable from the values in all selected cells. Table columns are texts; an axis of numbers is numeric. Reads
 * the matrix once without keeping it.
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
  // A number would round these digits.
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
