import { jobPlaces, type SlotTemplate } from '../../plan/graph/slot-template.ts';
import { inputsOf } from '../../plan/job.ts';
import { sourcesOf } from '../../plan/resolve/lineage.ts';
import type { Slot } from '../../plan/slot.ts';
import type { LineageStop, PageDetail, PageResult } from './wire.ts';

/** A slot with results, and the index of its first result. */
export interface PlacedSlot {
  readonly slot: Slot;
  readonly at: number;
}

/**
 * Finds what the slots of one cell were made from and what was made from them. Only what is made from a pick may have its parent in another
 * cell, which `madeFrom` names. Slots without results are skipped.
 *
 * @param templates of the plan, by their index
 * @returns a function that returns the ancestors, inputs and children of a slot
 */
export function lineageIn(
  templates: readonly SlotTemplate[],
  slots: readonly PlacedSlot[],
): (
  placed: PlacedSlot,
) => Pick<PageDetail, 'lineage' | 'inputs' | 'children'> & Pick<PageResult, 'madeFrom'> {
  const byKey = grouped(slots, ({ slot: { job } }) => (job === undefined ? [] : [job.key]));
  const byPlace = grouped(slots, ({ slot: { place } }) => (place === undefined ? [] : [place]));
  const templateOf = ({ place }: Slot): SlotTemplate | undefined =>
    place === undefined ? undefined : templates[place];
  const otherOf = (key: string, placed: PlacedSlot): PlacedSlot | undefined =>
    byKey.get(key)?.find((other) => other !== placed);

  const findParent = (placed: PlacedSlot): PlacedSlot | undefined => {
    const { slot } = placed;
    const start = templateOf(slot)?.above;
    // A pick may be in another cell, and its branch does not begin with that of what was picked: its key finds it.
    const above = start === undefined || start.pick ? undefined : jobPlaces(start)[0]?.index;
    const isAbove = (other: PlacedSlot): boolean =>
      other !== placed && other.slot.place === above && beginsWith(slot.branch, other.slot.branch);
    if (slot.job === undefined) return above === undefined ? undefined : byPlace.get(above)?.find(isAbove);
    if (slot.job.parent === undefined) return undefined;
    return byKey.get(slot.job.parent)?.find(isAbove) ?? otherOf(slot.job.parent, placed);
  };
  const parents = new Map(slots.map((placed) => [placed, findParent(placed)]));

  /** Returns the results that the job used besides its parent. */
  const inputs = (placed: PlacedSlot): readonly PlacedSlot[] => {
    const { job } = placed.slot;
    const keys = job === undefined ? [] : sourcesOf(job).filter((key) => key !== job.parent);
    return keys.flatMap((key) => otherOf(key, placed) ?? []);
  };
  const children = grouped(slots, (placed) => new Set([parents.get(placed) ?? [], inputs(placed)].flat()));

  const chain = (placed: PlacedSlot): readonly PlacedSlot[] => {
    const stops = new Set<PlacedSlot>();
    for (let at: PlacedSlot | undefined = placed; at !== undefined && !stops.has(at); at = parents.get(at))
      stops.add(at);
    return [...stops].reverse();
  };
  const wayTo = (placed: PlacedSlot): readonly PlacedSlot[] => {
    const { job } = placed.slot;
    if (job?.inputs === undefined) return chain(placed);
    const ways = inputsOf(job).flatMap((key) => {
      const input = otherOf(key, placed);
      return input === undefined ? [] : [chain(input)];
    });
    return [...common(ways), placed];
  };

  const stop = ({ slot, at }: PlacedSlot): LineageStop => {
    const { level = 0, each } = templateOf(slot) ?? {};
    const last = slot.branch.at(-1);
    const item = each === undefined ? undefined : /^\[(\d+)\]$/.exec(last ?? '')?.[1];
    if (item !== undefined) return { label: `${slot.step}, item ${item}`, at };
    return { label: (level > 0 ? last : undefined) ?? slot.step, at };
  };
  const pickAbove = (placed: PlacedSlot): Pick<PageResult, 'madeFrom'> => {
    const pick = templateOf(placed.slot)?.above?.pick;
    const parent = placed.slot.job?.parent;
    if (pick === undefined || parent === undefined || parents.get(placed) !== undefined) return {};
    return { madeFrom: `${pick.of.step.name}/${pick.number} ${parent}` };
  };
  return (placed) => ({
    ...pickAbove(placed),
    lineage: wayTo(placed).map(stop),
    inputs: inputs(placed).map(stop),
    children: (children.get(placed) ?? []).map(stop),
  });
}

function grouped<Key>(
  slots: readonly PlacedSlot[],
  keysOf: (placed: PlacedSlot) => Iterable<Key>,
): ReadonlyMap<Key, readonly PlacedSlot[]> {
  const groups = new Map<Key, PlacedSlot[]>();
  for (const placed of slots)
    for (const key of keysOf(placed)) {
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push(placed);
    }
  return groups;
}

/** Returns the common beginning of several paths. */
function common([first = [], ...others]: readonly (readonly PlacedSlot[])[]): readonly PlacedSlot[] {
  const end = first.findIndex((stop, index) => others.some((way) => way[index] !== stop));
  return end === -1 ? first : first.slice(0, end);
}

const beginsWith = (branch: readonly string[], other: readonly string[]): boolean =>
  other.every((segment, index) => branch[index] === segment);
