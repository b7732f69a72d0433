import { members, parseWithLongIds, writeJson } from '../../http/json.ts';
import type { JsonObject, TextCallRequest } from '../../text-service.ts';

/** Fields that pipelines declare for promptpress itself; they are never sent. */
const notSent = new Set(['model', 'images', 'stream', 'accept', 'reply', 'continue', 'rounds']);

/** Returns declared fields as plain JSON: numbers in another notation become ordinary numbers, and long integers keep their digits. */
export const plainFields = (fields: JsonObject): JsonObject =>
  parseWithLongIds(writeJson(fields)) as JsonObject;

/** Returns the declared fields that are sent under their own name: all but `own`, which the caller converts. */
export const nativeFields = (fields: JsonObject, own: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !notSent.has(name) && !own.includes(name)));

/**
 * Merges `extra` into a body: objects member by member, so that one member of `generationConfig` can be added; lists and all else are
 * replaced. `extra` overrides the body.
 */
export function withExtra(body: JsonObject, extra: JsonObject | undefined): JsonObject {
  return extra === undefined ? body : merged(body, plainFields(extra));
}

function merged(base: JsonObject, over: JsonObject): JsonObject {
  // fromEntries defines members, so that `__proto__` is a member like any other.
  const replaced = Object.entries(over).map(([name, value]): readonly [string, unknown] => {
    const before = Object.hasOwn(base, name) ? members(base[name]) : undefined;
    const after = members(value);
    return [name, before !== undefined && after !== undefined ? merged(before, after) : value];
  });
  return Object.fromEntries([...Object.entries(base), ...replaced]);
}

/** Returns the parts of a text request, by the names that its author knows, to find the largest. */
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
