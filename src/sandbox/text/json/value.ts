import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { Random } from '../../draw/scene/random.ts';
import { canonical } from '../digest.ts';
import { type Occasion, saySentence, sayWord } from '../say/prose.ts';
import { subjectOf } from '../say/subject.ts';
import { depthOf } from './depth.ts';
import { numberFor } from './number.ts';
import { isSchema, listOf, mergeSchemas, referred, type Schema } from './schema.ts';
import { textForSchema } from './words.ts';

/** Values that are tried until one fits rules that cannot be built for, such as `not` and `if`. */
const attempts = 40;
/** From this depth on only what must be there is there. */
const deep = 5;
/** Values within one answer, from which on it is the same. */
const many = 2_000;
/** Values within one answer, and its depth, beyond which there is nothing more: only a schema without end comes here. */
const mostValues = 20_000;
const deepest = 100;
/** Longest array that is made. */
const mostItems = 2_000;

/**
 * A value that satisfies a JSON Schema and suits the occasion; without a schema an object. It depends on the schema, the
 * occasion's words and the seed alone. Where no value is found that satisfies the schema, it is the last that was tried.
 */
export function valueFor(schema: unknown, occasion: Occasion, seed: string): unknown {
  if (schema === undefined) return looseValue(occasion, new Random(seed));
  const isValid = validator(schema);
  let value: unknown;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const random = new Random(`${seed} ${attempt}`);
    const optional = attempt < 8 ? 1 : attempt < 24 ? 0.5 : 0;
    value = new Maker(schema, occasion, random, optional).make(schema, '', 0);
    if (isValid === undefined || isValid(value)) return value;
  }
  return value;
}

// One for all: it takes longest to set up. It keeps no schema.
const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false });

/** Undefined where the schema itself is not valid: then any attempt will do. */
function validator(schema: unknown): ValidateFunction | undefined {
  if (!isSchema(schema)) return undefined;
  try {
    const { $schema: _dialect, $id: _id, ...plain } = schema;
    const isValid = ajv.compile(plain);
    ajv.removeSchema(plain);
    return isValid;
  } catch {
    return undefined;
  }
}

/** JSON for a prompt that asks for it without a schema: its members are those that the prompt names. */
function looseValue(occasion: Occasion, random: Random): unknown {
  const [, list = ''] =
    /\b(?:keys?|fields?|members?|properties)\b[^\w"`]*((?:["`]?\w+["`]?(?:,\s*(?:and\s+)?|\s+and\s+)?)+)/i.exec(
      occasion.prompt,
    ) ?? [];
  const named = [...list.matchAll(/\w+/g)].map(([word]) => word).filter((word) => word !== 'and');
  const names = named.length > 0 ? named.slice(0, 12) : ['answer', 'keywords'];
  const own = { ...occasion, random };
  return Object.fromEntries(
    names.map((name) => [
      name,
      name.endsWith('s') && !name.endsWith('ss')
        ? subjectOf(occasion.prompt, 3).map((word) => word.toLowerCase())
        : /score|index|count|number|best/.test(name)
          ? numberFor({}, true, name, occasion, random)
          : name === 'answer'
            ? saySentence(own)
            : textForSchema({}, name, occasion, random),
    ]),
  );
}

/** Makes one value after another of one root schema. */
class Maker {
  readonly #root: unknown;
  readonly #occasion: Occasion;
  readonly #random: Random;
  /** Share of the members that need not be there and are. */
  readonly #optional: number;
  #made = 0;

  constructor(root: unknown, occasion: Occasion, random: Random, optional: number) {
    this.#root = root;
    this.#occasion = occasion;
    this.#random = random;
    this.#optional = optional;
  }

  make(given: unknown, name: string, depth: number): unknown {
    this.#made += 1;
    if (depth > deepest || this.#made > mostValues) return null;
    const schema = this.#resolved(given, depth);
    if (!isSchema(schema))
      return schema === false ? null : sayWord({ ...this.#occasion, random: this.#random });
    if (schema['const'] !== undefined) return schema['const'];
    const words = listOf(schema['enum']);
    if (words.length > 0) return this.#word(words, schema);
    switch (this.#typeOf(schema)) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, name, depth);
      case 'integer':
        return numberFor(schema, true, name, this.#occasion, this.#random);
      case 'number':
        return numberFor(schema, false, name, this.#occasion, this.#random);
      case 'boolean':
        return this.#random.chance(0.6);
      case 'null':
        return null;
      default:
        return textForSchema(schema, name, this.#occasion, this.#random);
    }
  }

  /** Without references and choices: one schema that says all. */
  #resolved(given: unknown, depth: number): unknown {
    let schema = given;
    for (let step = 0; step < 50 && isSchema(schema); step += 1) {
      const { $ref, allOf, anyOf, oneOf, ...rest } = schema as Record<string, unknown>;
      if ($ref !== undefined) {
        const kept = { ...rest, ...only({ allOf, anyOf, oneOf }) };
        schema = mergeSchemas(referred(this.#root, $ref), kept);
      } else if (Array.isArray(allOf)) {
        schema = allOf.reduce(mergeSchemas, { ...rest, ...only({ anyOf, oneOf }) });
      } else if (Array.isArray(anyOf) || Array.isArray(oneOf)) {
        const first = Array.isArray(anyOf);
        const others = first ? only({ oneOf }) : {};
        schema = mergeSchemas({ ...rest, ...others }, this.#choice(listOf(first ? anyOf : oneOf), depth));
      } else {
        return schema;
      }
    }
    return schema;
  }

  #choice(choices: readonly unknown[], depth: number): unknown {
    if (choices.length === 0) return true;
    const depths = choices.map((choice) => depthOf(choice, this.#root));
    const least = Math.min(...depths);
    const open = choices.filter((_choice, index) =>
      this.#isDeep(depth)
        ? depths[index] === least
        : Number.isFinite(depths[index]) || least === depths[index],
    );
    // Null is a choice for when there is nothing to say, and mostly there is.
    const some = open.filter((choice) => !isSchema(choice) || choice['type'] !== 'null');
    return this.#random.pick(
      some.length > 0 && !this.#isDeep(depth) && this.#random.chance(0.9) ? some : open,
    );
  }

  #word(words: readonly unknown[], schema: Schema): unknown {
    const types = listOf(schema['type']);
    const fitting = words.filter(
      (word) => word !== null || types.includes('null') || schema['type'] === undefined,
    );
    const said = fitting.filter(
      (word) =>
        typeof word === 'string' &&
        word.length > 2 &&
        this.#occasion.prompt.toLowerCase().includes(word.toLowerCase()),
    );
    const some = fitting.filter((word) => word !== null);
    const pool = said.length === 1 && this.#optional === 1 ? said : some.length > 0 ? some : fitting;
    return this.#random.pick(pool.length > 0 ? pool : words);
  }

  #typeOf(schema: Schema): string {
    const { type } = schema;
    if (typeof type === 'string') return type.toLowerCase();
    const types = listOf(type).map((one) => String(one).toLowerCase());
    const some = types.filter((one) => one !== 'null');
    if (some.length > 0) {
      return types.includes('null') && this.#random.chance(0.1) ? 'null' : this.#random.pick(some);
    }
    if (types.includes('null')) return 'null';
    const has = (...names: string[]): boolean => names.some((name) => schema[name] !== undefined);
    if (has('properties', 'required', 'additionalProperties', 'minProperties', 'patternProperties'))
      return 'object';
    if (has('items', 'prefixItems', 'minItems', 'contains', 'uniqueItems')) return 'array';
    if (has('minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum')) return 'number';
    return 'string';
  }

  #object(schema: Schema, depth: number): unknown {
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
      const wanted = missing > 0 || (!this.#isDeep(depth) && this.#random.chance(this.#optional));
      if (one === false || room <= 0 || !wanted || !Number.isFinite(depthOf(one, this.#root))) return false;
      room -= 1;
      missing -= 1;
      return true;
    });
    const entries = chosen.map((each): [string, unknown] => [
      each,
      this.make(properties[each] ?? this.#otherSchema(schema, each), each, depth + 1),
    ]);
    const more = this.#otherMembers(schema, new Set(order), Math.max(missing, 0), room, depth);
    return Object.fromEntries([...entries, ...more]);
  }

  /** Members beyond the named ones: as many as must be, and of a map some. */
  #otherMembers(
    schema: Schema,
    taken: Set<string>,
    missing: number,
    room: number,
    depth: number,
  ): readonly (readonly [string, unknown])[] {
    const { additionalProperties: other, patternProperties } = schema;
    const isMap = isSchema(other) && !isSchema(schema['properties']) && !this.#isDeep(depth);
    const count = Math.min(room, missing > 0 ? missing : isMap && this.#optional > 0 ? 2 : 0);
    const patterns = isSchema(patternProperties) ? Object.keys(patternProperties) : [];
    const naming = isSchema(schema['propertyNames'])
      ? schema['propertyNames']
      : other === false && patterns[0] !== undefined
        ? { type: 'string', pattern: patterns[0] }
        : undefined;
    const words = subjectOf(this.#occasion.prompt).map((word) => word.toLowerCase());
    const members: [string, unknown][] = [];
    for (let attempt = 0; members.length < count && attempt < 20 + 4 * count; attempt += 1) {
      const name =
        naming === undefined
          ? (words[attempt] ?? `more${attempt + 1}`)
          : String(this.make(naming, '', depth + 1));
      if (taken.has(name)) continue;
      taken.add(name);
      members.push([name, this.make(this.#otherSchema(schema, name), name, depth + 1)]);
    }
    return members;
  }

  #otherSchema(schema: Schema, name: string): unknown {
    const { additionalProperties, patternProperties } = schema;
    for (const [pattern, one] of Object.entries(isSchema(patternProperties) ? patternProperties : {})) {
      try {
        if (new RegExp(pattern, 'u').test(name)) return one;
      } catch {
        // A pattern that is none names no member.
      }
    }
    return additionalProperties ?? true;
  }

  #array(schema: Schema, name: string, depth: number): unknown {
    const { items, contains } = schema;
    const first = listOf(schema['prefixItems']);
    const least = Math.min(Number(schema['minItems'] ?? 0), mostItems);
    const most = Math.min(Number(schema['maxItems'] ?? Number.POSITIVE_INFINITY), mostItems);
    const rest = items ?? true;
    const endless = rest === false || !Number.isFinite(depthOf(rest, this.#root));
    const usual =
      this.#isDeep(depth) || endless ? 0 : /tags|keywords/i.test(name) ? 4 : this.#random.int(1, 3);
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
      const value = this.make(item, suited, depth + 1);
      const text = distinct ? canonical(value) : '';
      if (distinct && seen.has(text)) continue;
      seen.add(text);
      values.push(value);
    }
    return values;
  }

  #isDeep(depth: number): boolean {
    return depth >= deep || this.#made > many;
  }
}

/** The members that are there. */
const only = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
