import { isSchema, listOf, referred, type Schema } from './schema.ts';

/** Most schemas that one measurement visits: beyond that it reports an endless depth. */
const mostVisits = 4_000;

/** How deep the shallowest value of a schema is: infinite for one that only leads back to itself. */
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
    if (this.#visits > mostVisits) return Number.POSITIVE_INFINITY;
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
