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
    else
      level = level.flatMap(({ below }) => below.flatMap((template) => namedBranch(template, segment) ?? []));
  }
  if (level.length === 0) throw new Error(`Internal error: "${address.source}" names no job.`);
  return level;
}

/** The slot template of a branch name: of the selector with this name, or of a wildcard's branch with this name. */
function namedBranch(template: SlotTemplate, name: string): SlotTemplate | undefined {
  if (template.segment === name) return template;
  if (!template.wild || !globMatches(template.segment ?? '', name)) return undefined;
  const known = template.names.get(name);
  if (known !== undefined) return known;
  const named = copyBelow(template, template.above, name);
  (template as SlotTemplateDraft).names.set(name, named);
  return named;
}

/** A wildcard's branch under one name, with the rest of its path. */
function copyBelow(template: SlotTemplate, above: SlotTemplate | undefined, name?: string): SlotTemplate {
  const segment = name ?? template.segment;
  const branch = [...(above?.branch ?? []), ...(segment === undefined ? [] : [segment])];
  const wild = name === undefined && template.wild;
  const copy: SlotTemplateDraft = {
    ...template,
    copyOf: template.copyOf ?? template,
    ...(above === undefined ? {} : { above }),
    ...(segment === undefined ? {} : { segment }),
    ...(name === undefined ? {} : { named: textPress(name) }),
    wild,
    open: wild || (above?.open ?? false),
    late: wild || template.waits.length > 0 || (above?.late ?? false),
    branch,
    text: placeText(template.step.name, branch),
    names: new Map(),
    below: [],
  };
  copy.below = template.below.map((next) => copyBelow(next, copy));
  return copy;
}

const leaves = (template: SlotTemplate): readonly SlotTemplate[] =>
  template.below.length === 0 ? [template] : template.below.flatMap(leaves);
