import { nearest } from '../../diagnostics/did-you-mean.ts';
import { isObject, isStrings, type Json } from '../../values/value.ts';
import type { SchemaDiagnosticDrafts, SchemaPath } from './problems.ts';

/** How a keyword holds or refers to schemas, and which value they apply to. */
type Applicator =
  /** One or more schemas for the value itself. */
  | 'same-value'
  | 'same-value-list'
  | 'same-value-map'
  /** One or more schemas for its members or items. */
  | 'member'
  | 'member-list'
  | 'member-map'
  | 'pattern-map'
  | 'definitions'
  | 'ref';

/** The value type of a keyword that makes an assertion without schemas. */
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

/** The value type of a schema keyword. */
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

/** Keywords that assert nothing, or are not checked. */
export const silentKeywords: ReadonlySet<string> = new Set(
  (
    '$schema $id $anchor $comment title description default example examples format propertyOrdering ' +
    'deprecated readOnly writeOnly discriminator contentEncoding contentMediaType contentSchema'
  ).split(' '),
);

export const typeWords: readonly string[] = 'string number integer boolean array object null'.split(' ');

/** Warns of an unknown keyword that is close to a known one, because it has no effect. */
export function warnOfKeyword(word: string, path: SchemaPath, diagnostics: SchemaDiagnosticDrafts): void {
  if (silentKeywords.has(word) || word.startsWith('x-')) return;
  const near = nearest(word, [...keywordShapes.keys(), ...silentKeywords]);
  if (near === undefined) return;
  diagnostics.warning(
    path,
    `"${word}" is not a keyword of a schema, so it has no effect.`,
    `Did you mean "${near}"?`,
  );
}

/** Warns of required members that the schema does not describe: services refuse such a schema. */
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
      `"${name}" is required, but it is not one of the properties.`,
      near === undefined ? undefined : `Did you mean "${near}"?`,
    );
  }
}
