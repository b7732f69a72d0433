import type { JobRecord } from '../../src/plan/job.ts';
import type { World } from '../rig/world.ts';

export const slotsOf = ({ plan, cells, store }: World) =>
  cells.flatMap((cell) => plan.resolve(cell, (key) => store.get(key)));

export const recordAt = (here: World, name: string): JobRecord => {
  const found = slotsOf(here).find(({ step, branch }) => [step, ...branch].join('/') === name)?.record;
  if (found === undefined) throw new Error(`nothing at ${name}`);
  return found;
};

export const redo = (here: World, ...names: readonly string[]) => ({
  redo: { keys: names.map((name) => recordAt(here, name).key), again: true },
});

/** Slots that name another task than the one that their parent has. */
export const namesOldTask = (here: World): readonly string[] =>
  slotsOf(here).flatMap(({ step, record }) => {
    const parent = record?.parent === undefined ? undefined : here.store.get(record.parent);
    return record?.parentTaskId === parent?.taskId ? [] : [step];
  });
