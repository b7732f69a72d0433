import { TemplateError, type TemplateScope, type TemplateTree } from '../pipeline/templates/template.ts';
import { isTemplate, renderTree } from '../pipeline/templates/tree.ts';
import { renderValue, type Value, WrittenNumber } from '../pipeline/values/value.ts';

/** Declared fields by their pipeline names, before their templates are rendered. */
export type Fields = Readonly<Record<string, TemplateTree>>;

/** How one field becomes a value. @throws TemplateError */
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
 * A field that is always text, sent exactly as rendered: `{{ year }}` alone must not become a number.
 *
 * @param what how a message names it
 * @param limit most characters; more is a template that has run away (a whole file in a variable), and would be kept in
 * the state and the manifest for every job
 * @throws TemplateError `template.empty` and `template.limit` too
 */
export function renderText(tree: TemplateTree, scope: TemplateScope, what: string, limit: number): string {
  const text = isTemplate(tree) ? tree.render(scope) : renderValue(renderTree(tree, scope));
  if (text.length > limit)
    throw new TemplateError(
      'template.limit',
      `For this cell ${what} has ${text.length} characters; at most ${limit} are sent.`,
    );
  return notEmpty(text, what, isTemplate(tree) ? tree.source : text);
}

/** @throws TemplateError `template.empty` */
export function notEmpty(text: string, what: string, source: string): string {
  if (text.trim() !== '') return text;
  throw new TemplateError(
    'template.empty',
    `For this cell ${what} is empty: ${shown(source)} renders to nothing.`,
  );
}

const shown = (source: string): string =>
  JSON.stringify(source.length > 80 ? `${source.slice(0, 79)}…` : source);

/** A field whose values keep their types. @throws TemplateError */
export const renderPlain = (tree: TemplateTree, scope: TemplateScope): Value =>
  plainNumbers(renderTree(tree, scope));

/** The number that a value is, or that a text says in digits, as a table's columns do; undefined for any other. */
export function decimal(value: Value): number | undefined {
  if (value instanceof WrittenNumber) return value.value;
  if (typeof value === 'string')
    return /^-?(?:\d+(?:\.\d*)?|\.\d+)$/.test(value.trim()) ? Number(value) : undefined;
  return typeof value === 'number' ? value : undefined;
}

/** `JobSpec.files` as a member, absent where no file is named. */
export const filesMember = (
  files: Readonly<Record<string, string>> = {},
): { readonly files?: Readonly<Record<string, string>> } =>
  Object.keys(files).length === 0 ? {} : { files };

/** In a request body 6.0 and 6 are the same number, so they are one request. A long integer is sent as it is written. */
function plainNumbers(value: Value): Value {
  if (value instanceof WrittenNumber) return value.isLongInteger ? value : value.value;
  if (Array.isArray(value)) return value.map((item: Value) => plainNumbers(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainNumbers(item)]));
}
