import type { Random } from '../../draw/canvas/random.ts';
import { type Occasion, sayWord } from '../say/prose.ts';
import { arrayFor } from './array.ts';
import { chooseType, chooseWord, resolveSchema } from './choice.ts';
import type { Making } from './making.ts';
import { objectFor } from './object.ts';
import { numberFor } from './scalar/number.ts';
import { textForSchema } from './scalar/words.ts';
import { isSchema, listOf } from './schema.ts';

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
