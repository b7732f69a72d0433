import type { BranchAddress } from '../../pipeline/pipeline.ts';
import { globMatches } from '../../pipeline/selectors/glob.ts';
import { placeText } from '../key.ts';
import { textPress } from '../request/click.ts';
import { stepNamed } from './order.ts';
import type { SlotTemplate, SlotTemplateDraft, StepTemplates } from './slot-template.ts';

/** The places that an address names, in the manifest's order. */
export function selectTemplates(
  laid: ReadonlyMap<string, StepTemplates>,
  address: BranchAddress,
): readonly SlotTemplate[] {
  let level = stepNamed(laid, address.step).operations;
  for (const segment of address.segments) {
    if (segment === '*') level = level.flatMap(({ below }) => below);
    else if (segment === '**') level = level.flatMap(leaves);
    else level = level.flatMap(({ below }) => below.flatMap((place) => namedBranch(place, segment) ?? []));
  }
  if (level.length === 0) throw new Error(`Internal error: "${address.source}" names no job.`);
  return level;
}

/** The slot template of a branch name: of the selector with this name, or of a wildcard's branch with this name. */
function namedBranch(place: SlotTemplate, name: string): SlotTemplate | undefined {
  if (place.segment === name) return place;
  if (!place.wild || !globMatches(place.segment ?? '', name)) return undefined;
  const known = place.names.get(name);
  if (known !== undefined) return known;
  const named = copyBelow(place, place.above, name);
  (place as SlotTemplateDraft).names.set(name, named);
  return named;
}

/** A wildcard's branch under one name, with the rest of its path. */
function copyBelow(place: SlotTemplate, above: SlotTemplate | undefined, name?: string): SlotTemplate {
  const segment = name ?? place.segment;
  const branch = [...(above?.branch ?? []), ...(segment === undefined ? [] : [segment])];
  const wild = name === undefined && place.wild;
  const copy: SlotTemplateDraft = {
    ...place,
    copyOf: place.copyOf ?? place,
    ...(above === undefined ? {} : { above }),
    ...(segment === undefined ? {} : { segment }),
    ...(name === undefined ? {} : { named: textPress(name) }),
    wild,
    open: wild || (above?.open ?? false),
    late: wild || place.waits.length > 0 || (above?.late ?? false),
    branch,
    text: placeText(place.step.name, branch),
    names: new Map(),
    below: [],
  };
  copy.below = place.below.map((next) => copyBelow(next, copy));
  return copy;
}

const leaves = (place: SlotTemplate): readonly SlotTemplate[] =>
  place.below.length === 0 ? [place] : place.below.flatMap(leaves);
