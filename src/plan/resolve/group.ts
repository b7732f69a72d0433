import type { Reduction } from '../../pipeline/pipeline.ts';
import type { TemplateScope } from '../../pipeline/templates/template.ts';
import type { Value } from '../../pipeline/values/value.ts';
import type { Cell } from '../cell.ts';
import { slotIdsOf } from '../key.ts';
import type { CellGroups } from '../matrix/groups.ts';
import type { Slot } from '../slot.ts';
import type { Resolved } from './resolved.ts';
import { gatheredValue } from './scope.ts';
import { gatheredStart, type Upstream } from './upstream.ts';

/** A cell as its templates and rows see it: itself, or for a group of cells what is equal in all of them. */
export interface Seen {
  readonly scope: TemplateScope;
  readonly slotId: (place: string) => string;
  /** See `Slot.group`. */
  readonly group: Slot['group'] | undefined;
}

export const seenAs = (cell: Pick<Cell, 'vars' | 'repeat'>, group?: Slot['group']): Seen => ({
  scope: { vars: cell.vars, repeat: cell.repeat, steps: {} },
  slotId: slotIdsOf(cell.vars, cell.repeat),
  group,
});

/** The group of cells whose last cell this is. What includes add counts as in the first of them. */
export function seenByGroup(groups: CellGroups, last: Cell, { axes, variables }: Reduction): Seen {
  const [first = last.number] = groups.numbers(last.number);
  const { vars, repeat } = groups.cell(first, last);
  const equal = Object.entries(vars).filter(([name]) => !variables.includes(name));
  const group = { vars: Object.fromEntries(equal), repeat: axes.includes('repeat') ? 1 : repeat };
  return seenAs(group, group);
}

/**
 * {@link gatheredStart} of jobs of several cells, and what templates read of them as a list; what blocks them all is named with its cell.
 */
export function startOfGroup(
  jobs: ReadonlyMap<Resolved, Cell>,
  ignoresFailed: boolean,
): { readonly start: Upstream; readonly values: () => readonly Value[] } {
  const start = gatheredStart([...jobs.keys()], ignoresFailed);
  const { dependency } = start;
  const values = (): readonly Value[] => {
    const chosen = new Set(start.jobs);
    return [...jobs].flatMap(([job, cell]) => (chosen.has(job) ? gatheredValue(job, cell) : []));
  };
  if (!('cause' in dependency)) return { start, values };
  const [, cell] = [...jobs].find(([job]) => job.dependency === dependency) ?? [];
  const cause = `cell ${cell?.number}, ${dependency.cause}`;
  return { start: { ...start, dependency: { ...dependency, cause } }, values };
}

/** Whether the results of all these jobs can be read; while one is redone, its former result is. */
export const areReadable = ({ jobs }: Upstream): boolean =>
  jobs.every(({ dependency, stands }) => dependency.kind === 'done' || stands);
