import { listing, nearest } from '../../diagnostics/did-you-mean.ts';
import { patternDiagnostic } from '../../selectors/pattern.ts';
import { isObject, isStrings, type Json } from '../../values/value.ts';
import { type Assertion, typeWords } from './keywords.ts';
import type { SchemaDiagnosticDrafts, SchemaPath } from './problems.ts';

/**
 * Converts the value of a keyword that holds no schema to JSON Schema 2020-12. Undefined: the keyword is left out, because it is wrong
 * (which is reported) or because there is nothing to check.
 */
export function convertAssertion(
  shape: Assertion,
  word: string,
  value: unknown,
  path: SchemaPath,
  diagnostics: SchemaDiagnosticDrafts,
): unknown {
  switch (shape) {
    case 'type':
      return convertType(value, path, diagnostics);
    case 'pattern':
      return isMatched(value, path, diagnostics) ? value : undefined;
    case 'number':
      return typeof value === 'number' && (word !== 'multipleOf' || value > 0)
        ? value
        : diagnostics.error(path, `"${word}" must be a number${word === 'multipleOf' ? ' above 0' : ''}.`);
    case 'count': {
      // Native schemas write 64-bit integers as texts.
      const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
      return Number.isSafeInteger(number) && (number as number) >= 0
        ? number
        : diagnostics.error(path, `"${word}" must be a whole number from 0.`);
    }
    case 'flag':
      return typeof value === 'boolean' ? value : diagnostics.error(path, `"${word}" must be boolean.`);
    case 'nullable':
      // It changes the meaning of the schema around it.
      return typeof value === 'boolean' ? undefined : diagnostics.error(path, `"${word}" must be boolean.`);
    case 'names':
      return isStrings(value)
        ? [...new Set(value)]
        : diagnostics.error(path, `"${word}" must be a list of names.`);
    case 'names-map':
      return isObject(value) && Object.values(value).every(isStrings)
        ? value
        : diagnostics.error(path, `"${word}" must be a mapping of lists of names.`);
    case 'values':
      return Array.isArray(value) && value.length > 0
        ? value
        : diagnostics.error(path, `"${word}" must be a non-empty list of values.`);
    case 'value':
      return value;
  }
}

function convertType(value: unknown, path: SchemaPath, diagnostics: SchemaDiagnosticDrafts): unknown {
  const words = typeof value === 'string' ? [value] : value;
  if (!isStrings(words) || words.length === 0)
    return diagnostics.error(path, 'The type must be a word, or a list of words.');
  const types: string[] = [];
  for (const word of words) {
    const small = word.toLowerCase();
    // Native schemas write it if they give no type.
    if (small === 'type_unspecified') return undefined;
    if (!typeWords.includes(small)) {
      const near = nearest(word, typeWords);
      const hint = near === undefined ? `The types are ${listing(typeWords)}.` : `Did you mean "${near}"?`;
      return diagnostics.error(path, `"${word}" is not a type.`, hint);
    }
    if (!types.includes(small)) types.push(small);
  }
  return types.length === 1 ? types[0] : types;
}

/** Whether replies are matched with a pattern: it matches in bounded time, and does not accept everything. */
export function isMatched(
  value: unknown,
  path: SchemaPath,
  diagnostics: SchemaDiagnosticDrafts,
): value is string {
  if (typeof value !== 'string') {
    diagnostics.error(path, '"pattern" must be a text.');
    return false;
  }
  if (!isUnchecked(value)) return true;
  if (value === '') return false;
  if (isRegularExpression(value)) {
    diagnostics.warning(
      path,
      'Answers are not checked against this pattern: a match could take for ever.',
      'It is sent to the service unchanged. Patterns without repeated groups, look-around and more than two open repeats are checked.',
    );
  } else {
    diagnostics.error(path, 'This pattern is not a regular expression.');
  }
  return false;
}

/** Whether `patternProperties` has a pattern that replies are not matched with. */
export const hasUnchecked = (patterns: Json): boolean => Object.keys(patterns).some(isUnchecked);

const isUnchecked = (pattern: string): boolean => pattern === '' || patternDiagnostic(pattern) !== undefined;

function isRegularExpression(source: string): boolean {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags).flags === flags;
    } catch {
      // It may be valid without the `u` flag.
    }
  }
  return false;
}
