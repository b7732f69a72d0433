import { isPress } from '../../pipeline/kinds.ts';
import type { Pipeline, Selector, Step, StepKind } from '../../pipeline/pipeline.ts';
import { gatheredName } from '../../pipeline/steps/checks/reduce.ts';
import type { StepUse } from '../../pipeline/templates/template.ts';
import { treeVariables } from '../../pipeline/templates/tree.ts';
import { placeText } from '../key.ts';
import { requestOf } from '../kinds.ts';
import { isWild, pressRequest } from '../request/click.ts';
import type { RequestTemplate } from '../request/request.ts';
import { freePlace, jobsBelow, keepFiles, outputPlace, selectTemplates } from './address.ts';
import { orderSteps, stepNamed } from './order.ts';
import {
  jobPlaces,
  type Picks,
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

/**
 * Builds the graph of slots from checked steps, unless a cell has too many of them.
 *
 * @param bests the steps that pick
 */
export function buildGraph(
  steps: readonly Step[],
  models: Pipeline['models'] = {},
  bests: readonly Step[] = [],
): SlotGraph | TooLarge {
  const laid = new Map<string, StepTemplates>();
  let count = 0;
  let gathered = 0;
  for (const step of orderSteps([...steps, ...bests])) {
    const { best, from } = step;
    if (best !== undefined && from !== undefined) {
      const picking = picksOf({ ...step, best, from }, laid);
      gathered += sumOf([...(picking.picks?.templates ?? [])], ({ bound }) => bound);
      if (gathered > gatheredPerCellLimit) return { tooMany: step, of: 'gathered' };
      laid.set(step.name, picking);
      continue;
    }
    const start = step.from === undefined ? [undefined] : selectTemplates(laid, step.from);
    count += sumOf(start, (above) => boundOf(step, above)) * placesPerOperation(step);
    if (count > slotsPerCellLimit) return { tooMany: step, of: 'slots' };
    const gathers =
      step.gather === undefined
        ? undefined
        : {
            step: step.gather.step,
            templates: new Set(selectTemplates(laid, step.gather)),
            ...(step.over && { steps: neededBy(laid, [step.gather.step]) }),
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
  for (const { picks } of laid.values())
    if (picks !== undefined)
      (picks as { -readonly [Member in keyof Picks]: Picks[Member] }).steps = readAtPicks(picks, laid);
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

/** The places of a step's picks. */
function picksOf(step: Picks['step'], laid: ReadonlyMap<string, StepTemplates>): StepTemplates {
  const { best, from, name } = step;
  const templates = selectTemplates(laid, from);
  const read = stepsOf(best.by);
  const operations = read.flatMap((one) => stepNamed(laid, one).operations);
  const [first] = templates;
  if (first === undefined) throw new Error(`Internal error: step "${name}" picks from nothing.`);
  const of: Picks = { step, templates: new Set(templates), steps: [] };
  // Its branch begins with the number of the pick, not with the way to what is picked.
  const { above: _above, ...place } = freePlace(first);
  // What they are counted by waits for their files.
  if (templates.some(({ output }) => output === 'each')) templates.forEach(keepFiles);
  const places = Array.from({ length: best.top }, (_, index): SlotTemplateDraft => {
    const branch = [String(index + 1)];
    return {
      ...place,
      step,
      pick: { number: index + 1, of },
      ...(first.output === undefined ? {} : { output: first.output }),
      segment: branch[0] as string,
      segments: branch,
      bound: 1,
      wild: false,
      open: false,
      branch,
      text: placeText(name, branch),
      depth: [...templates, ...operations].reduce((deepest, { depth }) => Math.max(deepest, depth + 1), 0),
      waits: read,
      sure: false,
      maySkip: true,
      late: true,
    };
  });
  return { step, operations: places, picks: of };
}

/** See {@link Picks.steps}. */
function readAtPicks({ step }: Picks, laid: ReadonlyMap<string, StepTemplates>): readonly StepTemplates[] {
  const below = new Set([step.name]);
  for (const { step: next } of laid.values())
    if (next.after.some((name) => below.has(name))) below.add(next.name);
  const read = [...below].flatMap((name) => stepNamed(laid, name).step.after);
  return neededBy(
    laid,
    read.filter((name) => !below.has(name)),
  );
}

/** Returns some steps and all that they need, in the order in which they are resolved. */
function neededBy(
  laid: ReadonlyMap<string, StepTemplates>,
  names: readonly string[],
): readonly StepTemplates[] {
  const needed = new Set(names);
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
  const places = starts.flatMap(jobPlaces).map(({ copyOf, index }) => copyOf?.index ?? index);
  const chosenBy = starts.flatMap(({ output, pick, waits: own }) =>
    output === undefined && !pick ? [] : own,
  );
  return new Set([...places, ...chosenBy, ...waits, ...request.names]);
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
