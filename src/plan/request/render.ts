import { TemplateError, type TemplateScope, type TemplateTree } from '../../pipeline/templates/template.ts';
import { isTemplate, renderTree } from '../../pipeline/templates/tree.ts';
import { renderValue, type Value, WrittenNumber } from '../../pipeline/values/value.ts';

/** Declared fields by their pipeline names, before their templates are rendered. */
export type Fields = Readonly<Record<string, TemplateTree>>;

/** Renders one field to a value. @throws TemplateError */
type FieldRender = (tree: TemplateTree, scope: TemplateScope, name: string) => Value;

/** @throws TemplateError */
export function renderFields(
  fields: Fields,
  scope: TemplateScope,
  render: FieldRender,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).map(([name, tree]) => [name, render(tree, scope, name)]));
}

/**
 * Renders a field that is always text, exactly as written: `{{ year }}` alone must not become a number.
 *
 * @param what the field's name in messages
 * @param limit most characters; more means a wrong template (a whole file in a variable), and would be kept in the state and the manifest
 * for every job
 * @throws TemplateError `template.empty` and `template.limit` too
 */
export function renderField(tree: TemplateTree, scope: TemplateScope, what: string, limit: number): string {
  const text = isTemplate(tree) ? tree.render(scope) : renderValue(renderTree(tree, scope));
  if (text.length > limit)
    throw new TemplateError(
      'template.limit',
      `For this cell ${what} has ${text.length} characters; at most ${limit} are sent.`,
    );
  return notEmpty(text, what, isTemplate(tree) ? tree.source : text);
}

/** Returns the text unless it is blank. @throws TemplateError `template.empty` */
export function notEmpty(text: string, what: string, source: string): string {
  if (text.trim() !== '') return text;
  throw new TemplateError(
    'template.empty',
    `For this cell ${what} is empty: ${shown(source)} renders to nothing.`,
  );
}

const shown = (source: string): string =>
  JSON.stringify(source.length > 80 ? `${source.slice(0, 79)}…` : source);

/** Renders a field whose values keep their types. @throws TemplateError */
export const renderPlain = (tree: TemplateTree, scope: TemplateScope): Value =>
  plainNumbers(renderTree(tree, scope));

/** Returns the number of a value, also of a text of digits, as in a table's columns; undefined for any other. */
export function decimal(value: Value): number | undefined {
  if (value instanceof WrittenNumber) return value.value;
  if (typeof value === 'string')
    return /^-?(?:\d+(?:\.\d*)?|\.\d+)$/.test(value.trim()) ? Number(value) : undefined;
  return typeof value === 'number' ? value : undefined;
}

/** Returns `JobSpec.files` as a member, which is absent without files. */
export const filesMember = (
  files: Readonly<Record<string, string>> = {},
): { readonly files?: Readonly<Record<string, string>> } =>
  Object.keys(files).length === 0 ? {} : { files };

/** Removes written forms: in a request body 6.0 and 6 are the same number and request. A long integer stays as written. */
function plainNumbers(value: Value): Value {
  if (value instanceof WrittenNumber) return value.isLongInteger ? value : value.value;
  if (Array.isArray(value)) return value.map((item: Value) => plainNumbers(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainNumbers(item)]));
}

/** The longest prompt for images, in UTF-16 units: several times the length that any model reads. */
const promptLimit = 32_768;

/** The longest of the other texts, which are single words. */
const wordLimit = 256;

/** Text fields with their possible words, or undefined if only the service knows them. */
const words: Readonly<Record<string, readonly string[] | undefined>> = {
  dimensions: ['portrait', 'square', 'landscape'],
  motion: ['low', 'high'],
  animateMode: ['manual', 'auto'],
  videoType: undefined,
  language: undefined,
};

/** Number fields with their possible values; a table may give the numbers as texts. */
const numbers: Readonly<Record<string, readonly number[]>> = {
  batchSize: [1, 2, 4],
  extend: [1, 2, 3, 4],
};

/**
 * Renders one field of an operation that makes a task. Values from templates are checked here; literal ones were checked before. Values
 * with the same meaning become equal, so that they make one job.
 *
 * @throws TemplateError `template.empty`, `template.limit` and `template.range` too
 */
export function renderTaskField(tree: TemplateTree, scope: TemplateScope, name: string): Value {
  if (name === 'prompt') return renderField(tree, scope, 'the prompt', promptLimit);
  if (Object.hasOwn(words, name)) {
    const text = renderField(tree, scope, `\`${name}\``, wordLimit);
    const possible = words[name];
    if (possible === undefined) return text;
    const word = text.trim().toLowerCase();
    return possible.includes(word) ? word : refuse(name, text, possible);
  }
  const value = renderPlain(tree, scope);
  const possible = numbers[name];
  if (possible !== undefined) {
    const number = decimal(value);
    return possible.some((each) => each === number) ? (number as number) : refuse(name, value, possible);
  }
  if (name === 'loop') {
    if (typeof value === 'boolean') return value;
    return value === 'true' || value === 'false' ? value === 'true' : refuse(name, value, [true, false]);
  }
  return value;
}

function refuse(name: string, value: Value, possible: readonly (string | number | boolean)[]): never {
  throw new TemplateError(
    'template.range',
    `For this cell \`${name}\` is ${JSON.stringify(value).slice(0, 80)}; possible values: ${possible.join(', ')}.`,
  );
}

/** Matches a parameter: two hyphens, or the dash that editors make of them, before a name; the text after an `=` belongs to it. */
const parameter = /^(?:--|—)(\p{L}[^=]*)/u;

/** Parameters with any number of words; every other one takes at most one. */
const openEnded = new Set(['no', 'p', 'profile', 'sref', 'cref', 'oref']);

/** Matches punctuation such as `, `, which remains when a variable of a template is blank. */
const onlyMarks = /^\p{P}+$/u;

/** Whether a prompt has parameters and nothing else: `--v 6.1`, `, --ar 3:2 --raw`. */
export function hasOnlyParameters(prompt: string): boolean {
  let found = false;
  /** Number of words that the last parameter may still take. */
  let room = 0;
  for (const word of prompt.split(/\s+/u)) {
    const name = parameter.exec(word)?.[1];
    if (name !== undefined) {
      found = true;
      room = openEnded.has(name.toLowerCase()) ? Number.POSITIVE_INFINITY : word.includes('=') ? 0 : 1;
    } else if (word !== '' && room > 0) room -= 1;
    else if (word !== '' && !onlyMarks.test(word)) return false;
  }
  return found;
}

/**
 * Refuses a prompt that would make the service draw something arbitrary, for a price.
 *
 * @throws TemplateError `prompt.empty`
 */
export function needWords(prompt: Value | undefined): void {
  if (typeof prompt !== 'string' || !hasOnlyParameters(prompt)) return;
  const text = prompt.trim();
  throw new TemplateError(
    'prompt.empty',
    `For this cell the prompt is nothing but parameters: ${JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text)}. Is a variable blank?`,
  );
}
