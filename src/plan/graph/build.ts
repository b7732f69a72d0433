import { isPress } from '../../pipeline/kinds.ts';
import type {
  BranchAddress,
  OutputChoice,
  Pipeline,
  Selector,
  Step,
  StepKind,
} from '../../pipeline/pipeline.ts';
import { globMatches } from '../../pipeline/selectors/glob.ts';
import { gatheredName } from '../../pipeline/steps/checks/reduce.ts';
import type { StepUse } from '../../pipeline/templates/template.ts';
import { treeVariables } from '../../pipeline/templates/tree.ts';
import { placeText } from '../key.ts';
import { requestOf } from '../kinds.ts';
import { isWild, pressRequest, textPress } from '../request/click.ts';
import type { RequestTemplate } from '../request/request.ts';
import { framesIn, isGrid } from './frames.ts';
import { orderSteps, stepNamed } from './order.ts';
import {
  jobPlace,
  type SlotGraph,
  type SlotTemplate,
  type SlotTemplateDraft,
  type StepTemplates,
  unknownItem,
} from './slot-template.ts';

/** Most slots of one cell; more are an error in a path: at nine buttons a level, the fourth level exceeds this. */
export const slotsPerCellLimit = 10_000;

/** Most jobs that the steps of one cell gather together; more are an error in an address. */
export const gatheredPerCellLimit = 10_000;

/** One level of a path: its selectors, with requests that are compiled once for all places that press them. */
type Level = readonly { readonly selector: Selector; readonly request: RequestTemplate }[];

/** The first step at which a cell becomes too large. */
export interface TooLarge {
  readonly tooMany: Step;
  /** The exceeded limit: {@link slotsPerCellLimit} or {@link gatheredPerCellLimit}. */
  readonly of: 'slots' | 'gathered';
}

/** Builds the graph of slots from checked steps, unless a cell has too many of them. */
export function buildGraph(steps: readonly Step[], models: Pipeline['models'] = {}): SlotGraph | TooLarge {
  const laid = new Map<string, StepTemplates>();
  let count = 0;
  let gathered = 0;
  for (const step of orderSteps(steps)) {
    const start = step.from === undefined ? [undefined] : selectTemplates(laid, step.from);
    count += sumOf(start, (above) => boundOf(step, above)) * placesPerOperation(step);
    if (count > slotsPerCellLimit) return { tooMany: step, of: 'slots' };
    const gathers =
      step.gather === undefined
        ? undefined
        : {
            step: step.gather.step,
            templates: new Set(selectTemplates(laid, step.gather)),
            ...(step.over && { steps: neededBy(laid, step.gather.step) }),
          };
    gathered += sumOf([...(gathers?.templates ?? [])], ({ bound }) => bound);
    if (gathered > gatheredPerCellLimit) return { tooMany: step, of: 'gathered' };
    const request = requestOf[step.kind](step, models);
    const named = request.names.flatMap((name) => stepNamed(laid, name).operations);
    const path = step.path.map((segment) =>
      segment.selectors.map((selector) => ({ selector, request: pressRequest(segment, selector) })),
    );
    const operations = start.map((above) =>
      makeTemplate(step, step.kind, { above, gathers, named }, 0, step.selector, request, path),
    );
    for (const name of request.shows.steps) stepNamed(laid, name).operations.forEach(keepFiles);
    laid.set(step.name, {
      step,
      operations,
      ...(step.from === undefined
        ? {}
        : {
            from: {
              step: step.from.step,
              operations: new Map(
                operations.map((operation) => [operation.above as SlotTemplate, operation]),
              ),
            },
          }),
    });
  }
  const placed = [...steps.filter(({ reduced }) => !reduced), ...steps.filter(({ reduced }) => reduced)];
  const templates = placed.flatMap(({ name }) => stepNamed(laid, name).operations.flatMap(withBelow));
  for (const [index, template] of templates.entries()) (template as SlotTemplateDraft).index = index;
  for (const template of templates) (template as SlotTemplateDraft).needs = needsOf(template);
  return {
    steps: new Map(steps.map(({ name }) => [name, stepNamed(laid, name)])),
    order: [...laid.values()],
    templates,
  };
}

const sumOf = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((sum, item) => sum + amount(item), 0);

/** Upper bound of the slots of a step's operation, from one place above. */
const boundOf = ({ each }: Step, above: SlotTemplate | undefined): number =>
  (above?.bound ?? 1) * (each?.bound ?? 1);

/** Returns a step and all that it needs, in the order in which they are resolved. */
function neededBy(laid: ReadonlyMap<string, StepTemplates>, name: string): readonly StepTemplates[] {
  const needed = new Set([name]);
  for (const next of needed) for (const before of stepNamed(laid, next).step.after) needed.add(before);
  return [...laid.values()].filter(({ step }) => needed.has(step.name));
}

/** Whether the templates of a step read the list of what it gathers. */
const readsGathered = ({ over, request, extra = {}, when, path }: Step): boolean =>
  over !== undefined &&
  [
    ...treeVariables([request, extra]),
    ...(when?.variables ?? []),
    ...path.flatMap(({ prompt, mask = null }) => treeVariables([prompt ?? null, mask])),
  ].some(({ path: [root] }) => root === gatheredName);

function needsOf({ above, gathers, waits, request }: SlotTemplate): SlotTemplate['needs'] {
  const starts = above === undefined ? [...(gathers?.templates ?? [])] : [above];
  const places = starts.map(jobPlace).map(({ copyOf, index }) => copyOf?.index ?? index);
  const chosenBy = starts.flatMap((start) => (start.output === undefined ? [] : start.waits));
  return new Set([...places, ...chosenBy, ...waits, ...request.names]);
}

/** Marks a job's files as wanted: one slot that wants them is enough, even if the job's own step has `keep: false`. */
function keepFiles(place: SlotTemplate): void {
  const template = jobPlace(place);
  (template as SlotTemplateDraft).keep = true;
  // The manifest shows the wildcard's slot in place of a branch that an address names: the files of that slot are kept.
  if (template.copyOf !== undefined) (template.copyOf as SlotTemplateDraft).keep = true;
}

function placesPerOperation(step: Step): number {
  let level = 1;
  let all = 1;
  for (const { selectors } of step.path) {
    level *= selectors.length;
    if (selectors[0]?.output === undefined) all += level;
  }
  return all;
}

const withBelow = (template: SlotTemplate): readonly SlotTemplate[] => [
  template,
  ...jobsBelow(template).flatMap(withBelow),
];

/** The next places of a path that have jobs: outputs are passed over. */
const jobsBelow = ({ below, outputs }: SlotTemplate): readonly SlotTemplate[] => [
  ...below,
  ...[...outputs.values()].flatMap((output) => output.below),
];

/** The places that a place depends on. */
interface TemplateStart {
  readonly above: SlotTemplate | undefined;
  readonly gathers?: SlotTemplate['gathers'];
  /** Places of the steps that its request names. */
  readonly named?: readonly SlotTemplate[];
}

const stepsOf = (read: { readonly steps: readonly StepUse[] } | undefined): readonly string[] => [
  ...new Set(read?.steps.map((use) => use.step)),
];

function makeTemplate(
  step: Step,
  kind: StepKind,
  { above, gathers, named = [] }: TemplateStart,
  level: number,
  selector: Selector | undefined,
  request: RequestTemplate,
  path: readonly Level[],
): SlotTemplate {
  const { when, each } = level === 0 ? step : {};
  const segments = [
    ...(each === undefined ? [] : [unknownItem]),
    ...(selector === undefined ? [] : [selector.name]),
  ];
  const branch = [...(above?.branch ?? []), ...segments];
  const whenWaits = when !== undefined && when.steps.length > 0;
  const waits = [...new Set([...stepsOf(when), ...stepsOf(each?.list), ...request.steps])];
  const wild = selector !== undefined && isWild(selector);
  const starts = above === undefined ? [...(gathers?.templates ?? [])] : [above];
  const fromOutputs = starts.some(({ output }) => output !== undefined);
  // How many outputs there are, only the files tell.
  const fromFiles = starts.some(
    ({ output }) => output === 'each' || (output !== undefined && !isPress(kind)),
  );
  if (request.shows.parent || fromFiles) starts.forEach(keepFiles);
  const startMaySkip = starts.some(({ maySkip }) => maySkip) || step.over?.failed === 'ignore';
  const readsList = readsGathered(step);
  const namedMaySkip = named.some(({ maySkip }) => maySkip);
  const template: SlotTemplateDraft = {
    index: 0,
    step,
    kind,
    ...(above === undefined ? {} : { above }),
    ...(gathers === undefined ? {} : { gathers }),
    level,
    ...(selector === undefined ? {} : { segment: selector.name, selector }),
    ...(each === undefined ? {} : { each: { ...each, steps: stepsOf(each.list) } }),
    segments,
    bound: level === 0 ? boundOf(step, above) : (above?.bound ?? 1),
    wild,
    open: wild || (above?.open ?? false),
    names: new Map(),
    outputs: new Map(),
    branch,
    text: placeText(step.name, branch),
    depth: [...starts, ...named].reduce((deepest, { depth }) => Math.max(deepest, depth + 1), 0),
    request,
    ...(when === undefined ? {} : { when }),
    whenWaits,
    waits,
    keep: step.keep,
    ...(step.split && { split: true }),
    ...(step.seed && { seed: true }),
    readsGathered: readsList,
    sure: waits.length === 0 && !readsList && !startMaySkip && !namedMaySkip,
    maySkip:
      startMaySkip ||
      namedMaySkip ||
      (selector?.optional ?? false) ||
      waits.length > 0 ||
      each !== undefined ||
      readsList,
    late:
      wild ||
      waits.length > 0 ||
      (fromOutputs && request.shows.parent) ||
      readsList ||
      [...starts, ...named].some(({ late }) => late) ||
      (gathers !== undefined && startMaySkip) ||
      namedMaySkip,
    needs: new Set(),
    below: [],
  };
  addBelow(template, path);
  return template;
}

/** Adds the places of a path below a place. */
function addBelow(above: SlotTemplateDraft, [next = [], ...rest]: readonly Level[]): void {
  const { step, level } = above;
  const presses = next.filter(({ selector }) => selector.output === undefined);
  above.below = presses.map(({ selector, request }) =>
    makeTemplate(step, 'click', { above }, level + 1, selector, request, rest),
  );
  for (const {
    selector: { name, output },
  } of next)
    if (output !== undefined) addBelow(outputPlace(above, name, output), rest);
}

/** Returns the place of an output of a place's job, by its name. */
function outputPlace(above: SlotTemplate, name: string, output: OutputChoice): SlotTemplateDraft {
  const known = above.outputs.get(name);
  if (known !== undefined) return known as SlotTemplateDraft;
  const {
    copyOf: _copy,
    named: _named,
    selector: _selector,
    when: _when,
    gathers: _gathers,
    each: _each,
    ...rest
  } = above;
  const branch = [...above.branch, name];
  const waits = typeof output === 'object' ? [...new Set(output.steps.map(({ step }) => step))] : [];
  const place: SlotTemplateDraft = {
    ...rest,
    above,
    level: above.level + 1,
    output,
    segment: name,
    segments: [name],
    bound: above.bound * framesIn(output, above),
    wild: typeof output !== 'number',
    open: above.open || output === 'each',
    names: new Map(),
    outputs: new Map(),
    branch,
    text: placeText(above.step.name, branch),
    whenWaits: false,
    waits,
    sure: above.sure && waits.length === 0,
    // Without a number, nothing below is sure: a template that reads `frame` fails until it is known.
    maySkip: above.maySkip || typeof output !== 'number',
    late: above.late || typeof output !== 'number',
    below: [],
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
function selectTemplates(
  laid: ReadonlyMap<string, StepTemplates>,
  address: BranchAddress,
): readonly SlotTemplate[] {
  let level = stepNamed(laid, address.step).operations;
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
