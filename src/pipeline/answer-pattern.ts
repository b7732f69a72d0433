import type { Json } from './answer-json.ts';
import type { SchemaMistakes, SchemaPath } from './answer-mistakes.ts';
import { patternMistake } from './selector-pattern.ts';

/** True for a pattern that answers are matched with: one that matches in bounded time, and not everything. */
export function isMatched(value: unknown, path: SchemaPath, mistakes: SchemaMistakes): value is string {
  if (typeof value !== 'string') {
    mistakes.error(path, '"pattern" is a text.');
    return false;
  }
  if (!isUnchecked(value)) return true;
  if (value === '') return false;
  if (isRegularExpression(value)) {
    mistakes.warning(
      path,
      'Answers are not checked against this pattern: a match could take for ever.',
      'It is sent to the service as it is. Patterns without repeated groups, look-around and more than two open repeats are checked.',
    );
  } else {
    mistakes.error(path, 'This pattern is no regular expression.');
  }
  return false;
}

/** Whether `patternProperties` has a pattern that answers are not matched with. */
export const hasUnchecked = (patterns: Json): boolean => Object.keys(patterns).some(isUnchecked);

const isUnchecked = (pattern: string): boolean => pattern === '' || patternMistake(pattern) !== undefined;

function isRegularExpression(source: string): boolean {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags).flags === flags;
    } catch {
      // It may be one in the other way of reading.
    }
  }
  return false;
}
