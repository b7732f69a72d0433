import { subjectOf } from '../say/subject.ts';
import { depthOf } from './depth.ts';
import { type Making, mostItems } from './making.ts';
import { patternTest } from './scalar/pattern-test.ts';
import { isSchema, listOf, type Schema } from './schema.ts';

/** An object of a schema: its named members in its own order, then others. */
export function objectFor(schema: Schema, depth: number, making: Making): unknown {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const required = new Set(listOf(schema['required']).map(String));
  const known = Object.keys(properties);
  const ordered = listOf(schema['propertyOrdering'])
    .map(String)
    .filter((each) => known.includes(each));
  const order = [...new Set([...ordered, ...known, ...required])];
  const most = Number(schema['maxProperties'] ?? Number.POSITIVE_INFINITY);
  const least = Math.min(Number(schema['minProperties'] ?? 0), mostItems);
  let room = most - required.size;
  let missing = least - required.size;
  const chosen = order.filter((each) => {
    if (required.has(each)) return true;
    const one = properties[each];
    const wanted = missing > 0 || (!making.isDeep(depth) && making.random.chance(making.optional));
    if (one === false || room <= 0 || !wanted || !Number.isFinite(depthOf(one, making.root))) return false;
    room -= 1;
    missing -= 1;
    return true;
  });
  const entries = chosen.map((each): [string, unknown] => [
    each,
    making.make(properties[each] ?? otherSchema(schema, each), each, depth + 1),
  ]);
  const more = otherMembers(schema, new Set(order), Math.max(missing, 0), room, depth, making);
  return Object.fromEntries([...entries, ...more]);
}

/** Members beyond the named ones: as many as must be, and of a map some. */
function otherMembers(
  schema: Schema,
  used: Set<string>,
  missing: number,
  room: number,
  depth: number,
  making: Making,
): readonly (readonly [string, unknown])[] {
  const { additionalProperties: other, patternProperties } = schema;
  const isMap = isSchema(other) && !isSchema(schema['properties']) && !making.isDeep(depth);
  const count = Math.min(room, missing > 0 ? missing : isMap && making.optional > 0 ? 2 : 0);
  const patterns = isSchema(patternProperties) ? Object.keys(patternProperties) : [];
  const naming = isSchema(schema['propertyNames'])
    ? schema['propertyNames']
    : other === false && patterns[0] !== undefined
      ? { type: 'string', pattern: patterns[0] }
      : undefined;
  const words = subjectOf(making.occasion.prompt).map((word) => word.toLowerCase());
  const members: [string, unknown][] = [];
  for (let attempt = 0; members.length < count && attempt < 20 + 4 * count; attempt += 1) {
    const name =
      naming === undefined
        ? (words[attempt] ?? `more${attempt + 1}`)
        : String(making.make(naming, '', depth + 1));
    if (used.has(name)) continue;
    used.add(name);
    members.push([name, making.make(otherSchema(schema, name), name, depth + 1)]);
  }
  return members;
}

/** The schema of a member that is not named. */
function otherSchema(schema: Schema, name: string): unknown {
  const { additionalProperties, patternProperties } = schema;
  for (const [pattern, one] of Object.entries(isSchema(patternProperties) ? patternProperties : {})) {
    // A pattern that is none names no member.
    if (patternTest(pattern)?.(name) === true) return one;
  }
  return additionalProperties ?? true;
}
