import type { Cell, Selection } from '../plan/cell.ts';
import { type ChosenSteps, chosenSteps } from '../plan/graph/step-selection.ts';
import type { Plan } from '../plan/plan.ts';
import { standing } from '../plan/resolve/former.ts';
import { parentTaskOf } from '../plan/resolve/lineage.ts';
import { cellsAtOnce, inGroups, withRecords } from '../plan/resolve/load-records.ts';
import type { RecordLookup, Slot } from '../plan/slot.ts';
import type { StateReader } from '../state/reader.ts';
import { isNarrowed, type ManifestCell, narrowedCells } from './cells.ts';
import { KeySet } from './key-set.ts';
import { ManifestPicks, type PickNames } from './picks.ts';
import { Roots } from './roots.ts';
import { type ManifestRow, outputsOf } from './row.ts';
import { hasAccount } from './text-columns.ts';

/**
 * Yields the rows of a plan's manifest: the plan joined with the state, in plan order whatever the order of completion.
 *
 * Every selected slot has a row for each of its outputs, or one row without an output; other slots are listed if they have a result. A few
 * cells are in memory at a time ({@link cellsAtOnce}), and 10 to 22 bytes per job, to show its cost and its tokens once.
 *
 * The selection has been checked against the plan (its steps and axes exist).
 *
 * @throws the signal's reason when it is aborted
 */
export async function* manifestRows(
  plan: Plan,
  selection: Selection,
  reader: Pick<StateReader, 'many' | 'rootKeys'>,
  signal?: AbortSignal,
): AsyncGenerator<ManifestRow> {
  for await (const rows of manifestGroups(plan, selection, reader, signal)) yield* rows;
}

/** Groups the rows of a manifest by cell. A cell has at most some thousand slots. */
export async function* rowsByCell(rows: AsyncIterable<ManifestRow>): AsyncGenerator<readonly ManifestRow[]> {
  let cell: ManifestRow[] = [];
  for await (const row of rows) {
    if (cell[0] !== undefined && cell[0].cell.number !== row.cell.number) {
      yield cell;
      cell = [];
    }
    cell.push(row);
  }
  if (cell.length > 0) yield cell;
}

/**
 * Yields the rows in groups, which avoids a promise per row. Take all rows of a group before you ask for the next group.
 *
 * @throws the signal's reason when it is aborted
 */
export async function* manifestGroups(
  plan: Plan,
  selection: Selection,
  reader: Pick<StateReader, 'many' | 'rootKeys'>,
  signal?: AbortSignal,
): AsyncGenerator<Iterable<ManifestRow>> {
  const listedJobs = new KeySet();
  const size = cellsAtOnce(plan);
  const roots = isNarrowed(selection) ? await Roots.of(reader) : undefined;
  const picks = new ManifestPicks(plan);
  const groups = roots === undefined ? everyCell(plan, size) : narrowedCells(plan, selection, roots, size);
  const steps = chosenSteps(plan, selection.only);
  if (!steps.ok) throw new Error(`Internal error: the selection was not checked: ${steps.error.message}`);

  for await (const cells of groups)
    yield groupRows(await listedCells(plan, cells, steps.value, picks, reader, signal), roots, listedJobs);
}

/** Yields the rows of a group of cells. Roots are placed cell by cell. */
function* groupRows(
  cells: readonly (ManifestCell & ListedSlots)[],
  roots: Roots | undefined,
  listedJobs: ListedJobs,
): Generator<ManifestRow> {
  for (const { cell, chosen, rootKeys, listed } of cells) {
    if (!chosen && roots?.allPlaced === true) continue;
    if (roots !== undefined) for (const key of rootKeys) roots.place(key);
    yield* cellRows(cell, listed, listedJobs);
  }
}

/** Yields the rows of a cell, from its slots. */
export function* cellRows(
  cell: Cell,
  listed: readonly ListedSlot[],
  listedJobs: ListedJobs,
): Generator<ManifestRow> {
  for (const slot of listed) yield* slotRows(cell, slot, listedJobs);
}

/** The jobs that already have a row. */
export interface ListedJobs {
  /** Adds a job. @param cell of the row @returns false if an earlier row shows the job */
  add(key: string, cell: number): boolean;
}

/**
 * Yields the rows of some cells of a plan.
 *
 * @param listedJobs jobs that have a row already
 * @param chosen the selected parts of these cells; absent: all of them, completely
 */
export async function* rowsOfCells(
  plan: Plan,
  cells: readonly Cell[],
  reader: Pick<StateReader, 'many'>,
  listedJobs: ListedJobs,
  { only, isChosen = () => true, picks = new ManifestPicks(plan) }: ChosenOfCells = {},
): AsyncGenerator<ManifestRow> {
  const steps = chosenSteps(plan, only);
  if (!steps.ok) throw new Error(`Internal error: ${steps.error.message}`);
  const chosen = cells.map((cell) => ({ cell, chosen: isChosen(cell) }));
  for (const { cell, listed } of await listedCells(plan, chosen, steps.value, picks, reader))
    yield* cellRows(cell, listed, listedJobs);
}

/** The selected parts of some cells. */
interface ChosenOfCells extends Pick<Selection, 'only'> {
  /** Whether a cell is selected; default: each is. */
  readonly isChosen?: (cell: Cell) => boolean;
  /** What is known of picks; default: nothing. */
  readonly picks?: ManifestPicks;
}

async function listedCells(
  plan: Plan,
  cells: readonly ManifestCell[],
  steps: ChosenSteps,
  picks: ManifestPicks,
  reader: Pick<StateReader, 'many'>,
  signal?: AbortSignal,
): Promise<readonly (ManifestCell & ListedSlots)[]> {
  const found = await withRecords(
    cells,
    ({ cell, chosen }, lookup) => listedSlots(plan.resolve(cell, lookup), chosen ? steps : undefined, lookup),
    (keys) => reader.many(keys),
    plan.images,
    signal,
  );
  await picks.load(
    cells.map(({ cell }) => cell),
    (keys) => reader.many(keys),
    signal,
  );
  return cells.map((cell, at) => {
    const { rootKeys, listed } = found[at] ?? { rootKeys: [], listed: [] };
    const pickedOf = picks.take(cell.cell.number);
    const slots = listed.map((one): ListedSlot => {
      const names = pickedOf(one.slot);
      return names === undefined ? one : { ...one, picks: names };
    });
    return { ...cell, rootKeys, listed: slots };
  });
}

/** A slot that the manifest lists. */
export interface ListedSlot extends Pick<ManifestRow, 'chosen' | 'parentTaskId' | 'mayChange'> {
  /** The slot; while its job is made again, it shows the previous result with its file, its task and their origin. */
  readonly slot: Slot;
  /** What steps picked of it. */
  readonly picks?: PickNames;
}

/** The slots of a cell that the manifest lists. */
interface ListedSlots {
  /** Keys of its jobs without a parent. */
  readonly rootKeys: readonly string[];
  readonly listed: readonly ListedSlot[];
}

/** Returns the slots of a cell that the manifest lists. @param steps the selected steps, of a selected cell */
export function listedSlots(
  slots: readonly Slot[],
  steps: Pick<ChosenSteps, 'includes'> | undefined,
  lookup: RecordLookup,
): ListedSlots {
  const rootKeys: string[] = [];
  const listed: ListedSlot[] = [];
  for (const found of slots) {
    if (found.record !== undefined && found.record.parent === undefined) rootKeys.push(found.record.key);
    const chosen = steps?.includes(found) === true;
    if (!chosen && !hasResult(found)) continue;
    const slot =
      found.record?.former === undefined ? found : { ...found, id: found.id, record: standing(found.record) };
    const parentTaskId =
      slot.record === undefined ? taskToBe(slot, lookup) : parentTaskOf(slot.record, lookup);
    listed.push({
      slot,
      chosen,
      ...(parentTaskId === undefined ? {} : { parentTaskId }),
      ...(isFinal(found) ? {} : { mayChange: true }),
    });
  }
  return { rootKeys, listed };
}

/** Whether no job that a slot depends on is being redone, or will be. */
export const isFinal = ({ record, outdated, waitsForRedo }: Slot): boolean =>
  outdated === undefined && waitsForRedo === undefined && record?.former === undefined;

function* slotRows(
  cell: Cell,
  { slot, picks, ...place }: ListedSlot,
  listedJobs: ListedJobs,
): Generator<ManifestRow> {
  const { record } = slot;
  const shared = { cell: slot.group === undefined ? cell : { ...cell, ...slot.group }, slot, ...place };
  const sharesJob = record !== undefined && !listedJobs.add(record.key, cell.number);
  const isCounted = record !== undefined && hasAccount(record);
  const firstOfJob = isCounted && !sharesJob;

  const [artifact, ...more] = record === undefined ? [] : outputsOf(record, slot);
  const isCut = slot.split === true && (record?.frames?.files ?? []).length > 0;
  yield {
    ...shared,
    ...pickedOf(picks?.get(0) ?? (isCut ? undefined : picks?.get(artifact?.output ?? 0))),
    firstOfSlot: true,
    firstOfJob,
    ...(sharesJob && { sharesJob }),
    ...(isCounted && !firstOfJob && { countedBefore: true }),
    ...(artifact === undefined ? {} : { artifact }),
    ...(isCut && { isCut }),
  };
  for (const [index, next] of more.entries())
    yield {
      ...shared,
      ...pickedOf(picks?.get(isCut ? index + 1 : next.output)),
      firstOfSlot: false,
      firstOfJob: false,
      artifact: next,
      ...(isCut && { frame: index + 1 }),
    };
}

const pickedOf = (picked: string | undefined): Pick<ManifestRow, 'picked'> =>
  picked === undefined ? {} : { picked };

/** Returns the task that a job will be made from, if the job was never begun. */
function taskToBe({ job }: Slot, lookup: RecordLookup): string | undefined {
  const parent = job?.parent === undefined ? undefined : lookup(job.parent);
  return parent === undefined ? undefined : standing(parent).taskId;
}

/** Whether a slot has a result; a record that waits for its turn is not one. */
const hasResult = ({ record }: Slot): boolean => record !== undefined && record.status !== 'pending';

async function* everyCell(plan: Plan, size: number): AsyncGenerator<readonly ManifestCell[]> {
  for await (const cells of inGroups(plan.matrix.cells({}), size))
    yield cells.map((cell) => ({ cell, chosen: true }));
}
