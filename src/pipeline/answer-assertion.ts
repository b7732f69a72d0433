import { isObject, isStrings } from './answer-json.ts';
import { type Assertion, typeWords } from './answer-keywords.ts';
import type { SchemaMistakes, SchemaPath } from './answer-mistakes.ts';
import { isMatched } from './answer-pattern.ts';
import { listing, nearest } from './near.ts';

/**
 * What stands under a keyword that holds no schema, as JSON Schema 2020-12 writes it. Undefined: the keyword is left out,
 * for it is wrong, which is told, or there is nothing in it to check.
 */
export function convertAssertion(
  shape: Assertion,
  word: string,
  value: unknown,
  path: SchemaPath,
  mistakes: SchemaMistakes,
): unknown {
  switch (shape) {
    case 'type':
      return convertType(value, path, mistakes);
    case 'pattern':
      return isMatched(value, path, mistakes) ? value : undefined;
    case 'number':
      return typeof value === 'number' && (word !== 'multipleOf' || value > 0)
        ? value
        : mistakes.error(path, `"${word}" is a number${word === 'multipleOf' ? ' above 0' : ''}.`);
    case 'count': {
      // Native schemas write 64-bit integers as texts.
      const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
      return Number.isSafeInteger(number) && (number as number) >= 0
        ? number
        : mistakes.error(path, `"${word}" is a whole number from 0.`);
    }
    case 'flag':
      return typeof value === 'boolean' ? value : mistakes.error(path, `"${word}" is true or false.`);
    case 'nullable':
      // It changes what the schema around it says.
      return typeof value === 'boolean' ? undefined : mistakes.error(path, `"${word}" is true or false.`);
    case 'names':
      return isStrings(value) ? [...new Set(value)] : mistakes.error(path, `"${word}" is a list of names.`);
    case 'names-map':
      return isObject(value) && Object.values(value).every(isStrings)
        ? value
        : mistakes.error(path, `"${word}" is a mapping of lists of names.`);
    case 'values':
      return Array.isArray(value) && value.length > 0
        ? value
        : mistakes.error(path, `"${word}" is a list of values, and not an empty one.`);
    case 'value':
      return value;
  }
}

function convertType(value: unknown, path: SchemaPath, mistakes: SchemaMistakes): unknown {
  const words = typeof value === 'string' ? [value] : value;
  if (!isStrings(words) || words.length === 0)
    return mistakes.error(path, 'The type is a word, or a list of words.');
  const types: string[] = [];
  for (const word of words) {
    const small = word.toLowerCase();
    // What a native schema says where it says no type.
    if (small === 'type_unspecified') return undefined;
    if (!typeWords.includes(small)) {
      const near = nearest(word, typeWords);
      const hint = near === undefined ? `The types are ${listing(typeWords)}.` : `Did you mean "${near}"?`;
      return mistakes.error(path, `"${word}" is no type.`, hint);
    }
    if (!types.includes(small)) types.push(small);
  }
  return types.length === 1 ? types[0] : types;
}
