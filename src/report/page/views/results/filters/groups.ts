import type { PageSummary, PageVariable } from '../../../../results/wire.ts';
import type { Filter } from '../../../state/query.ts';

/** A group of filter values in the side panel. */
export interface Group {
  readonly name: string;
  readonly values: readonly (readonly [value: string, results: number | undefined])[];
  readonly filter: (value: string) => Filter;
  /** Number of the variable, which may have more values than {@link values}. */
  readonly variable?: number;
  readonly distinct: number;
}

/** Returns the filter groups: statuses, steps, and one group for each variable. */
export function groupsOf({ variables, steps, statuses }: PageSummary): readonly Group[] {
  return [
    {
      name: 'Status',
      values: Object.entries(statuses),
      filter: (value) => ({ by: 'status', value }),
      distinct: Object.keys(statuses).length,
    },
    {
      name: 'Step',
      values: steps.map(({ name, results }) => [name, results] as const),
      filter: (value) => ({ by: 'step', value }),
      distinct: steps.length,
    },
    ...variables.map((variable: PageVariable, n) => ({
      name: variable.name,
      values: variable.values,
      filter: (value: string): Filter => ({ by: 'variable', name: variable.name, value }),
      variable: n,
      distinct: variable.distinct,
    })),
  ];
}
