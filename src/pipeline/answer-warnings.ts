import { isObject, isStrings, type Json } from './answer-json.ts';
import { keywordShapes, silentKeywords } from './answer-keywords.ts';
import type { SchemaMistakes, SchemaPath } from './answer-mistakes.ts';
import { nearest } from './near.ts';

/** Warns of an unknown keyword that is a slip of a known one: it asks for nothing. */
export function warnOfKeyword(word: string, path: SchemaPath, mistakes: SchemaMistakes): void {
  if (silentKeywords.has(word) || word.startsWith('x-')) return;
  const near = nearest(word, [...keywordShapes.keys(), ...silentKeywords]);
  if (near === undefined) return;
  mistakes.warning(
    path,
    `"${word}" is no keyword of a schema, and asks for nothing.`,
    `Did you mean "${near}"?`,
  );
}

/** Services refuse a schema that requires what it does not describe. */
export function warnOfRequired(schema: Json, path: SchemaPath, mistakes: SchemaMistakes): void {
  const { required, properties, additionalProperties } = schema;
  if (!isStrings(required) || !isObject(properties)) return;
  if (additionalProperties !== undefined && additionalProperties !== false) return;
  if (['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties'].some((word) => word in schema)) return;
  for (const [index, name] of required.entries()) {
    if (Object.hasOwn(properties, name)) continue;
    const near = nearest(name, Object.keys(properties));
    mistakes.warning(
      [...path, 'required', String(index)],
      `"${name}" is required, and is none of the properties.`,
      near === undefined ? undefined : `Did you mean "${near}"?`,
    );
  }
}
