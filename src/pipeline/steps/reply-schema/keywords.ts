import { nearest } from '../../diagnostics/did-you-mean.ts';
import { isObject, isStrings, type Json } from '../../values/value.ts';
import type { SchemaDiagnosticDrafts, SchemaPath } from './problems.ts';

/** What stands under a keyword that holds schemas or leads to one, and which value these apply to. */
type Applicator =
  /** A schema (or several) for the value itself. */
  | 'same-value'
  | 'same-value-list'
  | 'same-value-map'
  /** A schema (or several) for its members or items. */
  | 'member'
  | 'member-list'
  | 'member-map'
  | 'pattern-map'
  | 'definitions'
  | 'ref';

/** What stands under a keyword that says something of the value by itself. */
export type Assertion =
  | 'type'
  | 'nullable'
  | 'pattern'
  | 'number'
  | 'count'
  | 'flag'
  | 'names'
  | 'names-map'
  | 'values'
  | 'value';

/** What stands under a keyword of a schema. */
export type Keyword = Applicator | Assertion;

/** Keywords that assert something about a reply: JSON Schema 2020-12, and the native subset of OpenAPI. */
export const keywordShapes: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['$ref', 'ref'],
  ['$defs', 'definitions'],
  ['definitions', 'definitions'],
  ['type', 'type'],
  ['nullable', 'nullable'],
  ['enum', 'values'],
  ['const', 'value'],
  ['allOf', 'same-value-list'],
  ['anyOf', 'same-value-list'],
  ['oneOf', 'same-value-list'],
  ['then', 'same-value'],
  ['not', 'same-value'],
  ['if', 'same-value'],
  ['else', 'same-value'],
  ['dependentSchemas', 'same-value-map'],
  ['properties', 'member-map'],
  ['patternProperties', 'pattern-map'],
  ['additionalProperties', 'member'],
  ['unevaluatedProperties', 'member'],
  ['propertyNames', 'member'],
  ['required', 'names'],
  ['dependentRequired', 'names-map'],
  ['minProperties', 'count'],
  ['maxProperties', 'count'],
  ['items', 'member'],
  ['prefixItems', 'member-list'],
  ['unevaluatedItems', 'member'],
  ['contains', 'member'],
  ['minContains', 'count'],
  ['maxContains', 'count'],
  ['minItems', 'count'],
  ['maxItems', 'count'],
  ['uniqueItems', 'flag'],
  ['minLength', 'count'],
  ['maxLength', 'count'],
  ['pattern', 'pattern'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['multipleOf', 'number'],
]);

/** Keywords that assert nothing, or what is not checked. */
export const silentKeywords: ReadonlySet<string> = new Set(
  (
    '$schema $id $anchor $comment title description default example examples format propertyOrdering ' +
    'deprecated readOnly writeOnly discriminator contentEncoding contentMediaType contentSchema'
  ).split(' '),
);

export const typeWords: readonly string[] = 'string number integer boolean array object null'.split(' ');

/** Warns of an unknown keyword that is a slip of a known one: it asks for nothing. */
export function warnOfKeyword(word: string, path: SchemaPath, diagnostics: SchemaDiagnosticDrafts): void {
  if (silentKeywords.has(word) || word.startsWith('x-')) return;
  const near = nearest(word, [...keywordShapes.keys(), ...silentKeywords]);
  if (near === undefined) return;
  diagnostics.warning(
    path,
    `"${word}" is no keyword of a schema, and asks for nothing.`,
    `Did you mean "${near}"?`,
  );
}

/** Services refuse a schema that requires what it does not describe. */
export function warnOfRequired(schema: Json, path: SchemaPath, diagnostics: SchemaDiagnosticDrafts): void {
  const { required, properties, additionalProperties } = schema;
  if (!isStrings(required) || !isObject(properties)) return;
  if (additionalProperties !== undefined && additionalProperties !== false) return;
  if (['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties'].some((word) => word in schema)) return;
  for (const [index, name] of required.entries()) {
    if (Object.hasOwn(properties, name)) continue;
    const near = nearest(name, Object.keys(properties));
    diagnostics.warning(
      [...path, 'required', String(index)],
      `"${name}" is required, and is none of the properties.`,
      near === undefined ? undefined : `Did you mean "${near}"?`,
    );
  }
}
