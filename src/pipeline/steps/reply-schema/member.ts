import { isMapping, type Value } from '../../values/value.ts';

/** What a schema says about a member of its replies. */
export type SchemaMember =
  /** The schema does not say. */
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'found';
      readonly shape: MemberShape;
      /** Largest number of items of a list, if the schema limits it. */
      readonly maxItems?: number;
    }
  | {
      readonly kind: 'missing';
      /** Number of path segments that lead to known members. */
      readonly depth: number;
      readonly shape: MemberShape;
      /** The members that exist. */
      readonly names: readonly string[];
    };

export type MemberShape = 'object' | 'array' | 'scalar' | 'unknown';

type Schema = { readonly [name: string]: Value };

const maxVisited = 1000;

const unknown: SchemaMember = { kind: 'unknown' };

/**
 * Follows a template's path through a declared reply schema (JSON Schema or the native subset of OpenAPI). A member is missing only if it
 * certainly does not exist: additional properties, open schemas and conditions leave it unknown.
 */
export function schemaMember(schema: Value, path: readonly string[]): SchemaMember {
  const visit = { left: maxVisited };
  let at = variants(schema, schema, visit);
  for (const [depth, name] of path.entries()) {
    if (at === undefined) return unknown;
    const next: Schema[] = [];
    for (const one of at) {
      const found = memberOf(one, name);
      const inner =
        found === 'unknown' ? undefined : found === 'missing' ? [] : variants(found.schema, schema, visit);
      if (inner === undefined) return unknown;
      next.push(...inner);
    }
    if (next.length === 0) return { kind: 'missing', depth, shape: shapeOf(at), names: namesOf(at) };
    at = next;
  }
  if (at === undefined) return unknown;
  const shape = shapeOf(at);
  const maxItems = Math.max(...at.map((one) => Number(one['maxItems'] ?? Number.NaN)));
  return { kind: 'found', shape, ...(shape === 'array' && maxItems >= 0 && { maxItems }) };
}

/** Returns the alternative schemas of a value; undefined if they are unknown. Null has no schema. */
function variants(schema: Value, root: Value, visit: { left: number }): readonly Schema[] | undefined {
  visit.left -= 1;
  if (visit.left < 0 || !isMapping(schema)) return undefined;
  if ('allOf' in schema || 'if' in schema || 'dependentSchemas' in schema) return undefined;
  if (typeof schema['$ref'] === 'string') {
    const target = 'properties' in schema ? undefined : at(root, schema['$ref']);
    return target === undefined ? undefined : variants(target, root, visit);
  }
  const choice = schema['anyOf'] ?? schema['oneOf'];
  if (choice === undefined) return typeOf(schema) === 'null' ? [] : [schema];
  if (!Array.isArray(choice) || 'properties' in schema || 'items' in schema) return undefined;
  const all: Schema[] = [];
  for (const one of choice as readonly Value[]) {
    const inner = variants(one, root, visit);
    if (inner === undefined) return undefined;
    all.push(...inner);
  }
  return all;
}

function at(root: Value, reference: string): Value | undefined {
  if (!/^#(?:\/|$)/.test(reference)) return undefined;
  const names = reference
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<Value | undefined>(
    (part, name) => (isMapping(part) && Object.hasOwn(part, name) ? part[name] : undefined),
    root,
  );
}

/** Returns the only type of a schema, apart from `null`; undefined if there are several or none. */
function typeOf(schema: Schema): string | undefined {
  const words = (Array.isArray(schema['type']) ? schema['type'] : [schema['type']]) as readonly Value[];
  const types = words.flatMap((word) => (typeof word === 'string' ? [word.toLowerCase()] : []));
  const others = types.filter((type) => type !== 'null');
  if (types.length > 0) return others.length > 1 ? undefined : (others[0] ?? 'null');
  if ('properties' in schema) return 'object';
  return 'items' in schema ? 'array' : undefined;
}

const scalarTypes = new Set(['string', 'number', 'integer', 'boolean']);

function memberOf(schema: Schema, name: string): { readonly schema: Value } | 'missing' | 'unknown' {
  switch (typeOf(schema)) {
    case 'object': {
      const { properties, additionalProperties = false, patternProperties } = schema;
      if (!isMapping(properties)) return 'unknown';
      if (Object.hasOwn(properties, name)) return { schema: properties[name] as Value };
      const closed =
        additionalProperties === false &&
        patternProperties === undefined &&
        Object.keys(properties).length > 0;
      // Liquid's own member: the number of members.
      return closed && name !== 'size' ? 'missing' : 'unknown';
    }
    case 'array': {
      if (name === 'size') return { schema: { type: 'integer' } };
      if (name !== 'first' && name !== 'last' && !/^-?\d+$/.test(name)) return 'missing';
      return 'prefixItems' in schema || schema['items'] === undefined
        ? 'unknown'
        : { schema: schema['items'] };
    }
    case 'string':
      return name === 'size' || name === 'first' || name === 'last' ? 'unknown' : 'missing';
    case 'number':
    case 'integer':
    case 'boolean':
      return 'missing';
    default:
      return 'unknown';
  }
}

function shapeOf(schemas: readonly Schema[]): MemberShape {
  const shapes = new Set(
    schemas.map((schema): MemberShape => {
      const type = typeOf(schema);
      if (type === 'object' || type === 'array') return type;
      return type !== undefined && scalarTypes.has(type) ? 'scalar' : 'unknown';
    }),
  );
  const [shape = 'unknown'] = shapes;
  return shapes.size === 1 ? shape : 'unknown';
}

const namesOf = (schemas: readonly Schema[]): readonly string[] => [
  ...new Set(schemas.flatMap(({ properties }) => (isMapping(properties) ? Object.keys(properties) : []))),
];
