import { parse } from 'lossless-json';
import { TemplateError } from '../../pipeline/templates/template.ts';
import { type Value, WrittenNumber } from '../../pipeline/values/value.ts';

/** Lists and mappings inside each other; what reads a value later calls itself for each level. */
const depthLimit = 100;

/**
 * An answer that is JSON as templates read it: numbers render as the model wrote them, so that an id beyond 2^53
 * survives.
 *
 * @throws TemplateError `template.limit` where it is nested too deeply
 */
export function parseAnswer(text: string): Value {
  const value = read(text);
  if (isDeeperThan(depthLimit, value)) throw tooDeep();
  return value;
}

function read(text: string): Value {
  try {
    // The lossless parser assigns members, so that a member of this name would become a prototype.
    if (/__proto__|\\u00[5-7]/i.test(text)) return JSON.parse(text) as Value;
    return parse(text, null, {
      parseNumber: writtenNumber,
      onDuplicateKey: ({ newValue }) => newValue,
    }) as Value;
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(error);
    throw new Error('Internal error: an answer that was found to be JSON is none.', { cause: error });
  }
}

function writtenNumber(source: string): number | WrittenNumber {
  const value = Number(source);
  return String(value) === source ? value : new WrittenNumber(source, value);
}

function isDeeperThan(most: number, value: Value): boolean {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return false;
  return most === 0 || Object.values<Value>(value).some((member) => isDeeperThan(most - 1, member));
}

const tooDeep = (cause?: unknown): TemplateError =>
  new TemplateError('template.limit', `The JSON of the answer is nested more than ${depthLimit} deep.`, {
    cause,
  });
