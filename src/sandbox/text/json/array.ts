import { canonical } from '../../seeded.ts';
import { depthOf } from './depth.ts';
import { type Making, mostItems } from './making.ts';
import { isSchema, listOf, mergeSchemas, type Schema } from './schema.ts';

/** An array of a schema: of a few items where the schema leaves it open. */
export function arrayFor(schema: Schema, name: string, depth: number, making: Making): unknown {
  const { items, contains } = schema;
  const first = listOf(schema['prefixItems']);
  const least = Math.min(Number(schema['minItems'] ?? 0), mostItems);
  const most = Math.min(Number(schema['maxItems'] ?? Number.POSITIVE_INFINITY), mostItems);
  const rest = items ?? true;
  const endless = rest === false || !Number.isFinite(depthOf(rest, making.root));
  const usual =
    making.isDeep(depth) || endless ? 0 : /tags|keywords/i.test(name) ? 4 : making.random.int(1, 3);
  const open = rest === false ? Math.min(most, first.length) : most;
  const count = Math.max(least, Math.min(open, Math.max(usual, first.length)));
  const wanted = isSchema(contains) ? Math.max(Number(schema['minContains'] ?? 1), 0) : 0;
  const distinct = schema['uniqueItems'] === true;
  const seen = new Set<string>();
  const values: unknown[] = [];
  const one = name.replace(/s$/, '');
  const total = Math.min(Math.max(count, Math.min(wanted, most)), mostItems);
  for (let attempt = 0; values.length < total && attempt < 20 * total + 20; attempt += 1) {
    const own = first[values.length] ?? rest;
    // Where what suits the name is used up, anything of the schema will do.
    const suited = attempt < 5 * total ? one : '';
    const item = values.length < wanted ? mergeSchemas(own, contains) : own;
    const value = making.make(item, suited, depth + 1);
    const text = distinct ? canonical(value) : '';
    if (distinct && seen.has(text)) continue;
    seen.add(text);
    values.push(value);
  }
  return values;
}
