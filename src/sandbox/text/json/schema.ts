import { isMembers, type Members } from '../ask.ts';

/** A schema that is an object; `true` and `false` are schemas too. */
export type Schema = Members;

export const isSchema = isMembers;

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the description of a schema, or the empty text. */
export const descriptionOf = ({ description }: Schema): string =>
  typeof description === 'string' ? description : '';

/** Finds the schema that a `$ref` names; `true` if there is none. */
export function referred(root: unknown, ref: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return true;
  if (ref !== '#' && !ref.startsWith('#/')) return anchored(root, ref.slice(1)) ?? true;
  let at: unknown = root;
  for (const segment of ref.split('/').slice(1)) {
    let name = segment;
    try {
      name = decodeURIComponent(segment);
    } catch {
      // The name is not escaped.
    }
    name = name.replaceAll('~1', '/').replaceAll('~0', '~');
    const inside = typeof at === 'object' && at !== null && Object.hasOwn(at, name);
    at = inside ? (at as Schema)[name] : undefined;
  }
  return at ?? true;
}

function anchored(root: unknown, anchor: string): unknown {
  const { $defs } = isSchema(root) ? root : {};
  return Object.values(isSchema($defs) ? $defs : {}).find(
    (one) => isSchema(one) && one['$anchor'] === anchor,
  );
}

const highest = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const lowest = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']);

/** Merges two schemas into one that requires what both require, as far as schemas can be merged. */
export function mergeSchemas(one: unknown, other: unknown): unknown {
  if (one === false || other === false) return false;
  if (!isSchema(one)) return other;
  if (!isSchema(other)) return one;
  const merged: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const own = merged[name];
    if (own === undefined) merged[name] = value;
    else if (highest.has(name)) merged[name] = Math.max(Number(own), Number(value));
    else if (lowest.has(name)) merged[name] = Math.min(Number(own), Number(value));
    else if (name === 'required') merged[name] = [...new Set([...listOf(own), ...listOf(value)])];
    else if (name === 'type') merged[name] = commonTypes(own, value);
    else if (name === 'enum') {
      const words = listOf(value).map((word) => JSON.stringify(word));
      merged[name] = listOf(own).filter((word) => words.includes(JSON.stringify(word)));
    } else if (name === 'allOf' || name === 'prefixItems') merged[name] = [...listOf(own), ...listOf(value)];
    else if (name === 'anyOf' || name === 'oneOf') {
      merged['allOf'] = [...listOf(merged['allOf']), { [name]: value }];
    } else if (name === 'properties' && isSchema(own) && isSchema(value)) {
      const names = new Set([...Object.keys(own), ...Object.keys(value)]);
      merged[name] = Object.fromEntries(
        [...names].map((each) => [each, mergeSchemas(own[each] ?? true, value[each] ?? true)]),
      );
    } else if (name === 'items' || name === 'additionalProperties') merged[name] = mergeSchemas(own, value);
    else merged[name] = value;
  }
  return merged;
}

const typesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

function commonTypes(one: unknown, other: unknown): unknown {
  const others = typesOf(other);
  const common = typesOf(one).flatMap((type) => {
    if (others.includes(type)) return [type];
    if (type === 'number' && others.includes('integer')) return ['integer'];
    return type === 'integer' && others.includes('number') ? ['integer'] : [];
  });
  return common.length === 1 ? common[0] : common;
}

/** Largest number of schemas that one measurement visits; beyond it the depth counts as infinite. */
const maxVisits = 4_000;

/** Returns the depth of a schema's shallowest value: infinite for a schema that only refers to itself. */
export function depthOf(schema: unknown, root: unknown): number {
  return new Measure(root).of(schema, new Set());
}

class Measure {
  readonly #root: unknown;
  #visits = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  of(schema: unknown, open: ReadonlySet<unknown>): number {
    this.#visits += 1;
    if (this.#visits > maxVisits) return Number.POSITIVE_INFINITY;
    if (!isSchema(schema) || schema['const'] !== undefined || Array.isArray(schema['enum'])) return 0;
    const own = [this.#ownDepth(schema, open)];
    const ref = schema['$ref'];
    if (typeof ref === 'string') {
      if (open.has(ref)) return Number.POSITIVE_INFINITY;
      own.push(this.of(referred(this.#root, ref), new Set([...open, ref])));
    }
    for (const one of listOf(schema['allOf'])) own.push(this.of(one, open));
    for (const name of ['anyOf', 'oneOf']) {
      const choices = listOf(schema[name]);
      if (choices.length > 0) own.push(Math.min(...choices.map((one) => this.of(one, open))));
    }
    return Math.max(...own);
  }

  #ownDepth(schema: Schema, open: ReadonlySet<unknown>): number {
    const { type, properties, required, items, minItems } = schema;
    if (Array.isArray(type) && type.some((one) => one !== 'object' && one !== 'array')) return 0;
    const depths = [0];
    if (isSchema(properties)) {
      for (const name of listOf(required)) {
        if (Object.hasOwn(properties, String(name))) depths.push(1 + this.of(properties[String(name)], open));
      }
    }
    if (Number(minItems) > 0) depths.push(1 + this.of(items, open));
    return Math.max(...depths);
  }
}

/** Translates a schema of the native endpoint (upper-case types, `nullable`) into JSON Schema. */
export function fromOpenApi(schema: unknown): unknown {
  if (!isSchema(schema)) return schema;
  const { nullable, type, items, properties, anyOf, enum: words, example: _example, ...rest } = schema;
  const plain: Record<string, unknown> = { ...rest };
  const lower = typeof type === 'string' ? type.toLowerCase() : undefined;
  if (lower !== undefined) plain['type'] = nullable === true ? [lower, 'null'] : lower;
  // The enum of a number has strings, because the field is a list of strings.
  if (Array.isArray(words)) {
    const own = words.map((word: unknown) =>
      lower === 'number' || lower === 'integer' ? Number(word) : word,
    );
    plain['enum'] = nullable === true ? [...own, null] : own;
  }
  if (items !== undefined) plain['items'] = fromOpenApi(items);
  if (typeof properties === 'object' && properties !== null) {
    plain['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [name, fromOpenApi(one)]),
    );
  }
  if (Array.isArray(anyOf)) {
    const choices = anyOf.map(fromOpenApi);
    plain['anyOf'] = nullable === true && lower === undefined ? [...choices, { type: 'null' }] : choices;
  }
  return plain;
}
