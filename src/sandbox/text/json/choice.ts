import type { Random } from '../../draw/canvas/random.ts';
import { depthOf } from './depth.ts';
import type { Making } from './making.ts';
import { isSchema, listOf, mergeSchemas, referred, type Schema } from './schema.ts';

/** A schema with its references and choices resolved: one schema that says everything itself. */
export function resolveSchema(given: unknown, depth: number, making: Making): unknown {
  let schema = given;
  for (let step = 0; step < 50 && isSchema(schema); step += 1) {
    const { $ref, allOf, anyOf, oneOf, ...rest } = schema as Record<string, unknown>;
    if ($ref !== undefined) {
      const kept = { ...rest, ...only({ allOf, anyOf, oneOf }) };
      schema = mergeSchemas(referred(making.root, $ref), kept);
    } else if (Array.isArray(allOf)) {
      schema = allOf.reduce(mergeSchemas, { ...rest, ...only({ anyOf, oneOf }) });
    } else if (Array.isArray(anyOf) || Array.isArray(oneOf)) {
      const first = Array.isArray(anyOf);
      const others = first ? only({ oneOf }) : {};
      schema = mergeSchemas({ ...rest, ...others }, choose(listOf(first ? anyOf : oneOf), depth, making));
    } else {
      return schema;
    }
  }
  return schema;
}

function choose(choices: readonly unknown[], depth: number, making: Making): unknown {
  if (choices.length === 0) return true;
  const depths = choices.map((choice) => depthOf(choice, making.root));
  const least = Math.min(...depths);
  const open = choices.filter((_choice, index) =>
    making.isDeep(depth)
      ? depths[index] === least
      : Number.isFinite(depths[index]) || least === depths[index],
  );
  // Null is a choice for when there is nothing to say, and mostly there is.
  const some = open.filter((choice) => !isSchema(choice) || choice['type'] !== 'null');
  return making.random.pick(
    some.length > 0 && !making.isDeep(depth) && making.random.chance(0.9) ? some : open,
  );
}

/** One of the values that an `enum` lists: the one that the prompt names, where it names just one. */
export function chooseWord(words: readonly unknown[], schema: Schema, making: Making): unknown {
  const types = listOf(schema['type']);
  const fitting = words.filter(
    (word) => word !== null || types.includes('null') || schema['type'] === undefined,
  );
  const said = fitting.filter(
    (word) =>
      typeof word === 'string' &&
      word.length > 2 &&
      making.occasion.prompt.toLowerCase().includes(word.toLowerCase()),
  );
  const some = fitting.filter((word) => word !== null);
  const pool = said.length === 1 && making.optional === 1 ? said : some.length > 0 ? some : fitting;
  return making.random.pick(pool.length > 0 ? pool : words);
}

/** The type of a value, in lower case. In a schema without a type its other keywords decide. */
export function chooseType(schema: Schema, random: Random): string {
  const { type } = schema;
  if (typeof type === 'string') return type.toLowerCase();
  const types = listOf(type).map((one) => String(one).toLowerCase());
  const some = types.filter((one) => one !== 'null');
  if (some.length > 0) {
    return types.includes('null') && random.chance(0.1) ? 'null' : random.pick(some);
  }
  if (types.includes('null')) return 'null';
  const has = (...names: string[]): boolean => names.some((name) => schema[name] !== undefined);
  if (has('properties', 'required', 'additionalProperties', 'minProperties', 'patternProperties'))
    return 'object';
  if (has('items', 'prefixItems', 'minItems', 'contains', 'uniqueItems')) return 'array';
  if (has('minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum')) return 'number';
  return 'string';
}

/** The members that are there. */
const only = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
