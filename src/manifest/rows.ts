import type { Cell, Selection } from '../plan/cell.ts';
import { chosenSteps } from '../plan/graph/step-selection.ts';
import type { JobRecord } from '../plan/job.ts';
import type { Plan } from '../plan/plan.ts';
import { standing } from '../plan/resolve/former.ts';
import { parentTaskOf } from '../plan/resolve/lineage.ts';
import type { Slot } from '../plan/slot.ts';
import type { StateReader } from '../state/store.ts';
import { isNarrowed, type ManifestCell, narrowedCells } from './cells.ts';
import { KeySet } from './key-set.ts';
import { Roots } from './roots.ts';
import type { ManifestRow } from './row.ts';
import { hasAccount } from './text-columns.ts';

/**
 * The rows of a plan's manifest: the plan joined with the state, in plan order whatever the order of completion.
 *
 * Every slot that the selection chose has a row for each of its artifacts, or one without any; other slots are there
 * when they have a result. One cell is in memory at a time; beside it the manifest remembers 8 to 32 bytes for
 * each job that has a cost or tokens, to show them once.
 *
 * The selection has been checked against the plan (its steps and axes exist).
 */
export async function* manifestRows(
  plan: Plan,
  selection: Selection,
  reader: StateReader,
): AsyncGenerator<ManifestRow> {
  const accounted = new KeySet();
  const narrowed = isNarrowed(selection);
  const roots = narrowed ? new Roots(reader) : undefined;
  const cells = roots === undefined ? everyCell(plan) : narrowedCells(plan, selection, roots);
  const steps = chosenSteps(plan, selection.only);
  if (!steps.ok) throw new Error(`Internal error: the selection was not checked: ${steps.error.message}`);

  for await (const { cell, chosen: cellIsChosen } of cells) {
    const lookup = rememberingLookup(reader);
    for (const slot of plan.resolve(cell, lookup)) {
      if (slot.record !== undefined && slot.record.parent === undefined) roots?.place(slot.record.key);
      const chosen = cellIsChosen && steps.value.includes(slot);
      if (chosen || hasResult(slot)) yield* slotRows(cell, slot, chosen, lookup, accounted);
    }
  }
}

function* slotRows(
  cell: Cell,
  found: Slot,
  chosen: boolean,
  lookup: (key: string) => JobRecord | undefined,
  accounted: KeySet,
): Generator<ManifestRow> {
  // While it is made again, a row shows the result that stands: its file, its task, and what that came from.
  const slot = found.record?.former === undefined ? found : { ...found, record: standing(found.record) };
  const { record } = slot;
  const parentTaskId = record === undefined ? taskToBe(slot, lookup) : parentTaskOf(record, lookup);
  const shared = { cell, slot, chosen, ...(parentTaskId === undefined ? {} : { parentTaskId }) };
  const firstOfJob = record !== undefined && hasAccount(record) && accounted.add(record.key);

  const [artifact, ...more] = record?.artifacts ?? [];
  yield { ...shared, firstOfSlot: true, firstOfJob, ...(artifact === undefined ? {} : { artifact }) };
  for (const next of more) yield { ...shared, firstOfSlot: false, firstOfJob: false, artifact: next };
}

/** Of a slot whose job was never begun: the task that it waits to be made from. */
function taskToBe({ job }: Slot, lookup: (key: string) => JobRecord | undefined): string | undefined {
  const parent = job?.parent === undefined ? undefined : lookup(job.parent);
  return parent === undefined ? undefined : standing(parent).taskId;
}

/** A record that only waits for its turn is no result. */
const hasResult = ({ record }: Slot): boolean => record !== undefined && record.status !== 'pending';

async function* everyCell(plan: Plan): AsyncGenerator<ManifestCell> {
  for await (const cell of plan.matrix.cells({})) yield { cell, chosen: true };
}

/** The plan and the parent's column ask for the same records: each is read once per cell. */
function rememberingLookup(reader: StateReader): (key: string) => JobRecord | undefined {
  const known = new Map<string, JobRecord | undefined>();
  return (key) => {
    if (!known.has(key)) known.set(key, reader.get(key));
    return known.get(key);
  };
}
