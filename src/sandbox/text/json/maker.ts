import type { Random } from '../../draw/canvas/random.ts';
import { canonical } from '../../seeded.ts';
import { type Occasion, sayWord } from '../say/prose.ts';
import { chooseType, chooseWord, resolveSchema } from './choice.ts';
import { depthOf } from './depth.ts';
import { type Making, mostItems } from './making.ts';
import { objectFor } from './object.ts';
import { numberFor } from './scalar/number.ts';
import { textForSchema } from './scalar/words.ts';
import { isSchema, listOf, mergeSchemas, type Schema } from './schema.ts';

/** From this depth on only what must be there is there. */
const deep = 5;
/** Values within one reply, from which on it is the same. */
const many = 2_000;
/** Values within one reply, and its depth, beyond which there is nothing more: only a schema without end comes here. */
const mostValues = 20_000;
const deepest = 100;

/** Makes one value of one root schema, part after part: it counts them. */
export class Maker implements Making {
  readonly root: unknown;
  readonly occasion: Occasion;
  readonly random: Random;
  readonly optional: number;
  #made = 0;
  #isFull = false;

  constructor(root: unknown, occasion: Occasion, random: Random, optional: number) {
    this.root = root;
    this.occasion = occasion;
    this.random = random;
    this.optional = optional;
  }

  make(given: unknown, name: string, depth: number): unknown {
    this.#made += 1;
    if (depth > deepest || this.#made > mostValues) {
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
        return textForSchema(schema, name, occasion, random);
    }
  }

  /** Whether a bound has kept anything from being made. */
  get isFull(): boolean {
    return this.#isFull;
  }

  isDeep(depth: number): boolean {
    return depth >= deep || this.#made > many;
  }
}

/** An array of a schema: of a few items where the schema leaves it open. */
function arrayFor(schema: Schema, name: string, depth: number, making: Making): unknown {
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
