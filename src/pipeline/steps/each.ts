import { isTextKind } from '../kinds.ts';
import type { Each } from '../pipeline.ts';
import { isLocal, localNames, type StepUse, type VariableUse } from '../templates/template.ts';
import { isMapping, type Value } from '../values/value.ts';
import type { CheckContext, EachDraft, StepDraft, Steps } from './draft.ts';
import { replyMember } from './reply-fields.ts';

/** Largest product of the bounds of lists whose steps follow from each other. */
const maxBranches = 1000;

type Surroundings = Pick<CheckContext, 'steps' | 'matrix'>;

const startOf = ({ from }: StepDraft, steps: Steps): StepDraft | undefined =>
  from === undefined ? undefined : steps.get(from.step);

/** Returns the step and those that it follows from, the nearest first. */
function wayUp(step: StepDraft, steps: Steps): readonly StepDraft[] {
  const way = new Set<StepDraft>();
  for (let at: StepDraft | undefined = step; at !== undefined && !way.has(at); at = startOf(at, steps))
    way.add(at);
  return [...way];
}

/** Returns the list whose items the templates of a step read as `item`; undefined if there is none. */
const listAbove = (step: StepDraft | undefined, steps: Steps): EachDraft | undefined =>
  step === undefined ? undefined : wayUp(step, steps).find(({ each }) => each !== undefined)?.each;

/**
 * Returns the list that a use of `item` or `item_index` in a step means; undefined if there is none. The list of a step is not yet divided
 * into its own items.
 */
export function listOfUse(step: StepDraft, use: VariableUse, steps: Steps): EachDraft | undefined {
  if (!isLocal(use)) return undefined;
  const isInList = step.each?.list.variables.includes(use) === true;
  return listAbove(isInList ? startOf(step, steps) : step, steps);
}

/** Whether a list that templates of a step would read cannot be read, or is missing beside its bound: that is reported by itself. */
export const lacksList = (step: StepDraft, steps: Steps): boolean =>
  wayUp(step, steps).some(
    ({ each, node }) => each === undefined && (node.entries.has('each') || node.entries.has('max')),
  );

/** The value that a list is, if nothing but one name makes it. */
export function sourceOf({
  list,
}: EachDraft): { readonly use: StepUse } | { readonly variable: VariableUse } | undefined {
  const [use] = list.steps;
  const [variable] = list.variables;
  if (use?.output === 'alone') return { use };
  return variable?.output === 'alone' ? { variable } : undefined;
}

/** Returns the values that a variable's member has in the file; undefined if the file does not list them all. */
export function valuesOf(
  { path: [root = '', ...members] }: VariableUse,
  { matrix }: Surroundings,
): readonly Value[] | undefined {
  return members.reduce<readonly Value[] | undefined>(
    (values, name) =>
      values?.flatMap((value) =>
        isMapping(value) && Object.hasOwn(value, name) ? [value[name] as Value] : [],
      ),
    matrix.variables.get(root)?.values,
  );
}

/** Returns the upper bound of the number of branches of a step's list. */
export function boundOf(each: EachDraft, around: Surroundings): number {
  const source = sourceOf(each);
  if (source === undefined) return each.max;
  if ('use' in source) {
    const target = around.steps.get(source.use.step);
    const found = target === undefined ? undefined : replyMember(source.use, target);
    const { maxItems = each.max } = found?.kind === 'found' ? found : {};
    // An empty list has one row, which is skipped.
    return Math.min(each.max, Math.max(1, maxItems));
  }
  const lists = isLocal(source.variable) ? undefined : valuesOf(source.variable, around)?.filter(isList);
  if (lists === undefined || lists.length === 0) return each.max;
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 1);
  return Math.min(each.max, longest);
}

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** Returns the list of a checked step. */
export const eachOf = (each: EachDraft, around: Surroundings): Each => ({
  ...each,
  bound: boundOf(each, around),
});

/** Reports a list that can be none, has a bound without a list, or hides a variable; and lists of too many branches. */
export function checkEach(step: StepDraft, context: CheckContext): void {
  const { node, each } = step;
  const { matrix, steps, collector } = context;
  const max = node.entries.get('max');
  if (each === undefined) {
    if (max === undefined || node.entries.has('each')) return;
    const message = `Step "${step.name}" has a max, but no list that it could bound.`;
    const hint = `Add each: "{{ … }}"${step.variables.some(isLocal) ? '' : ', or leave max out'}.`;
    return collector.error('step.each-max', max.keySpan, message, hint);
  }
  for (const name of localNames) {
    if (!matrix.variables.has(name)) continue;
    const message = `"${name}" is a variable of the matrix, and what the items of each are called.`;
    collector.error('step.each-name', each.list.position, message, `Give the variable another name.`);
  }
  checkList(each, context);
  const bounds = wayUp(step, steps).flatMap((at) =>
    at.each === undefined ? [] : [boundOf(at.each, context)],
  );
  const product = bounds.reduce((all, bound) => all * bound, 1);
  if (product <= maxBranches) return;
  const message = `Lists that follow from each other may have ${bounds.toReversed().join(' × ')} = ${product} branches; at most ${maxBranches} are possible.`;
  collector.error(
    'step.each-max',
    max?.keySpan ?? each.list.position,
    message,
    'Give these steps a smaller max.',
  );
}

function checkList(each: EachDraft, context: CheckContext): void {
  const { list } = each;
  const { collector, steps, matrix } = context;
  const error = (what: string, hint: string): void =>
    collector.error('step.each-list', list.position, `each takes a list, but ${what}.`, hint);
  // Only the value of a single output is no text.
  if (list.evaluate === list.render || (list.steps.length === 0 && list.variables.length === 0))
    return error('this is a text', 'Write one output alone: each: "{{ steps.ideas.json.scenes }}".');
  const source = sourceOf(each);
  if (source === undefined) return;
  if ('use' in source) {
    const { use } = source;
    const way = ['steps', use.step, ...use.path].join('.');
    const target = steps.get(use.step);
    const [field] = use.path;
    if (target?.kind === undefined || field === undefined) return;
    const found = replyMember(use, target);
    if (found?.kind === 'found' && found.shape !== 'array' && found.shape !== 'unknown')
      return error(
        `by its schema "${way}" is ${found.shape === 'object' ? 'an object' : 'a scalar'}`,
        'Name a member that is a list.',
      );
    const isText = field === 'text' || !(isTextKind(target.kind) || field === 'prompts');
    if (isText) return error(`"${way}" is a text`, `For one item a line: {{ ${way} | lines }}.`);
    if (field === 'usage') error(`"${way}" is none`, 'Name a list.');
    return;
  }
  const { variable } = source;
  const [root = ''] = variable.path;
  const way = variable.path.join('.');
  if (isLocal(variable)) return;
  const known = matrix.variables.get(root);
  const isText = known?.axis?.kind === 'rows' && /^(?:csv|tsv|files)$/.test(known.axis.format);
  const values = known?.axis?.kind === 'range' ? [0] : valuesOf(variable, context);
  const hasNone = values !== undefined && values.length > 0 && !values.some(isList);
  if (isText || hasNone)
    error(
      isText ? `"${way}" is a text` : `no value of "${way}" is one`,
      isText || values?.every((value) => typeof value === 'string') === true
        ? `For one item a line: {{ ${way} | lines }}; with another sign between the items: {{ ${way} | split: ';' }}.`
        : 'Name a variable whose values are lists: themes: [{ name: sea, scenes: [a storm, a calm] }], {{ themes.scenes }}.',
    );
}
