import type { Cell } from '../../plan/cell.ts';
import type { CellGroups } from '../../plan/matrix/groups.ts';

/** How cells are grouped, by one reduction. */
export type Grouping = Pick<CellGroups, 'last' | 'numbers' | 'axes'>;

/** Cells that one worker takes together. */
export interface DealtSlice {
  readonly cells: readonly Cell[];
  /** In a slice of groups: the lowest cell that they gather. All slices from there on are done before the slice is taken. */
  readonly since?: number;
}

/** Largest number of cells that one slice gathers; a larger group has a slice of its own. The records of all of them are read together. */
const maxMembers = 4096;

/**
 * Deals cells as slices, in order, and cuts where the fewest groups are split. A group within one slice is worked on there. The last cell
 * of any other is dealt twice: with its own cells for its own steps, then in a slice of groups, for the steps that are reduced.
 *
 * @param cells by ascending number
 * @param size largest number of cells of a slice
 * @returns each slice of cells with the slices of the groups that end in it
 */
export async function* dealSlices(
  cells: AsyncIterable<Cell>,
  groupings: readonly Grouping[],
  size: number,
): AsyncGenerator<readonly [DealtSlice, ...DealtSlice[]]> {
  let open: Cell[] = [];
  /** For each open cell, how many groupings have no group that goes on behind it. */
  let whole: number[] = [];
  const until = groupings.map(() => 0);
  for await (const cell of cells) {
    for (const [at, grouping] of groupings.entries())
      until[at] = Math.max(until[at] as number, grouping.last(cell.number));
    open.push(cell);
    whole.push(until.filter((last) => last <= cell.number).length);
    if (open.length < size) continue;
    const cut = whole.lastIndexOf(Math.max(...whole)) + 1;
    yield dealt(open.slice(0, cut), groupings);
    open = open.slice(cut);
    whole = whole.slice(cut);
  }
  if (open.length > 0) yield dealt(open, groupings);
}

function dealt(
  cells: readonly Cell[],
  groupings: readonly Grouping[],
): readonly [DealtSlice, ...DealtSlice[]] {
  const first = cells[0]?.number ?? 0;
  const isNested = areNested(groupings);
  const elsewhere = new Set<number>();
  const own: Cell[] = [];
  const later: { cells: Cell[]; since: number; members: number }[] = [];
  for (const cell of cells) {
    const gathered = groupings.flatMap((grouping) =>
      grouping.last(cell.number) === cell.number ? [grouping.numbers(cell.number)] : [],
    );
    const since = Math.min(...gathered.map(([lowest = cell.number]) => lowest));
    // A group may need what is made of a group that ends in one of its cells.
    const waits = isNested && gathered.some((numbers) => numbers.some((number) => elsewhere.has(number)));
    if (since >= first && !waits) {
      own.push(cell);
      continue;
    }
    elsewhere.add(cell.number);
    own.push({ ...cell, groupsElsewhere: true });
    const members = gathered.reduce((sum, { length }) => sum + length, 0);
    let last = later.at(-1);
    if (last === undefined || last.members + members > maxMembers)
      later.push((last = { cells: [], since, members: 0 }));
    last.cells.push(cell);
    last.since = Math.min(last.since, since);
    last.members += members;
  }
  return [{ cells: own }, ...later.map(({ cells: lasts, since }) => ({ cells: lasts, since }))];
}

/** Whether a step may gather what another step made of groups: then groups wait for groups, and not only for cells. */
export const areNested = (groupings: readonly Grouping[]): boolean =>
  groupings.some(({ axes }) =>
    groupings.some((other) => other.axes !== axes && [...axes].every((name) => other.axes.has(name))),
  );
