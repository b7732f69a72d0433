import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { listing, nearest, suggestion } from '../diagnostics/did-you-mean.ts';
import { fieldsOf, structuredFields } from '../kinds.ts';
import type { MatrixDraft, Variable } from '../matrix/draft.ts';
import { isOutputName } from '../selectors/output.ts';
import { isLocal, localNames, type StepUse, type VariableUse } from '../templates/template.ts';
import { isMapping, type Value } from '../values/value.ts';
import { couldMeanSeveral, isOfOutputs, seesFrame } from './branch.ts';
import { checkMakesImages } from './checks/images.ts';
import { gatheredName } from './checks/reduce.ts';
import type { CheckContext, EachDraft, StepDraft, Steps } from './draft.ts';
import { isList, lacksList, listOfUse, sourceOf, valuesOf } from './each.ts';
import { checkResult } from './reply-fields.ts';

/** Members that Liquid offers on any list or text. */
const liquidMembers = new Set(['size', 'first', 'last']);

/** Reports variables that the matrix does not have, and members that no value of a variable has. */
export function checkVariables(step: StepDraft, context: CheckContext): void {
  const { steps, matrix, collector } = context;
  for (const use of step.variables) {
    const { path, position } = use;
    const [root = '', ...members] = path;
    if (root === 'repeat' || (root === 'frame' && knowsFrame(step, use, steps))) continue;
    if (root === gatheredName && step.over !== undefined) continue;
    if (isLocal(use) && lacksList(step, steps)) continue;
    const list = listOfUse(step, use, steps);
    if (list !== undefined) {
      checkItem(list, use, context);
      continue;
    }
    const variable = matrix.variables.get(root);
    if (variable !== undefined) {
      checkMembers(variable, members, position, collector);
    } else if (matrix.complete) {
      const message = `The matrix has no variable "${root}".`;
      collector.error('template.unknown-variable', position, message, () =>
        variableHint(root, members, matrix, isDollarBefore(position, collector), step),
      );
    }
  }
}

/** Whether a use may read `frame`. The template that numbers the first output of `from` is read above that output. */
function knowsFrame(step: StepDraft, use: VariableUse, steps: Steps): boolean {
  const { outputs = {}, segments = [], step: above = '' } = step.from ?? {};
  const [first] = Object.values(outputs);
  if (typeof first !== 'object' || !first.variables.includes(use))
    return seesFrame(step, steps, use.level ?? 0);
  const target = steps.get(above);
  return target !== undefined && seesFrame(target, steps, segments.findIndex(isOutputName));
}

/** Returns how a variable is written in a template: most names as they are. */
const writtenName = (name: string): string => {
  if (/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name)) return name;
  return name.includes("'") ? `["${name}"]` : `['${name}']`;
};

/** Whether braces have a dollar sign before them, as in files of GitHub Actions. */
function isDollarBefore({ line, column }: VariableUse['position'], { source }: DiagnosticCollector): boolean {
  return /\$\{\{-? {0,9}$/.test(source.line(line).slice(Math.max(0, column - 20), column - 1));
}

/** Reduces a name to letters and digits, so that `lang_code` and `lang code` are the same. */
const bareName = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Prefixes of variable names in other languages. */
const outerNames = new Set(
  'matrix strategy vars var variables inputs params item cell axis axes row rows'.split(' '),
);

function variableHint(
  root: string,
  members: readonly string[],
  matrix: MatrixDraft,
  isDollar: boolean,
  { name: step, path, gather }: StepDraft,
): string {
  const names = [...matrix.variables.keys(), 'repeat'];
  const [member] = members;
  if (root === 'frame') {
    const output = path.find(isOfOutputs)?.selectors[0]?.name;
    if (output === undefined)
      return 'Below an output (from: grid/#1), "frame" is its number; here there is none.';
    return `This is read before there are outputs. "frame" is known below ${output}: later in the path, and in a step with from: ${step}/${output}.`;
  }
  if (root === gatheredName)
    return `"${gatheredName}" is there in a step that gathers over axes: gather: { step: ${gather?.step ?? 'score'}, over: [${[...matrix.variables.keys()][0] ?? 'seed'}] }.`;
  if (localNames.has(root))
    return `"${root}" is there in a step with each, and in the steps that follow from it (from).`;
  if (root === 'row' && member !== undefined && matrix.variables.has(member))
    return `A column is a variable: write {{ ${writtenName(member)} }}.`;
  if (outerNames.has(root.toLowerCase()) && member !== undefined) {
    const meant = nearest(member, names) ?? member;
    const known = names.find((name) => name === member) ?? names.find((name) => name === meant);
    if (known !== undefined)
      return `Write only the name of an axis: {{ ${[writtenName(known), ...members.slice(1)].join('.')} }}, without "${root}."${isDollar ? ' and without the $ before {{' : ''}.`;
  }
  const same = names.find((name) => bareName(name) === bareName(root)) ?? nearest(root, names);
  if (same !== undefined) {
    const written = writtenName(same);
    return `Did you mean "${same}"?${written === same ? '' : ` It is written {{ ${written} }}.`}`;
  }
  const isValue = [...matrix.variables.values()].some(({ values }) => values?.includes(root) === true);
  if (isValue) return `"${root}" is a value: a text needs quotes, "${root}".`;
  if (/^(?:env|process)$/i.test(root))
    return 'A template cannot read the environment; use a variable of the matrix for values that change from run to run.';
  const list = suggestion(root, names, 'variables');
  const odd = names.find((name) => writtenName(name) !== name);
  return odd === undefined
    ? list
    : `${list} Write a name with other characters as {{ ${writtenName(odd)} }}.`;
}

function checkMembers(
  { name, values }: Variable,
  members: readonly string[],
  position: VariableUse['position'],
  collector: DiagnosticCollector,
): void {
  let at = values;
  for (const [index, member] of members.entries()) {
    if (at === undefined || at.length === 0 || liquidMembers.has(member)) return;
    // Lists have indexes, and a text in one cell may be an object in another.
    if (!at.every(isMapping)) {
      if (at.some((value) => typeof value === 'object' && value !== null)) return;
      const way = [name, ...members.slice(0, index)].join('.');
      const message = `"${way}" is not an object, so it has no "${member}".`;
      collector.error('template.unknown-member', position, message, `Write {{ ${way} }}.`);
      return;
    }
    const next: readonly Value[] = at.flatMap((value) =>
      Object.hasOwn(value, member) ? [value[member] as Value] : [],
    );
    if (next.length === 0) {
      const way = [name, ...members.slice(0, index)].join('.');
      const message = `No value of "${way}" has a member "${member}".`;
      const all = at;
      collector.error('template.unknown-member', position, message, () =>
        suggestion(member, [...new Set(all.flatMap((value) => Object.keys(value)))], 'members'),
      );
      return;
    }
    at = next;
  }
}

/** Reports members that no item of a list has. */
function checkItem(each: EachDraft, { path, position, ...use }: VariableUse, context: CheckContext): void {
  const { collector, steps, matrix } = context;
  const [root = '', ...members] = path;
  if (root !== 'item') {
    if (members.length === 0) return;
    const message = `"${root}" is a number, so it has no "${members[0]}".`;
    return collector.error('template.unknown-member', position, message, `Write {{ ${root} }}.`);
  }
  const source = sourceOf(each);
  if (source === undefined) return;
  if ('use' in source) {
    const target = steps.get(source.use.step);
    if (target === undefined || source.use.path[0] !== 'json') return;
    const inList = [...source.use.path, '0'];
    const itemUse = { ...use, step: source.use.step, path: [...inList, ...members], position };
    return checkResult(itemUse, target, collector, { name: 'item', stands: inList.length });
  }
  // Items of items: the file does not say.
  if (isLocal(source.variable)) return;
  const items = valuesOf(source.variable, { steps, matrix })?.filter(isList).flat();
  if (items === undefined || members.length === 0) return;
  const item: Variable = { name: 'item', values: items };
  checkMembers(item, members, position, collector);
}

/** Reports uses of other steps that cannot work. The named steps exist and form no cycle. */
export function checkStepUses(step: StepDraft, context: CheckContext): void {
  const { steps, collector } = context;
  for (const use of step.steps) {
    const target = steps.get(use.step);
    if (target === undefined) continue;
    checkField(use, target, collector);
    reportSeveral(step, target, use.position, context);
  }
  for (const { step: name, position, image } of step.names) {
    const target = steps.get(name);
    if (target === undefined) continue;
    if (image) checkMakesImages(target, position, context);
    reportSeveral(step, target, position, context);
  }
}

function checkField(use: StepUse, target: StepDraft, collector: DiagnosticCollector): void {
  const { path, position } = use;
  if (target.kind === undefined) return;
  const fields = fieldsOf(target.kind);
  const [field, ...rest] = path;
  const offers = `Steps of kind ${target.kind} have ${listing(fields)}.`;
  if (field === undefined) {
    const message = `"steps.${target.name}" is a whole step; name a part of it.`;
    collector.error('step.field', position, message, `${offers} Write steps.${target.name}.${fields[0]}.`);
  } else if (!fields.includes(field)) {
    const near = nearest(field, fields);
    const hint = near === undefined ? offers : `Did you mean "${near}"? ${offers}`;
    collector.error('step.field', position, `Step "${target.name}" has no "${field}".`, hint);
  } else if (rest.length > 0 && !structuredFields.has(field) && !liquidMembers.has(rest[0] as string)) {
    const message = `"steps.${target.name}.${field}" is text, so it has no "${rest[0]}".`;
    collector.error('step.field', position, message, `Write steps.${target.name}.${field}.`);
  } else {
    checkResult(use, target, collector);
  }
}

function reportSeveral(
  step: StepDraft,
  target: StepDraft,
  position: StepUse['position'],
  { steps, collector }: CheckContext,
): void {
  if (!target.pathKnown || !couldMeanSeveral(step, target, steps)) return;
  const address = target.from?.source ?? target.name;
  const message = `"${target.name}" has several jobs here (one per branch of ${address}), and a job of "${step.name}" can use one.`;
  const hint =
    step.gather?.step === target.name
      ? 'A template reads one job; gathered images go into the request unchanged.'
      : `Continue one of them (from: ${address}), or collect all of them with gather: ${target.name}.`;
  collector.error('step.several', position, message, hint);
}
