import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { listing, nearest } from '../diagnostics/did-you-mean.ts';
import { renderValue } from '../values/value.ts';
import { entryAt, isText, type SourceEntry, type SourceNode } from '../yaml/node.ts';
import { commentSlip } from '../yaml/slips.ts';
import { firstSentence, missingHint, typeHint } from './hints/examples.ts';
import { formHint } from './hints/forms.ts';
import { JoinedErrors, type Message } from './joined.ts';
import { emptyAbove, hintForKey } from './misplaced.ts';
import { placeOf, type SchemaPlace, subject } from './place.ts';
import type { SchemaError, SchemaNode } from './schema.ts';

/**
 * Reports errors of the schema, one diagnostic for each.
 *
 * @param root the validated value
 * @param entry the entry that holds it, unless it is the whole file
 */
export function reportSchemaErrors(
  errors: readonly SchemaError[],
  root: SourceNode,
  entry: SourceEntry | undefined,
  collector: DiagnosticCollector,
): void {
  // A key that is missing because it was mistyped is one error, reported at the mistyped key.
  const mistyped = mistypedKeys(errors);
  const empty = entry === undefined ? emptyAbove(root) : new Map<string, string>();
  const belowEmpty = new Set([...empty.values()].map((block) => `/${block}`));
  // A value of a wrong type has no other errors: without a mapping there are no keys.
  const ofWrongType = new Set(errors.filter(isTypeError).map(({ instancePath }) => instancePath));
  const joined = new JoinedErrors(errors, root, entry);
  for (const error of errors) {
    if (collector.full) return;
    const { instancePath } = error;
    if (ofWrongType.has(instancePath) && !isTypeError(error)) continue;
    const together = joined.message(error);
    if (together === 'reported') continue;
    if (error.keyword === 'type' && hasChoice(error)) continue;
    // An empty block followed by its keys without indentation is one error, reported at the keys.
    if (belowEmpty.has(instancePath) && isTypeError(error)) continue;
    const place = placeOf(instancePath, root, entry);
    const message = together ?? messageOf(error, place, mistyped.get(instancePath) ?? new Set(), empty);
    if (message === undefined) continue;
    const isEmpty = place.node.kind === 'scalar' && place.node.value === null;
    const { offset } = message.span;
    const comment = isEmpty
      ? // The dash of an item, or the end of a key.
        (commentSlip(collector.source, { offset, length: 0 }) ?? commentSlip(collector.source, message.span))
      : undefined;
    collector.error(message.code, message.span, message.message, comment ?? message.hint);
  }
}

/** Whether the schema lists possible values, which say more than a type. */
const hasChoice = ({ parentSchema, data }: SchemaError): boolean =>
  parentSchema?.['enum'] !== undefined && data !== null;

const isTypeError = (error: SchemaError): boolean =>
  error.keyword === 'type' && !hasChoice(error) && !/\/oneOf\/\d+\//.test(error.schemaPath);

/** Returns, by instance path, the known keys that unknown keys there probably mean. */
function mistypedKeys(errors: readonly SchemaError[]): ReadonlyMap<string, ReadonlySet<string>> {
  const meant = new Map<string, Set<string>>();
  for (const { keyword, instancePath, params, parentSchema } of errors) {
    if (keyword !== 'additionalProperties') continue;
    const near = nearest(String(params['additionalProperty']), Object.keys(parentSchema?.properties ?? {}));
    if (near === undefined) continue;
    const set = meant.get(instancePath) ?? new Set();
    meant.set(instancePath, set.add(near));
  }
  return meant;
}

function messageOf(
  { keyword, params, parentSchema = {}, schemaPath, propertyName }: SchemaError,
  place: SchemaPlace,
  mistyped: ReadonlySet<string>,
  empty: ReadonlyMap<string, string>,
): Message | undefined {
  const { node, name } = place;
  const around = place.entry?.keySpan ?? { offset: node.span.offset, length: 1 };
  // Skip errors that only follow from a choice, a condition or a name that is reported separately.
  if (/\/oneOf\/\d+\//.test(schemaPath) || keyword === 'propertyNames' || keyword === 'if') return undefined;
  if (propertyName !== undefined) return badName(propertyName, node, parentSchema);
  switch (keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty']);
      const known = Object.keys(parentSchema.properties ?? {});
      const span = entryAt(node, key)?.keySpan ?? around;
      const message = `"${key}" is not a key of ${name}.`;
      const hint = hintForKey(place, key, known, empty.get(key));
      return { code: 'schema.unknown-key', span, message, hint };
    }
    case 'required': {
      const key = String(params['missingProperty']);
      if (mistyped.has(key)) return undefined;
      const message = `${subject(place)} needs the key "${key}".`;
      const hint = missingHint(place, key, parentSchema);
      return { code: 'schema.missing-key', span: around, message, hint };
    }
    case 'oneOf': {
      const keys = (parentSchema['oneOf'] as { required: string[] }[]).flatMap((branch) => branch.required);
      if (keys.some((key) => mistyped.has(key))) return undefined;
      const message = `${subject(place)} needs exactly one of the keys ${listing(keys)}.`;
      return { code: 'schema.key-choice', span: around, message };
    }
    case 'type': {
      const message = `${subject(place)} must be ${formWords(parentSchema) ?? typeWords(parentSchema.type)}; this is ${kindOf(node)}.`;
      const hint = typeHint(place, parentSchema);
      return { code: 'schema.type', span: node.span, message, hint };
    }
    case 'enum':
    case 'not':
    case 'pattern':
      return badValue(place, parentSchema, keyword);
    default: {
      const hint = firstSentence(parentSchema);
      const message = `${subject(place)} ${bound(keyword, params)}.`;
      return { code: 'schema.range', span: node.span, message, hint };
    }
  }
}

function badName(propertyName: string, node: SourceNode, schema: SchemaNode): Message {
  const span = entryAt(node, propertyName)?.keySpan ?? node.span;
  const rule = typeof schema['description'] === 'string' ? schema['description'] : undefined;
  const free = freeName(propertyName, '_');
  const hint = rule === undefined || free === undefined ? rule : `${rule} For example ${free}.`;
  return { code: 'schema.name', span, message: `"${propertyName}" cannot be a name.`, hint };
}

/** Turns an invalid name into a similar valid one; undefined if nothing of it remains. */
function freeName(written: string, mark: '-' | '_'): string | undefined {
  const free = written
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, mark)
    .replace(/^[-_]+/, '')
    .slice(0, 60)
    .replace(/[-_]+$/, '');
  if (free === '') return undefined;
  return mark === '_' && /^\d/.test(free) ? `_${free}` : free;
}

function badValue(place: SchemaPlace, schema: SchemaNode, keyword: 'enum' | 'not' | 'pattern'): Message {
  const { node, way } = place;
  const examples = keyword === 'enum' ? schema['enum'] : schema.examples;
  const words = Array.isArray(examples) ? examples.map(String) : [];
  const written = node.kind === 'scalar' ? renderValue(node.value) : '';
  const pattern = schema['pattern'];
  // Without a pattern, only the examples are possible.
  const closed =
    keyword !== 'pattern' || typeof pattern !== 'string' || words.every((word) => pattern.includes(word));
  // A number is a different number, not a typing error.
  const near = closed && isText(node) ? nearest(written, words) : undefined;
  const what = formWords(schema);
  const cut = written.length > 40 ? `${written.slice(0, 39)}…` : written;
  // A text may be empty or begin with a space.
  const shown = isText(node) || written === '' ? `"${cut}"` : cut;
  const message =
    what === undefined
      ? `${subject(place)} cannot be ${shown}.`
      : `${subject(place)} must be ${what}; ${shown} is not.`;
  if (way.join('.') === 'name') {
    const hint = `A name has letters, digits, dots, hyphens and underscores, at most 100 of them, and no spaces: ${freeName(written, '-') ?? words.join(', ')}.`;
    return { code: 'schema.value', span: node.span, message, hint };
  }
  const choice = closed ? `Possible: ${words.join(', ')}.` : `Examples: ${words.join(', ')}.`;
  const hint =
    formHint(way.at(-1) ?? '', written, schema) ??
    (near === undefined ? choice : `Did you mean "${near}"? ${choice}`);
  return { code: 'schema.value', span: node.span, message, ...(words.length === 0 ? {} : { hint }) };
}

/** Returns the name of a text format, such as `a duration`; titles of other schemas name the place, not a format. */
const formWords = ({ pattern, title }: SchemaNode): string | undefined =>
  typeof pattern === 'string' && /^[a-z]/.test(title ?? '') ? `a ${title}` : undefined;

function bound(keyword: string, params: Record<string, unknown>): string {
  const limit = String(params['limit']);
  switch (keyword) {
    case 'minimum':
      return `must be at least ${limit}`;
    case 'exclusiveMinimum':
      return `must be above ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'minLength':
      return 'must not be empty';
    case 'minItems':
    case 'minProperties':
      return limit === '1' ? 'must not be empty' : `needs at least ${limit} items`;
    case 'maxItems':
    case 'maxProperties':
      return `can have at most ${limit} items`;
    default:
      return `is not possible here (${keyword})`;
  }
}

const typeNames: Record<string, string> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
};

function typeWords(type: SchemaNode['type']): string {
  const types = typeof type === 'string' ? [type] : (type ?? []);
  return types.map((one) => typeNames[one] ?? one).join(' or ');
}

function kindOf(node: SourceNode): string {
  if (node.kind !== 'scalar') return node.kind === 'list' ? 'a list' : 'a mapping';
  if (node.value === null) return 'empty';
  if (typeof node.value === 'string') return 'text';
  return typeof node.value === 'boolean' ? `${node.value}` : 'a number';
}
