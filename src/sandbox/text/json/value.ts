import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { Random } from '../../draw/canvas/random.ts';
import { type Occasion, saySentence } from '../say/prose.ts';
import { subjectOf } from '../say/wishes.ts';
import { Maker } from './maker.ts';
import { schemaPattern } from './pattern.ts';
import { numberFor, textForSchema } from './scalars.ts';
import { isSchema } from './schema.ts';

/** Number of values that are tried until one satisfies rules such as `not` and `if`. */
const attempts = 40;

/**
 * Makes a value for a JSON Schema, or an object without one. It depends only on the schema, the words of the occasion and the seed. If no
 * attempt satisfies the schema, the last one is returned.
 */
export function valueFor(schema: unknown, occasion: Occasion, seed: string): unknown {
  if (schema === undefined) return looseValue(occasion, new Random(seed));
  const isValid = checkOf(schema);
  let value: unknown;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const random = new Random(`${seed} ${attempt}`);
    const optional = attempt < 8 ? 1 : attempt < 24 ? 0.5 : 0;
    const maker = new Maker(schema, occasion, random, optional);
    value = maker.make(schema, '', 0);
    if (isValid === undefined || isValid(value)) return value;
    // A schema that asks for more than the bounds does so in each attempt.
    if (maker.isFull) return value;
  }
  return value;
}

// Shared by all checks, because its set-up takes longest. It stores no schema.
const ajv = new Ajv2020({
  strict: false,
  validateFormats: false,
  logger: false,
  addUsedSchema: false,
  // Optimising a check takes longer than all checks of a run, and seconds for thousands of choices.
  code: { regExp: schemaPattern, optimize: false },
});

type Check = (value: unknown) => boolean;

/** The checks of the last schemas, the oldest first: a run asks for the same schema many times, and making a check takes milliseconds. */
const checks = new Map<string, Check | undefined>();
const maxChecks = 50;
/** Length of the longest schema, as JSON, whose check is cached. */
const longestKept = 20_000;

function checkOf(schema: unknown): Check | undefined {
  const text = JSON.stringify(schema);
  if (text.length > longestKept) return makeCheck(schema);
  const check = checks.has(text) ? checks.get(text) : makeCheck(schema);
  checks.delete(text);
  checks.set(text, check);
  for (const oldest of checks.keys()) if (checks.size > maxChecks) checks.delete(oldest);
  return check;
}

/** Makes the check of a schema, or returns undefined for an invalid schema, for which any value will do. */
function makeCheck(schema: unknown): Check | undefined {
  if (!isSchema(schema)) return undefined;
  try {
    const { $schema: _dialect, $id: _id, ...plain } = schema;
    const validate: ValidateFunction = ajv.compile(plain);
    ajv.removeSchema(plain);
    return (value) => isValidOrUnknown(validate, value);
  } catch {
    return undefined;
  }
}

/** Checks a value. It passes if the check is too deep for the stack, as with thousands of choices. */
function isValidOrUnknown(validate: ValidateFunction, value: unknown): boolean {
  try {
    return validate(value);
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}

/** Makes an object for a prompt without a schema, with the members that the prompt names. */
function looseValue(occasion: Occasion, random: Random): unknown {
  const [, list = ''] =
    /\b(?:keys?|fields?|members?|properties)\b[^\w"`]*(["`]?\w+["`]?(?:(?:,\s*(?:and\s+)?|\s+and\s+)["`]?\w+["`]?)*)/i.exec(
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
