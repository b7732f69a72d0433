import type { SlotTemplate } from '../../plan/graph/slot-template.ts';
import { inputsOf } from '../../plan/job.ts';
import { sourcesOf } from '../../plan/resolve/lineage.ts';
import type { Slot } from '../../plan/slot.ts';
import type { LineageStop, PageDetail } from './wire.ts';

/** A slot with results, and the index of its first result. */
export interface PlacedSlot {
  readonly slot: Slot;
  readonly at: number;
}

/**
 * Finds what the slots of one cell were made from and what was made from them. All ancestors of a slot are in its own cell, so no other
 * cell is needed.
 *
 * Slots without results are skipped.
 */
export class CellLineage {
  readonly #templates: readonly SlotTemplate[];
  readonly #byKey = new Map<string, PlacedSlot[]>();
  readonly #byPlace = new Map<number, PlacedSlot[]>();
  readonly #parents = new Map<PlacedSlot, PlacedSlot | undefined>();
  readonly #children = new Map<PlacedSlot, PlacedSlot[]>();

  /** @param templates of the plan, by their index */
  constructor(templates: readonly SlotTemplate[], slots: readonly PlacedSlot[]) {
    this.#templates = templates;
    for (const placed of slots) {
      const { job, place } = placed.slot;
      if (job !== undefined) append(this.#byKey, job.key, placed);
      if (place !== undefined) append(this.#byPlace, place, placed);
    }
    for (const placed of slots) this.#parents.set(placed, this.#findParent(placed));
    for (const placed of slots) {
      const parent = this.#parents.get(placed);
      for (const source of new Set([...(parent === undefined ? [] : [parent]), ...this.#inputs(placed)]))
        append(this.#children, source, placed);
    }
  }

  /** Returns the ancestors, inputs and children of a slot. */
  of(placed: PlacedSlot): Pick<PageDetail, 'lineage' | 'inputs' | 'children'> {
    return {
      lineage: this.#wayTo(placed).map((each) => this.#stop(each)),
      inputs: this.#inputs(placed).map((each) => this.#stop(each)),
      children: (this.#children.get(placed) ?? []).map((each) => this.#stop(each)),
    };
  }

  #stop({ slot, at }: PlacedSlot): LineageStop {
    const template = this.#templateOf(slot);
    const isPressed = template !== undefined && template.level > 0;
    return { label: (isPressed ? slot.branch.at(-1) : undefined) ?? slot.step, at };
  }

  #templateOf = ({ place }: Slot): SlotTemplate | undefined =>
    place === undefined ? undefined : this.#templates[place];

  #findParent(placed: PlacedSlot): PlacedSlot | undefined {
    const { slot } = placed;
    const above = this.#templateOf(slot)?.above?.index;
    const isAbove = (other: PlacedSlot): boolean =>
      other !== placed && other.slot.place === above && beginsWith(slot.branch, other.slot.branch);
    if (slot.job === undefined)
      return above === undefined ? undefined : this.#byPlace.get(above)?.find(isAbove);
    if (slot.job.parent === undefined) return undefined;
    const same = (this.#byKey.get(slot.job.parent) ?? []).filter((other) => other !== placed);
    return same.find(isAbove) ?? same[0];
  }

  /** Returns the results that the job used besides its parent. */
  #inputs(placed: PlacedSlot): readonly PlacedSlot[] {
    const { job } = placed.slot;
    if (job === undefined) return [];
    const keys = sourcesOf(job).filter((key) => key !== job.parent);
    return keys.flatMap((key) => this.#byKey.get(key)?.find((other) => other !== placed) ?? []);
  }

  /** Returns the path from the root to the slot. */
  #wayTo(placed: PlacedSlot): readonly PlacedSlot[] {
    const { job } = placed.slot;
    if (job?.inputs !== undefined) {
      const ways = inputsOf(job).flatMap((key) => {
        const input = this.#byKey.get(key)?.find((other) => other !== placed);
        return input === undefined ? [] : [this.#chain(input)];
      });
      return [...common(ways), placed];
    }
    return this.#chain(placed);
  }

  #chain(placed: PlacedSlot): readonly PlacedSlot[] {
    const chain = new Set([placed]);
    for (
      let above = this.#parents.get(placed);
      above !== undefined && !chain.has(above);
      above = this.#parents.get(above)
    )
      chain.add(above);
    return [...chain].reverse();
  }
}

function append<Key>(map: Map<Key, PlacedSlot[]>, key: Key, placed: PlacedSlot): void {
  const there = map.get(key);
  if (there === undefined) map.set(key, [placed]);
  else there.push(placed);
}

/** Returns the common beginning of several paths. */
function common([first = [], ...others]: readonly (readonly PlacedSlot[])[]): readonly PlacedSlot[] {
  const end = first.findIndex((stop, index) => others.some((way) => way[index] !== stop));
  return end === -1 ? first : first.slice(0, end);
}

const beginsWith = (branch: readonly string[], other: readonly string[]): boolean =>
  other.every((segment, index) => branch[index] === segment);
