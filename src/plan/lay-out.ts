import type { Selector, Step, StepKind } from '../pipeline/pipeline.ts';
import { selectPlaces } from './address.ts';
import { placeText } from './key.ts';
import { orderSteps, stepNamed } from './order.ts';
import type { Place, PlaceDraft, Skeleton, StepPlaces } from './place.ts';
import { isWild, pressRequest, type RequestTemplate, stepRequest } from './request.ts';

/** Slots of one cell beyond this are a mistake in a path: at nine buttons a level it is the fourth. */
export const slotsPerCellLimit = 10_000;

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
  for (const [index, place] of places.entries()) (place as PlaceDraft).index = index;
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
  const place: PlaceDraft = {
    index: 0,
    step,
    kind,
    ...(above === undefined ? {} : { above }),
    level,
    ...(selector === undefined ? {} : { segment: selector.name, selector }),
    wild,
    open: wild || (above?.open ?? false),
    names: new Map(),
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
