import { isPress } from '../../pipeline/kinds.ts';
import type { Selector } from '../../pipeline/pipeline.ts';
import { isLocal, type TemplateScope } from '../../pipeline/templates/template.ts';
import { isMapping, renderValue, type Value } from '../../pipeline/values/value.ts';
import { offered, wildcardBranch, wildcardMatches } from '../button-match.ts';
import type { SlotTemplate } from '../graph/slot-template.ts';
import type { Button, JobError } from '../job.ts';
import type { Press } from '../job-request.ts';
import { textPress } from '../request/click.ts';
import { droppedItemsCode } from '../slot.ts';
import type { DependencyState, ReadSteps } from './resolved.ts';
import { nearestJob, readNamedSteps } from './scope.ts';
import { buttonsAbove, type Reading, readingOf } from './slot-status.ts';
import { doneDependency, type Upstream } from './upstream.ts';

/** One of the slots of a place: a place has several where a list has several items, or a wildcard finds several buttons. */
export interface Branch {
  /** What the slot's branch adds to that of the slot above. */
  readonly segments: readonly string[];
  /** The button to press in place of the selector. */
  readonly press?: Press | undefined;
  /** Why it can never have a job. */
  readonly failure?: JobError;
  /** What is wrong with the list, said at its first item. */
  readonly warning?: JobError | undefined;
  /** Whether its list is being made anew, so that nothing is begun here or below before that is there. */
  readonly isHeld?: boolean;
  /** What templates see, here and below, before the results of steps are read. */
  readonly scope: TemplateScope;
}

/** What a template sees, and whether that is there to stay. */
export interface Opened {
  readonly scope: TemplateScope;
  readonly dependency: DependencyState;
}

/** The segments of a place that adds none. */
const noSegments: readonly string[] = [];

/** Adds a segment to the branch of an item. */
export const within = (item: Branch, segment: string | undefined): Branch =>
  segment === undefined ? item : { ...item, segments: [...item.segments, segment] };

/** Why a place is skipped whose condition does not hold. */
export const conditionFails: JobError = { code: 'when.false', message: 'its `when` does not hold' };
/** Why a place with an empty list is skipped. */
const emptyList: JobError = { code: 'each.empty', message: 'the list of its `each` is empty' };

/** The failure of a place whose list is another value. */
const noList = (value: Value): JobError => ({
  code: 'each.no-list',
  message: `\`each\` takes a list, but here it is ${isMapping(value) ? 'a mapping' : JSON.stringify(renderValue(value)).slice(0, 80)}.`,
});

/** The warning at the row of a list with more items than are used. */
const droppedItems = (count: number, max: number): JobError => ({
  code: droppedItemsCode,
  message: `The list has ${count} items, of which the first ${max} are used: \`max\` allows no more.`,
});

/** The items of a place's list, in its order; or why they are not known, or why there are none. A place without a list is one. */
export function itemsOf(
  { when, whenWaits, each }: SlotTemplate,
  start: Upstream,
  scope: TemplateScope,
  resolved: ReadSteps,
): readonly Branch[] | Reading {
  if (each === undefined) return [{ segments: noSegments, scope }];
  const { list, max, steps } = each;
  return readingOf((): readonly Branch[] | Reading => {
    // A condition on an item decides for each item.
    if (when !== undefined && !whenWaits && !when.variables.some(isLocal) && !when.holds(scope))
      return { dependency: doneDependency, off: conditionFails };
    const read = readNamedSteps(steps, start.above, resolved);
    if (read.kind !== 'known') return { dependency: read };
    const { dependency } = read;
    const value = list.evaluate({ ...scope, steps: read.values });
    if (!Array.isArray(value)) return { dependency, failure: noList(value) };
    const items: readonly Value[] = value;
    if (items.length === 0) return { dependency, off: emptyList };
    const dropped = items.length > max ? droppedItems(items.length, max) : undefined;
    const [made] = steps;
    if (dropped !== undefined && made !== undefined)
      nearestJob(made, start.above, resolved.get(made) ?? []).slot.warn(dropped);
    return items.slice(0, max).map((item, index) => ({
      segments: [`[${index + 1}]`],
      scope: { ...scope, vars: { ...scope.vars, item, item_index: index + 1 } },
      ...(dependency.kind === 'open' && { isHeld: true }),
      // A list of the matrix has no row of its own.
      ...(made === undefined && index === 0 && { warning: dropped }),
    }));
  });
}

/**
 * The branches of an item of a place, in the manifest's order; or why they are not known, or why there are none.
 *
 * @param open what the place's templates see
 */
export function branchesOf(
  template: SlotTemplate,
  start: Upstream,
  item: Branch,
  open: () => Opened | Reading,
): readonly Branch[] | Reading {
  const { kind, selector, segment, segments, named, each } = template;
  if (named !== undefined) return [namedBranch(template, start, item)];
  const branch = each === undefined ? { ...item, segments } : within(item, segment);
  const outputs = start.jobs.flatMap(({ output }) => output ?? []);
  const error = outputs.find((output) => output.error && !(isPress(kind) && output.number))?.error;
  if (error !== undefined) {
    // A condition that waits for nothing has decided before.
    const opened = template.whenWaits ? undefined : open();
    return opened !== undefined && 'off' in opened ? opened : { dependency: doneDependency, failure: error };
  }
  const [{ number } = {}] = outputs;
  if (isPress(kind) && number !== undefined) return [{ ...branch, press: textPress(`${segment}${number}`) }];
  if (!template.wild) return [branch];
  const opened = open();
  if (!('scope' in opened)) return opened;
  const buttons = buttonsAbove(start);
  if (selector === undefined || buttons === undefined) return { dependency: opened.dependency };
  const choice = wildcardChoice(selector, buttons);
  if (choice.kind === 'missing') return { dependency: doneDependency, failure: choice.error };
  return choice.found.map(({ name, press }) => ({ ...within(item, name), press }));
}

/** A wildcard's branch that an address names: known by its name before, and checked when the buttons are known. */
function namedBranch(
  { selector, segment = '', segments, named }: SlotTemplate,
  start: Upstream,
  item: Branch,
): Branch {
  const { above } = start;
  const buttons = above === undefined ? undefined : buttonsAbove({ above, dependency: above.dependency });
  if (selector === undefined || buttons === undefined) return { ...item, segments, press: named };
  const choice = wildcardChoice(selector, buttons);
  const one = choice.kind === 'found' ? choice.found.find(({ name }) => name === segment) : undefined;
  return one === undefined
    ? { ...item, segments, failure: missingButton(segment, buttons) }
    : { ...item, segments, press: one.press };
}

/** What a wildcard turned out to press, once its task is finished. */
type WildcardChoice =
  | { readonly kind: 'found'; readonly found: readonly { readonly name: string; readonly press: Press }[] }
  | { readonly kind: 'missing'; readonly error: JobError };

/**
 * The buttons that a wildcard selector presses, in the order in which the task offers them. Each is pressed by the
 * label found, exactly as if the file had named it, so that `U*` and `U1` are one job.
 */
export function wildcardChoice(selector: Selector, buttons: readonly Button[]): WildcardChoice {
  const [wildcard, ...others] = selector.alternatives;
  if (wildcard?.kind !== 'wildcard' || others.length > 0)
    throw new Error(`Internal error: "${selector.name}" is no wildcard alone.`);
  const found = wildcardMatches(wildcard.source, buttons);
  if (found.length > 0)
    return {
      kind: 'found',
      found: found.map((button) => ({ name: wildcardBranch(button), press: textPress(button.label) })),
    };
  return { kind: 'missing', error: missingButton(selector.name, buttons) };
}

/** The failure of a press that a finished task does not offer. */
const missingButton = (name: string, buttons: readonly Button[]): JobError => ({
  code: 'button.missing',
  message: `The task offers no button "${name}". It offers: ${offered(buttons)}.`,
});
