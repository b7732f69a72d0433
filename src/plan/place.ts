import type { BranchAddress, Selector, Step, StepKind } from '../pipeline/pipeline.ts';
import type { Condition } from '../pipeline/template.ts';
import { placeText } from './key.ts';
import { orderSteps, stepNamed } from './order.ts';
import { isWild, pressRequest, type RequestTemplate, stepRequest } from './request.ts';

/** Slots of one cell beyond this are a mistake in a path: at nine buttons a level it is the fourth. */
export const slotsPerCellLimit = 10_000;

/**
 * Where every cell has a slot, and all about that slot that is the same in every cell. A wildcard's place holds one
 * slot until its buttons are known, then one for each.
 */
export interface Place {
  /** Position in the manifest's order, from 0. */
  readonly index: number;
  readonly step: Step;
  readonly kind: StepKind;
  /** The place whose result it continues; absent for a root. */
  readonly above?: Place;
  /** 0 is the step's own operation, then the path's segments. */
  readonly level: number;
  /** What its own selector is called; absent where nothing is pressed. */
  readonly segment?: string;
  readonly selector?: Selector;
  readonly wild: boolean;
  /** It, or a place above it, is a wildcard: how many slots it stands for is known only in the run. */
  readonly open: boolean;
  /** All buttons that lead to it, as the file says them. */
  readonly branch: readonly string[];
  /** See `slotIdIn`; of the branch as the file says it. */
  readonly text: string;
  readonly depth: number;
  readonly request: RequestTemplate;
  /** The step's condition; what its path presses only follows. */
  readonly when?: Condition;
  /** Its condition reads the result of a step. */
  readonly whenWaits: boolean;
  /** Steps whose results its condition or its request reads. */
  readonly waits: readonly string[];
  /** Whether it runs may turn out only during the run (an optional button, a condition on a result). */
  readonly maySkip: boolean;
  /** The next segment of its path. */
  readonly below: readonly Place[];
}

/** One step's places. */
export interface StepPlaces {
  readonly step: Step;
  /** Its own operations, one per place that it starts from. */
  readonly operations: readonly Place[];
  /** The step it starts from, and which operation continues which place (by that place's index). */
  readonly from?: { readonly step: string; readonly operations: ReadonlyMap<Place, Place> };
}

/** All that a pipeline's steps say about any cell. */
export interface Skeleton {
  /** In file order. */
  readonly steps: ReadonlyMap<string, StepPlaces>;
  /** Each step after all that it needs. */
  readonly order: readonly StepPlaces[];
  /** In the manifest's order: steps as in the file, each one's branches depth first. */
  readonly places: readonly Place[];
}

/** A place while it is laid out; its index is known when all are. */
type Draft = { -readonly [Member in keyof Place]: Place[Member] };

/** One level of a path: what is pressed there, compiled once for all places that press it. */
type Level = readonly { readonly selector: Selector; readonly request: RequestTemplate }[];

/** Lays out the places of checked steps; the step that goes over {@link slotsPerCellLimit} is the failure. */
export function layOut(steps: readonly Step[]): Skeleton | { readonly tooMany: Step } {
  const laid = new Map<string, StepPlaces>();
  let count = 0;
  for (const step of orderSteps(steps)) {
    const start = step.from === undefined ? [undefined] : selectPlaces(laid, step.from);
    count += start.length * placesPerOperation(step);
    if (count > slotsPerCellLimit) return { tooMany: step };
    const request = stepRequest(step);
    const path = step.path.map((segment) =>
      segment.selectors.map((selector) => ({ selector, request: pressRequest(segment, selector) })),
    );
    const operations = start.map((above) =>
      makePlace(step, step.kind, above, 0, step.selector, request, path),
    );
    laid.set(step.name, {
      step,
      operations,
      ...(step.from === undefined
        ? {}
        : {
            from: {
              step: step.from.step,
              operations: new Map(operations.map((operation) => [operation.above as Place, operation])),
            },
          }),
    });
  }
  const places = steps.flatMap(({ name }) => stepNamed(laid, name).operations.flatMap(withBelow));
  for (const [index, place] of places.entries()) (place as Draft).index = index;
  return {
    steps: new Map(steps.map(({ name }) => [name, stepNamed(laid, name)])),
    order: [...laid.values()],
    places,
  };
}

function placesPerOperation(step: Step): number {
  let level = 1;
  let all = 1;
  for (const { selectors } of step.path) all += level *= selectors.length;
  return all;
}

/** The places that an address names, in the manifest's order. */
function selectPlaces(laid: ReadonlyMap<string, StepPlaces>, address: BranchAddress): readonly Place[] {
  let level = stepNamed(laid, address.step).operations;
  for (const segment of address.segments) {
    if (segment === '*') level = level.flatMap(({ below }) => below);
    else if (segment === '**') level = level.flatMap(leaves);
    else level = level.flatMap(({ below }) => below.filter((place) => place.segment === segment));
  }
  if (level.length === 0) throw new Error(`Internal error: "${address.source}" names no job.`);
  return level;
}

const leaves = (place: Place): readonly Place[] =>
  place.below.length === 0 ? [place] : place.below.flatMap(leaves);

const withBelow = (place: Place): readonly Place[] => [place, ...place.below.flatMap(withBelow)];

function makePlace(
  step: Step,
  kind: StepKind,
  above: Place | undefined,
  level: number,
  selector: Selector | undefined,
  request: RequestTemplate,
  path: readonly Level[],
): Place {
  const branch = [...(above?.branch ?? []), ...(selector === undefined ? [] : [selector.name])];
  const when = level === 0 ? step.when : undefined;
  const whenWaits = when !== undefined && when.steps.length > 0;
  const waits = [...new Set([...(when?.steps.map((use) => use.step) ?? []), ...request.steps])];
  const wild = selector !== undefined && isWild(selector);
  const place: Draft = {
    index: 0,
    step,
    kind,
    ...(above === undefined ? {} : { above }),
    level,
    ...(selector === undefined ? {} : { segment: selector.name, selector }),
    wild,
    open: wild || (above?.open ?? false),
    branch,
    text: placeText(step.name, branch),
    depth: above === undefined ? 0 : above.depth + 1,
    request,
    ...(when === undefined ? {} : { when }),
    whenWaits,
    waits,
    maySkip: (above?.maySkip ?? false) || (selector?.optional ?? false) || waits.length > 0,
    below: [],
  };
  const [next, ...rest] = path;
  place.below = (next ?? []).map((pressed) =>
    makePlace(step, 'click', place, level + 1, pressed.selector, pressed.request, rest),
  );
  return place;
}
