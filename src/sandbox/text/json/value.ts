import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { Random } from '../../draw/canvas/random.ts';
import type { Occasion } from '../say/prose.ts';
import { looseValue } from './loose-value.ts';
import { Maker } from './maker.ts';
import { schemaPattern } from './scalar/pattern-test.ts';
import { isSchema } from './schema.ts';

/** Values that are tried until one fits rules that cannot be built for, such as `not` and `if`. */
const attempts = 40;

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
const ajv = new Ajv2020({
  strict: false,
  validateFormats: false,
  logger: false,
  addUsedSchema: false,
  code: { regExp: schemaPattern },
});

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
