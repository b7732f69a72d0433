import type { BranchAddress, OutputChoice } from '../../pipeline/pipeline.ts';
import { globMatches } from '../../pipeline/selectors/glob.ts';
import { placeText } from '../key.ts';
import { textPress } from '../request/click.ts';
import { framesIn, isGrid } from './frames.ts';
import { stepNamed } from './order.ts';
import { jobPlaces, type SlotTemplate, type SlotTemplateDraft, type StepTemplates } from './slot-template.ts';

/** The next places of a path that have jobs: outputs are passed over. */
export const jobsBelow = ({ below, outputs }: SlotTemplate): readonly SlotTemplate[] => [
  ...below,
  ...[...outputs.values()].flatMap((output) => output.below),
];

/** Marks a job's files as wanted: one slot that wants them is enough, even if the job's own step has `keep: false`. */
export function keepFiles(place: SlotTemplate): void {
  for (const template of jobPlaces(place)) {
    (template as SlotTemplateDraft).keep = true;
    // The manifest shows the wildcard's slot in place of a branch that an address names: the files of that slot are kept.
    if (template.copyOf !== undefined) (template.copyOf as SlotTemplateDraft).keep = true;
  }
}

/** A place without a job of its own, which stands for the job of this place. */
export function freePlace(of: SlotTemplate): SlotTemplateDraft {
  const {
    copyOf: _copy,
    named: _named,
    selector: _selector,
    when: _when,
    gathers: _gathers,
    each: _each,
    ...rest
  } = of;
  return { ...rest, names: new Map(), outputs: new Map(), whenWaits: false, below: [] };
}

/** Returns the place of an output of a place's job, by its name. */
export function outputPlace(above: SlotTemplate, name: string, output: OutputChoice): SlotTemplateDraft {
  const known = above.outputs.get(name);
  if (known !== undefined) return known as SlotTemplateDraft;
  const branch = [...above.branch, name];
  const waits = typeof output === 'object' ? [...new Set(output.steps.map(({ step }) => step))] : [];
  const place: SlotTemplateDraft = {
    ...freePlace(above),
    above,
    level: above.level + 1,
    output,
    segment: name,
    segments: [name],
    bound: above.bound * framesIn(output, above),
    wild: typeof output !== 'number',
    open: above.open || output === 'each',
    branch,
    text: placeText(above.step.name, branch),
    waits,
    sure: above.sure && waits.length === 0,
    // Without a number, nothing below is sure: a template that reads `frame` fails until it is known.
    maySkip: above.maySkip || typeof output !== 'number',
    late: above.late || typeof output !== 'number',
  };
  const { outputs } = above as SlotTemplateDraft;
  const places = [...outputs, [name, place] as const].toSorted(([, a], [, b]) => numberOf(a) - numberOf(b));
  outputs.clear();
  for (const [key, value] of places) outputs.set(key, value);
  return place;
}

/** Whoever names an output first, outputs come in the order of their numbers; those that are chosen in the run come last. */
const numberOf = ({ output }: SlotTemplate): number =>
  typeof output === 'number' ? output : Number.MAX_SAFE_INTEGER;

/** Returns the places that an address means, in the manifest's order. */
export function selectTemplates(
  laid: ReadonlyMap<string, StepTemplates>,
  address: BranchAddress,
): readonly SlotTemplate[] {
  const { operations, picks } = stepNamed(laid, address.step);
  const [pick] = address.segments;
  if (picks !== undefined)
    return operations.filter(({ segment }) => pick === undefined || pick === '*' || pick === segment);
  let level = operations;
  for (const [at, segment] of address.segments.entries()) {
    const output = address.outputs?.[segment];
    const isLast = at === address.segments.length - 1;
    if (output !== undefined)
      level = level.flatMap((template) => outputPlaces(template, segment, output, isLast));
    else if (segment === '*') level = level.flatMap(({ below }) => below);
    else if (segment === '**') level = level.flatMap(leaves);
    else
      level = level.flatMap(({ below }) => below.flatMap((template) => namedBranch(template, segment) ?? []));
  }
  if (level.length === 0) throw new Error(`Internal error: "${address.source}" names no job.`);
  return level;
}

/** Returns the places of the outputs that an address names: of each grid that is cut, the four frames. */
function outputPlaces(
  template: SlotTemplate,
  name: string,
  output: OutputChoice,
  isLast: boolean,
): readonly SlotTemplate[] {
  if (output !== 'each') return [outputPlace(template, name, output)];
  // In the middle of an address: those that the path goes on from.
  if (!isLast) return [...template.outputs.values()].filter(({ below }) => below.length > 0);
  if (!template.split || !isGrid(template)) return [outputPlace(template, name, output)];
  return [1, 2, 3, 4].map((frame) => outputPlace(template, `#${frame}`, frame));
}

/** Returns the slot template of a branch name: of the selector with this name, or of a wildcard's branch with this name. */
function namedBranch(template: SlotTemplate, name: string): SlotTemplate | undefined {
  if (template.segment === name) return template;
  if (!template.wild || !globMatches(template.segment ?? '', name)) return undefined;
  const known = template.names.get(name);
  if (known !== undefined) return known;
  const named = copyBelow(template, template.above, name);
  (template as SlotTemplateDraft).names.set(name, named);
  return named;
}

/** Copies the branch of a wildcard with one name, and the rest of its path. */
function copyBelow(template: SlotTemplate, above: SlotTemplate | undefined, name?: string): SlotTemplate {
  const segment = name ?? template.segment;
  const segments = name === undefined ? template.segments : [name];
  const branch = [...(above?.branch ?? []), ...segments];
  const wild = name === undefined && template.wild;
  const copy: SlotTemplateDraft = {
    ...template,
    copyOf: template.copyOf ?? template,
    ...(above === undefined ? {} : { above }),
    ...(segment === undefined ? {} : { segment }),
    segments,
    ...(name === undefined ? {} : { named: textPress(name) }),
    wild,
    open: wild || (above?.open ?? false),
    late: wild || template.waits.length > 0 || (above?.late ?? false),
    branch,
    text: placeText(template.step.name, branch),
    names: new Map(),
    outputs: new Map(),
    below: [],
  };
  for (const [output, place] of template.outputs) copy.outputs.set(output, copyBelow(place, copy));
  copy.below = template.below.map((next) => copyBelow(next, copy));
  return copy;
}

const leaves = (template: SlotTemplate): readonly SlotTemplate[] => {
  const next = jobsBelow(template);
  return next.length === 0 ? [template] : next.flatMap(leaves);
};
