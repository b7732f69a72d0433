import type { Random } from '../../draw/canvas/random.ts';
import { canonical } from '../../seeded.ts';
import { type Occasion, sayWord } from '../say/prose.ts';
import { subjectOf } from '../say/wishes.ts';
import { patternTest } from './pattern.ts';
import { numberFor, textForSchema } from './scalars.ts';
import { depthOf, isSchema, listOf, mergeSchemas, referred, type Schema } from './schema.ts';

/** From this depth on, only required members are made. */
const deep = 5;
/** Number of values in one reply after which only required members are made. */
const many = 2_000;
/** Largest number of values in one reply, and its largest depth. Only an endless schema reaches them. */
const maxValues = 20_000;
const deepest = 100;

/** Makes one value of a root schema, part by part, within bounds. */
export class Maker {
  /** The schema that references lead into. */
  readonly root: unknown;
  readonly occasion: Occasion;
  readonly random: Random;
  /** Share of the optional members that are made, from 0 to 1. */
  readonly optional: number;
  /** Number of the item of the innermost list that is made, from 0; undefined outside of lists. */
  item: number | undefined;
  #made = 0;
  #isFull = false;

  constructor(root: unknown, occasion: Occasion, random: Random, optional: number) {
    this.root = root;
    this.occasion = occasion;
    this.random = random;
    this.optional = optional;
  }

  /** Makes a part of the value. `name`: its member, or the member of its array; empty without a name. `depth`: 0 for the whole. */
  make(given: unknown, name: string, depth: number): unknown {
    this.#made += 1;
    if (depth > deepest || this.#made > maxValues) {
      this.#isFull = true;
      return null;
    }
    const { occasion, random } = this;
    const schema = resolveSchema(given, depth, this);
    if (!isSchema(schema)) return schema === false ? null : sayWord({ ...occasion, random });
    if (schema['const'] !== undefined) return schema['const'];
    const words = listOf(schema['enum']);
    if (words.length > 0) return chooseWord(words, schema, this);
    switch (chooseType(schema, random)) {
      case 'object':
        return objectFor(schema, depth, this);
      case 'array':
        return arrayFor(schema, name, depth, this);
      case 'integer':
        return numberFor(schema, true, name, occasion, random);
      case 'number':
        return numberFor(schema, false, name, occasion, random);
      case 'boolean':
        return random.chance(0.6);
      case 'null':
        return null;
      default:
        return textForSchema(
          schema,
          name,
          this.item === undefined ? occasion : { ...occasion, item: this.item },
          random,
        );
    }
  }

  /** Whether a bound was reached, so that the value is incomplete. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Whether only required members are made at this depth. */
  isDeep(depth: number): boolean {
    return depth >= deep || this.#made > many;
  }
}

/** Makes an array, with a few items if the schema allows any number. */
function arrayFor(schema: Schema, name: string, depth: number, making: Maker): unknown {
  const { items, contains } = schema;
  const first = listOf(schema['prefixItems']);
  const least = Math.min(Number(schema['minItems'] ?? 0), maxItems);
  const most = Math.min(Number(schema['maxItems'] ?? Number.POSITIVE_INFINITY), maxItems);
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
  const total = Math.min(Math.max(count, Math.min(wanted, most)), maxItems);
  const outer = making.item;
  for (let attempt = 0; values.length < total && attempt < 20 * total + 20; attempt += 1) {
    const own = first[values.length] ?? rest;
    // After the words that suit the name are used up, any value of the schema will do.
    const suited = attempt < 5 * total ? one : '';
    const item = values.length < wanted ? mergeSchemas(own, contains) : own;
    making.item = attempt;
    const value = making.make(item, suited, depth + 1);
    const text = distinct ? canonical(value) : '';
    if (distinct && seen.has(text)) continue;
    seen.add(text);
    values.push(value);
  }
  making.item = outer;
  return values;
}

/** Largest number of items of an array, and of members that a schema requires by number. */
const maxItems = 2_000;

/** Makes an object: the named members in the schema's order, then others. */
function objectFor(schema: Schema, depth: number, making: Maker): unknown {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const required = new Set(listOf(schema['required']).map(String));
  const known = Object.keys(properties);
  const ordered = listOf(schema['propertyOrdering'])
    .map(String)
    .filter((each) => known.includes(each));
  const order = [...new Set([...ordered, ...known, ...required])];
  const most = Number(schema['maxProperties'] ?? Number.POSITIVE_INFINITY);
  const least = Math.min(Number(schema['minProperties'] ?? 0), maxItems);
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

/** Makes members beyond the named ones: as many as are required, and some for a map. */
function otherMembers(
  schema: Schema,
  used: Set<string>,
  missing: number,
  room: number,
  depth: number,
  making: Maker,
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

function otherSchema(schema: Schema, name: string): unknown {
  const { additionalProperties, patternProperties } = schema;
  for (const [pattern, one] of Object.entries(isSchema(patternProperties) ? patternProperties : {})) {
    // An invalid pattern matches no name.
    if (patternTest(pattern)?.(name) === true) return one;
  }
  return additionalProperties ?? true;
}

/** Resolves the references and choices of a schema into one schema. */
function resolveSchema(given: unknown, depth: number, making: Maker): unknown {
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

function choose(choices: readonly unknown[], depth: number, making: Maker): unknown {
  if (choices.length === 0) return true;
  const depths = choices.map((choice) => depthOf(choice, making.root));
  const least = Math.min(...depths);
  const open = choices.filter((_choice, index) =>
    making.isDeep(depth)
      ? depths[index] === least
      : Number.isFinite(depths[index]) || least === depths[index],
  );
  // Null is chosen rarely.
  const some = open.filter((choice) => !isSchema(choice) || choice['type'] !== 'null');
  return making.random.pick(
    some.length > 0 && !making.isDeep(depth) && making.random.chance(0.9) ? some : open,
  );
}

/** Picks a value of an `enum`: the one that the prompt names, if it names exactly one. */
function chooseWord(words: readonly unknown[], schema: Schema, making: Maker): unknown {
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

/** Picks the type of a value, in lower case. Without `type`, the other keywords of the schema decide. */
function chooseType(schema: Schema, random: Random): string {
  const { type } = schema;
  if (typeof type === 'string') return type.toLowerCase();
  const types = listOf(type).map((one) => String(one).toLowerCase());
  const some = types.filter((one) => one !== 'null');
  if (some.length > 0) return types.includes('null') && random.chance(0.1) ? 'null' : random.pick(some);
  if (types.includes('null')) return 'null';
  const has = (...names: string[]): boolean => names.some((name) => schema[name] !== undefined);
  if (has('properties', 'required', 'additionalProperties', 'minProperties', 'patternProperties'))
    return 'object';
  if (has('items', 'prefixItems', 'minItems', 'contains', 'uniqueItems')) return 'array';
  if (has('minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum')) return 'number';
  return 'string';
}

const only = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
