import { members, parseWithLongIds, writeJson } from '../../http/json.ts';
import type { JsonObject, TextCallRequest } from '../../text-service.ts';

/** Declared by pipelines for promptpress itself: never a member of a body. */
const notSent = new Set(['model', 'images', 'stream', 'accept', 'reply', 'continue', 'rounds']);

/**
 * What is declared, as plain JSON: numbers that a pipeline wrote in another notation become the numbers they are, and long
 * integers keep their digits.
 */
export const plainFields = (fields: JsonObject): JsonObject =>
  parseWithLongIds(writeJson(fields)) as JsonObject;

/** Declared fields that travel under their own name: all but `own`, which the caller turns into something else. */
export const nativeFields = (fields: JsonObject, own: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !notSent.has(name) && !own.includes(name)));

/**
 * `extra` into a body: objects member by member, so that one member of `generationConfig` can be added; lists and all
 * else are replaced. `extra` has the last word.
 */
export function withExtra(body: JsonObject, extra: JsonObject | undefined): JsonObject {
  return extra === undefined ? body : merged(body, plainFields(extra));
}

function merged(base: JsonObject, over: JsonObject): JsonObject {
  // fromEntries defines members, so that one called __proto__ is a member like any other.
  const replaced = Object.entries(over).map(([name, value]): readonly [string, unknown] => {
    const before = Object.hasOwn(base, name) ? members(base[name]) : undefined;
    const after = members(value);
    return [name, before !== undefined && after !== undefined ? merged(before, after) : value];
  });
  return Object.fromEntries([...Object.entries(base), ...replaced]);
}

/** What makes a text request large, part by part, by the names that its author knows them by. */
export function requestParts(request: TextCallRequest): JsonObject {
  const parts: Record<string, unknown> = { ...request.fields };
  request.images.forEach((image, i) => {
    parts[`images[${i}]`] = image.data;
  });
  request.earlier.forEach(({ fields, images, after }, i) => {
    parts[`earlier turn ${i + 1}`] = [fields, after];
    images.forEach((image, j) => {
      parts[`earlier turn ${i + 1}: images[${j}]`] = image.data;
    });
  });
  if (request.turns.length > 0) parts['answers of functions'] = request.turns;
  for (const [name, value] of Object.entries(request.extra ?? {})) parts[`extra.${name}`] = value;
  return parts;
}
