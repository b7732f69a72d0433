import type { DiagnosticCode } from '../diagnostics/codes.ts';
import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { listing, nearest, suggestion } from '../diagnostics/did-you-mean.ts';
import type { Span } from '../diagnostics/source.ts';
import type { StepKind } from '../pipeline.ts';
import { renderValue } from '../values/value.ts';
import { isText, type SourceEntry, type SourceNode } from '../yaml/node.ts';
import { configurationKeys } from './native-keys.ts';
import { keysOfStep, type SchemaError, type SchemaNode } from './schema.ts';
import { isStepKind } from './step-kinds.ts';

/** Where a violation lies: the value, and the key it stands under. */
interface SchemaPlace {
  readonly node: SourceNode;
  /** The mapping entry of the value, unless it is the whole or an item of a list. */
  readonly entry?: SourceEntry;
  /** What the value is called in a message. */
  readonly name: string;
}

interface Message {
  readonly code: DiagnosticCode;
  readonly span: Span;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Reports errors of the schema, one diagnostic for each.
 *
 * @param root what was validated
 * @param entry the entry that holds it, when it is not the whole file
 */
export function reportSchemaErrors(
  errors: readonly SchemaError[],
  root: SourceNode,
  entry: SourceEntry | undefined,
  collector: DiagnosticCollector,
): void {
  // A key that is missing because it was mistyped is one error, reported at the mistyped key.
  const mistyped = mistypedKeys(errors);
  for (const error of errors) {
    if (collector.full) return;
    const place = placeOf(error.instancePath, root, entry);
    const message = messageOf(error, place, mistyped.get(error.instancePath) ?? new Set());
    if (message !== undefined) collector.error(message.code, message.span, message.message, message.hint);
  }
}

/** By instance path: the known keys that unknown keys there probably mean. */
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

function placeOf(instancePath: string, root: SourceNode, rootEntry: SourceEntry | undefined): SchemaPlace {
  let node = root;
  let entry = rootEntry;
  let isItem = false;
  let name = rootEntry === undefined ? 'the pipeline' : `step "${rootEntry.key}"`;
  const segments = instancePath.split('/').slice(1);
  for (const raw of segments) {
    const segment = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    isItem = node.kind === 'list';
    if (node.kind === 'mapping') {
      entry = node.entries.get(segment) as SourceEntry;
      node = entry.value;
      name = segment;
    } else if (node.kind === 'list') {
      node = node.items[Number(segment)] as SourceNode;
      name = `item ${Number(segment) + 1} of ${name}`;
    }
  }
  return { node, name, ...(entry === undefined || isItem ? {} : { entry }) };
}

function messageOf(
  { keyword, params, parentSchema = {}, schemaPath, propertyName, instancePath }: SchemaError,
  place: SchemaPlace,
  mistyped: ReadonlySet<string>,
): Message | undefined {
  const { node, name } = place;
  const around = place.entry?.keySpan ?? { offset: node.span.offset, length: 1 };
  // What follows from a choice, a condition or a name that is reported by itself.
  if (/\/oneOf\/\d+\//.test(schemaPath) || keyword === 'propertyNames' || keyword === 'if') return undefined;
  if (propertyName !== undefined) return badName(propertyName, node, parentSchema);
  switch (keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty']);
      const known = Object.keys(parentSchema.properties ?? {});
      const span = (node.kind === 'mapping' ? node.entries.get(key)?.keySpan : undefined) ?? around;
      const message = `"${key}" is not a key of ${name}.`;
      return { code: 'schema.unknown-key', span, message, hint: hintForKey(instancePath, key, known) };
    }
    case 'required': {
      const key = String(params['missingProperty']);
      if (mistyped.has(key)) return undefined;
      const message = `${capital(name)} needs the key "${key}".`;
      return { code: 'schema.missing-key', span: around, message };
    }
    case 'oneOf': {
      const keys = (parentSchema['oneOf'] as { required: string[] }[]).flatMap((branch) => branch.required);
      if (keys.some((key) => mistyped.has(key))) return undefined;
      const message = `${capital(name)} needs exactly one of the keys ${listing(keys)}.`;
      return { code: 'schema.key-choice', span: around, message };
    }
    case 'type': {
      const message = `${capital(name)} must be ${formWords(parentSchema) ?? typeWords(parentSchema.type)}; this is ${kindOf(node)}.`;
      return { code: 'schema.type', span: node.span, message, ...typeHint(node, name, parentSchema) };
    }
    case 'enum':
    case 'not':
    case 'pattern':
      return badValue(
        node,
        name,
        parentSchema,
        keyword === 'enum' ? parentSchema['enum'] : parentSchema.examples,
        keyword !== 'pattern',
      );
    default:
      return {
        code: 'schema.range',
        span: node.span,
        message: `${capital(name)} ${bound(keyword, params)}.`,
      };
  }
}

function badName(propertyName: string, node: SourceNode, schema: SchemaNode): Message {
  const span = (node.kind === 'mapping' ? node.entries.get(propertyName)?.keySpan : undefined) ?? node.span;
  const hint = typeof schema['description'] === 'string' ? schema['description'] : undefined;
  return {
    code: 'schema.name',
    span,
    message: `"${propertyName}" cannot be a name.`,
    ...(hint === undefined ? {} : { hint }),
  };
}

/** @param enumerated only the examples are possible; otherwise the pattern decides */
function badValue(
  node: SourceNode,
  name: string,
  schema: SchemaNode,
  examples: unknown,
  enumerated: boolean,
): Message {
  const words = wordsOf(examples);
  const written = node.kind === 'scalar' ? renderValue(node.value) : '';
  const pattern = schema['pattern'];
  const closed = enumerated || typeof pattern !== 'string' || words.every((word) => pattern.includes(word));
  // A number is another number, not a slip of the pen.
  const near = closed && isText(node) ? nearest(written, words) : undefined;
  const what = formWords(schema);
  const cut = written.length > 40 ? `${written.slice(0, 39)}…` : written;
  // A text may be empty, or begin with a space.
  const shown = isText(node) || written === '' ? `"${cut}"` : cut;
  const message =
    what === undefined
      ? `${capital(name)} cannot be ${shown}.`
      : `${capital(name)} must be ${what}; ${shown} is not.`;
  const choice = closed ? `Possible: ${words.join(', ')}.` : `Examples: ${words.join(', ')}.`;
  const hint = near === undefined ? choice : `Did you mean "${near}"? ${choice}`;
  return { code: 'schema.value', span: node.span, message, ...(words.length === 0 ? {} : { hint }) };
}

/** `a duration`: what a text of a form of its own is called; the schema's other titles name the place, not the form. */
const formWords = ({ pattern, title }: SchemaNode): string | undefined =>
  typeof pattern === 'string' && /^[a-z]/.test(title ?? '') ? `a ${title}` : undefined;

const wordsOf = (examples: unknown): readonly string[] =>
  Array.isArray(examples) ? examples.map(String) : [];

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

/** YAML 1.2 reads 6.1 as a number and `yes` as text. */
function typeHint(node: SourceNode, name: string, schema: SchemaNode): { hint?: string } {
  if (node.kind !== 'scalar' || node.value === null) return {};
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  if (isText(node)) {
    const isWord = types.includes('boolean') && /^(yes|no|on|off|y|n)$/i.test(node.value);
    return isWord ? { hint: `In YAML 1.2 "${node.value}" is text; write true or false.` } : {};
  }
  // What stands in place of a key may be one: it is not repeated.
  if (!types.includes('string') || name === 'apiKey') return {};
  // Quotes would make a text of it, and still no duration.
  if (formWords(schema) !== undefined) return { hint: `Examples: ${wordsOf(schema.examples).join(', ')}.` };
  return { hint: `Text that looks like something else is put in quotes: "${renderValue(node.value)}".` };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What to do about a key that a mapping of the file does not have: many are right, and stand in the wrong place. */
export function hintForKey(instancePath: string, key: string, known: readonly string[]): string {
  const kind = instancePath.slice(1);
  const misplaced = isStepKind(kind) ? misplacedIn(kind, key, known) : undefined;
  return misplaced ?? suggestion(key, known, 'keys here');
}

function misplacedIn(kind: StepKind, key: string, known: readonly string[]): string | undefined {
  if (key !== kind && keysOfStep(kind).includes(key)) return `It is a key of the step, beside ${kind}.`;
  if (kind === 'generate' && configurationKeys.includes(key)) return `Write generationConfig: { ${key}: … }.`;
  if (kind !== 'chat') return undefined;
  if (key === 'responseSchema' || key === 'responseJsonSchema')
    return 'chat says it with response_format: { type: json_schema, json_schema: { name: answer, schema: … } }.';
  // One of OpenAI's many fields, as a rule: what is no slip of the pen is meant.
  return nearest(key, known) === undefined
    ? `What else the service takes stands in extra, beside chat: extra: { ${key}: … }.`
    : undefined;
}
