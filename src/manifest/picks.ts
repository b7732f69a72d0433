import type { Reduction } from '../pipeline/pipeline.ts';
import { formatBranch } from '../pipeline/selectors/parse.ts';
import type { Cell } from '../plan/cell.ts';
import { stepNamed } from '../plan/graph/order.ts';
import { reductionId } from '../plan/matrix/groups.ts';
import type { Plan } from '../plan/plan.ts';
import { cellsAtOnce, inGroups, type RecordLoader, withRecords } from '../plan/resolve/load-records.ts';
import type { Slot } from '../plan/slot.ts';

/** Names of picks (`best/1`) by the number of the output that was picked; 0: the whole job. */
export type PickNames = ReadonlyMap<number, string>;

/**
 * What the steps of a plan picked, for the rows of what was picked. Cells are asked for in ascending order, unless all is kept; what is
 * known of groups with cells to come is kept: a name for each pick.
 */
export class ManifestPicks {
  readonly #plan: Plan;
  readonly #keepsAll: boolean;
  /** The reductions of steps that pick over axes; undefined: of those that pick in each cell. */
  readonly #reductions: readonly (Reduction | undefined)[];
  /** Cells whose steps have picked: see {@link Plan.picks}. */
  readonly #asked = new Set<number>();
  readonly #names = new Map<number, Map<string, Map<number, string>>>();
  /** Names of all picks, in the order of the file. */
  readonly #all: readonly string[];

  /** @param keepsAll cells are asked for in any order, and more than once */
  constructor(plan: Plan, keepsAll = false) {
    this.#plan = plan;
    this.#keepsAll = keepsAll;
    const { bests } = plan.pipeline;
    this.#reductions = [
      ...new Map(bests.map(({ reduced }) => [reduced && reductionId(reduced), reduced])).values(),
    ];
    this.#all = bests.flatMap(({ name, best }) =>
      Array.from({ length: best?.top ?? 0 }, (_, at) => `${name}/${at + 1}`),
    );
  }

  /** Finds out what was picked in these cells and their groups. @throws the signal's reason when it is aborted */
  async load(cells: readonly Cell[], load: RecordLoader, signal?: AbortSignal): Promise<void> {
    const picking = new Map<number, Cell>();
    for (const cell of cells)
      for (const reduction of this.#reductions) {
        const last = this.#lastOf(cell, reduction);
        if (!this.#asked.has(last.number)) picking.set(last.number, last);
      }
    for await (const some of inGroups(picking.values(), cellsAtOnce(this.#plan))) {
      const found = await withRecords(
        some,
        (cell, lookup) => this.#plan.picks(cell, lookup),
        load,
        this.#plan.images,
        signal,
      );
      for (const { number } of some) this.#asked.add(number);
      for (const { cell, step, branch, output, name } of found.flat()) {
        const ofCell = this.#names.get(cell) ?? new Map<string, Map<number, string>>();
        const place = placeOf({ step, branch });
        const ofSlot = ofCell.get(place) ?? new Map<number, string>();
        const names = new Set([...(ofSlot.get(output)?.split(', ') ?? []), name]);
        ofSlot.set(output, names.size === 1 ? name : this.#all.filter((one) => names.has(one)).join(', '));
        this.#names.set(cell, ofCell.set(place, ofSlot));
      }
    }
  }

  /** Returns the cells that are picked from together with one of these, and of those that something is picked of, or was before. */
  picked(cells: readonly Cell[], wasPicked: Pick<ReadonlySet<number>, 'has'>): ReadonlySet<number> {
    const picked = new Set<number>();
    for (const reduction of this.#reductions) {
      const groups = reduction && stepNamed(this.#plan.matrix.groups, reductionId(reduction));
      for (const last of new Set(cells.flatMap(({ number }) => groups?.last(number) ?? [])))
        for (const number of groups?.numbers(last) ?? [])
          if (this.#names.has(number) || wasPicked.has(number)) picked.add(number);
    }
    return picked;
  }

  /** Returns what was picked of the slots of a cell that was loaded. The cell is not asked for again. */
  take(cell: number): (slot: Slot) => PickNames | undefined {
    const names = this.#names.get(cell);
    if (!this.#keepsAll) {
      this.#names.delete(cell);
      this.#asked.delete(cell);
    }
    return (slot) => names?.get(placeOf(slot));
  }

  #lastOf(cell: Cell, reduction: Reduction | undefined): Cell {
    if (reduction === undefined) return cell;
    const groups = stepNamed(this.#plan.matrix.groups, reductionId(reduction));
    const last = groups.last(cell.number);
    return last === cell.number ? cell : groups.cell(last, cell);
  }
}

const placeOf = ({ step, branch }: Pick<Slot, 'step' | 'branch'>): string =>
  `${step}/${formatBranch(branch)}`;
