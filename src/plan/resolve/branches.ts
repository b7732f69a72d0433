import type { Selector } from '../../pipeline/pipeline.ts';
import type { TemplateScope } from '../../pipeline/templates/template.ts';
import { isMapping, renderValue, type Value } from '../../pipeline/values/value.ts';
import { offered, wildcardBranch, wildcardMatches } from '../button-match.ts';
import type { Button, JobError } from '../job.ts';
import type { Press } from '../job-request.ts';
import { textPress } from '../request/click.ts';
import { droppedItemsCode } from '../slot.ts';

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

/** The segments of a place that adds none. */
export const noSegments: readonly string[] = [];

/** Adds a segment to the branch of an item. */
export const within = (item: Branch, segment: string | undefined): Branch =>
  segment === undefined ? item : { ...item, segments: [...item.segments, segment] };

/** Why a place is skipped whose condition does not hold. */
export const conditionFails: JobError = { code: 'when.false', message: 'its `when` does not hold' };
/** Why a place with an empty list is skipped. */
export const emptyList: JobError = { code: 'each.empty', message: 'the list of its `each` is empty' };

/** The failure of a place whose list is another value. */
export const noList = (value: Value): JobError => ({
  code: 'each.no-list',
  message: `\`each\` takes a list, but here it is ${isMapping(value) ? 'a mapping' : JSON.stringify(renderValue(value)).slice(0, 80)}.`,
});

/** The warning at the row of a list with more items than are used. */
export const droppedItems = (count: number, max: number): JobError => ({
  code: droppedItemsCode,
  message: `The list has ${count} items, of which the first ${max} are used: \`max\` allows no more.`,
});

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
export const missingButton = (name: string, buttons: readonly Button[]): JobError => ({
  code: 'button.missing',
  message: `The task offers no button "${name}". It offers: ${offered(buttons)}.`,
});
